"""Downloads of npm packages, by their own code under Node, from a real server that simulates network faults."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cases.disks import tiny_disk
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import Process, Seen, certificate, running
from tests.toolchain.react_native.download.server import Address, Certificate, serving

CONTENT = bytes((index * 7 + index // 251) % 256 for index in range(100_000))
OTHER = bytes(reversed(CONTENT))
NAME = "/model.ort"
FETCH = "return outcome(download(wanted, files, watcher, PACE));"
STALLED_AT = 32_768 + servers.STALLED_BYTES
"""bytes that are there when the answer for the second piece stalls"""
ALL = ["0-32767", "32768-65535", "65536-98303", "98304-99999"]


@dataclass(frozen=True)
class Setting:
    """A server with a file, a folder to keep it in, and code that downloads it."""

    server: Address
    folder: Path
    process: Process

    @property
    def path(self) -> Path:
        return self.folder / "kept" / "model.ort"

    @property
    def part(self) -> Path:
        return self.path.with_name("model.ort.part")

    def run(self, code: str = FETCH) -> Seen:
        digest = sha256(CONTENT).hexdigest()
        url = self.server.url + NAME[1:]
        wanted = {"url": url, "path": str(self.path), "sizeBytes": len(CONTENT), "sha256": digest}
        return self.process.run(code, wanted=wanted)

    def leave(self, part: bytes) -> None:
        """Write the partial file of an earlier download."""
        self.part.parent.mkdir(exist_ok=True)
        self.part.write_bytes(part)

    def assert_is_there(self) -> None:
        assert self.path.read_bytes() == CONTENT
        assert list(self.path.parent.iterdir()) == [self.path]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def process(pair: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with running(tmp_path_factory.mktemp("node"), pair.certificate) as started:
        yield started


@pytest.fixture
def setting(pair: Certificate, process: Process, tmp_path: Path) -> Iterator[Setting]:
    with serving(pair) as server:
        server.files.by_path[NAME] = CONTENT
        yield Setting(server, tmp_path, process)


@pytest.fixture
def plain() -> Iterator[Address]:
    with serving() as server:
        server.files.by_path[NAME] = CONTENT
        yield server


def test_a_file_comes_in_pieces_and_is_in_its_place_when_it_was_checked(setting: Setting) -> None:
    seen = setting.run()

    assert seen.value == {"value": None}
    assert setting.server.files.ranges == ALL
    assert [request.headers["accept-encoding"] for request in setting.server.files.requests] == ["identity"] * 4
    setting.assert_is_there()
    assert seen.progress == sorted(seen.progress)
    assert (seen.progress[0], seen.progress[-1]) == (0, len(CONTENT))


def test_a_file_that_is_there_is_not_asked_for(setting: Setting) -> None:
    setting.run()
    setting.server.files.requests.clear()

    assert setting.run().value == {"value": None}
    assert setting.server.files.requests == []


def test_only_what_is_missing_is_asked_for(setting: Setting) -> None:
    setting.leave(CONTENT[:90_000])

    seen = setting.run()

    assert setting.server.files.ranges == ["90000-99999"]
    assert seen.progress[0] == 90_000
    setting.assert_is_there()


def test_a_part_that_is_complete_is_only_checked(setting: Setting) -> None:
    setting.leave(CONTENT)

    assert setting.run().value == {"value": None}
    assert setting.server.files.requests == []
    setting.assert_is_there()


@pytest.mark.parametrize("part", [OTHER[:60_000], OTHER, CONTENT + b"more"], ids=["of another", "wrong", "too long"])
def test_a_part_of_another_file_is_fetched_anew(setting: Setting, part: bytes) -> None:
    setting.leave(part)

    assert setting.run().value == {"value": None}
    assert setting.server.files.ranges[-4:] == ALL
    setting.assert_is_there()


@pytest.mark.parametrize("heeds_if_range", [True, False])
def test_a_file_that_changes_while_it_comes_is_fetched_anew(setting: Setting, heeds_if_range: bool) -> None:
    """Asked with `If-Range`, servers send all of the new file; some do not know it, but send the new ETag."""
    files = setting.server.files
    files.heeds_if_range = heeds_if_range
    files.by_path[NAME] = OTHER
    files.faults.extend([None, servers.changed(CONTENT)])

    assert setting.run().value == {"value": None}
    assert "if-range" not in files.requests[0].headers
    assert files.requests[1].headers["if-range"]
    assert files.ranges == ALL[:2] + ([] if heeds_if_range else ALL)
    setting.assert_is_there()


def test_a_file_that_changes_time_and_again_is_given_up(setting: Setting) -> None:
    files = setting.server.files
    files.heeds_if_range = False
    files.faults.extend(servers.changed(content) for content in [CONTENT, OTHER] * 10)

    assert setting.run().value["code"] == "corrupted"
    assert len(files.requests) == 4


def test_a_server_that_knows_no_ranges_sends_all_of_it(setting: Setting) -> None:
    setting.leave(CONTENT[:50_000])
    setting.server.files.faults.append(servers.whole)

    assert setting.run().value == {"value": None}
    assert len(setting.server.files.requests) == 1
    setting.assert_is_there()


@pytest.mark.parametrize("fault", [servers.cut(7000), servers.stall, servers.status(503), servers.other_bytes])
def test_what_goes_wrong_once_is_tried_again_with_smaller_pieces(setting: Setting, fault: servers.Fault) -> None:
    setting.server.files.faults.extend([None, fault, fault])
    code = f"""
        const onBytes = (loaded) => {{ if (loaded === {STALLED_AT}) setImmediate(() => silence.pass(PACE.stallMs)); }};
        return outcome(download(wanted, files, {{ ...watcher, onBytes }}, PACE));
    """

    assert setting.run(code).value == {"value": None}
    assert setting.server.files.ranges[:5] == ["0-32767", "32768-65535", "32768-49151", "32768-40959", "40960-57343"]
    setting.assert_is_there()


def test_a_network_that_stays_bad_is_given_up_and_what_has_come_stays(setting: Setting) -> None:
    files = setting.server.files
    files.faults.extend([None, *[servers.cut(100)] * 20])

    assert setting.run().value["code"] == "network"
    assert len(files.requests) == 1 + 4
    assert setting.part.read_bytes() == CONTENT[:32_768]
    files.faults.clear()
    files.requests.clear()
    assert setting.run().value == {"value": None}
    assert files.ranges == ALL[1:]
    setting.assert_is_there()


def test_a_network_that_fails_now_and_then_is_not_given_up(setting: Setting) -> None:
    setting.server.files.faults.extend([servers.cut(100), None] * 6)

    assert setting.run().value == {"value": None}
    assert setting.server.files.faults == deque()
    setting.assert_is_there()


def test_a_certificate_that_nobody_knows_is_refused(setting: Setting) -> None:
    with running(setting.folder) as other:
        assert replace(setting, process=other).run().value["code"] == "network"
    assert setting.server.files.requests == []


def test_an_answer_that_will_not_change_ends_a_download_at_once(setting: Setting) -> None:
    setting.server.files.faults.append(servers.status(404))

    seen = setting.run()

    assert seen.value == {"code": "network", "message": f"{setting.server.url}model.ort answers with status 404"}
    assert len(setting.server.files.requests) == 1


def test_slow_is_not_stalled(setting: Setting) -> None:
    """The first piece takes longer than the allowed silence."""
    setting.server.files.faults.append(servers.slow(0.01))
    code = """
        const onBytes = () => silence.pass(0.9 * PACE.stallMs);
        return outcome(download(wanted, files, { ...watcher, onBytes }, PACE));
    """

    assert setting.run(code).value == {"value": None}
    assert setting.server.files.ranges == ALL


def test_a_file_with_another_checksum_is_refused_and_removed(setting: Setting) -> None:
    setting.server.files.by_path[NAME] = OTHER

    assert setting.run().value["code"] == "corrupted"
    assert setting.server.files.ranges == ALL
    assert list(setting.path.parent.iterdir()) == []


@pytest.mark.parametrize("fault", [None, servers.whole])
@pytest.mark.parametrize("served", [CONTENT + b"more", CONTENT[:50_000], b""], ids=["longer", "shorter", "empty"])
def test_a_file_of_another_size_is_refused_unread(setting: Setting, served: bytes, fault: servers.Fault | None) -> None:
    setting.server.files.by_path[NAME] = served
    setting.server.files.faults.append(fault)

    assert setting.run().value["code"] == "corrupted"
    assert len(setting.server.files.requests) == 1
    assert not setting.part.exists()


def test_an_answer_without_a_length_and_an_end_is_ended(setting: Setting) -> None:
    setting.server.files.faults.append(servers.endless)

    found = setting.run().value
    assert (found["code"], "sends more than" in found["message"]) == ("corrupted", True), found
    assert len(setting.server.files.requests) == 1
    assert not setting.part.exists()


def test_a_file_that_became_shorter_than_its_part_is_refused(setting: Setting) -> None:
    setting.leave(CONTENT[:60_000])
    setting.server.files.by_path[NAME] = CONTENT[:50_000]

    assert setting.run().value["code"] == "corrupted"
    assert setting.server.files.ranges == ["60000-92767", "0-32767"]


def test_https_may_lead_to_https(setting: Setting) -> None:
    files = setting.server.files
    files.by_path["/elsewhere"] = CONTENT
    files.faults.extend([servers.redirect(f"{setting.server.url}elsewhere"), None] * 4)

    assert setting.run().value == {"value": None}
    assert files.ranges[1::2] == ALL
    setting.assert_is_there()


def test_https_must_not_lead_to_http(setting: Setting, plain: Address) -> None:
    """The client does not wait for the address of the redirection."""
    setting.server.files.faults.append(servers.redirect(plain.url + NAME[1:]))
    plain.files.faults.append(servers.held(2000))

    seen = setting.run()

    assert seen.value["code"] == "network"
    assert f"leads to {plain.url}" in seen.value["message"]
    assert servers.wait_until(lambda: plain.files.cut_off == [NAME])
    assert not setting.path.parent.exists()


def test_an_address_after_redirects_that_nobody_tells_is_refused(setting: Setting, pair: Certificate) -> None:
    hide = "Object.defineProperty(XMLHttpRequest.prototype, 'responseURL', { get: () => undefined, set() {} });"
    with running(setting.folder, pair.certificate) as other:
        seen = replace(setting, process=other).run(hide + FETCH)

    assert seen.value["code"] == "network"
    assert "an unknown address" in seen.value["message"]


def test_a_cancelled_download_ends_at_once_and_keeps_what_has_come(setting: Setting) -> None:
    files = setting.server.files
    files.faults.extend([None, servers.held(4000)])
    code = """
        const controller = new AbortController();
        const onBytes = (loaded) => { if (loaded > 34000) controller.abort(); };
        return outcome(download(wanted, files, { signal: controller.signal, onBytes }, PACE));
    """
    assert setting.run(code).value["code"] == "cancelled"
    assert servers.wait_until(lambda: files.cut_off == [NAME])
    assert setting.part.read_bytes() == CONTENT[:32_768]
    assert setting.run().value == {"value": None}
    setting.assert_is_there()


@pytest.mark.parametrize("when", ["before", "in a pause"])
def test_a_download_can_be_cancelled_while_nothing_comes(setting: Setting, when: str) -> None:
    setting.server.files.faults.extend([servers.status(503)] * 9)
    code = """
        const controller = new AbortController();
        const pace = { ...PACE, firstPauseMs: 1e9 };
        const usual = globalThis.setTimeout;
        globalThis.setTimeout = (done, ms, ...given) => {
            if (ms === pace.firstPauseMs) setImmediate(() => controller.abort());
            return usual(done, ms, ...given);
        };
        if (when === 'before') controller.abort();
        try {
            return await outcome(download(wanted, files, { ...watcher, signal: controller.signal }, pace));
        } finally {
            globalThis.setTimeout = usual;
        }
    """.replace("when ===", f"'{when}' ===")

    assert setting.run(code).value["code"] == "cancelled"
    assert len(setting.server.files.requests) == (0 if when == "before" else 1)


def test_a_full_disk_says_so_and_the_download_goes_on_when_there_is_room(setting: Setting) -> None:
    setting.path.parent.mkdir()
    with tiny_disk(setting.path.parent):
        filler = setting.path.parent / "filler"
        filler.write_bytes(bytes(50_000))
        assert setting.run().value["code"] == "no-space"
        filler.unlink()
        setting.server.files.requests.clear()
        assert setting.run().value == {"value": None}
        assert setting.server.files.ranges[0] != ALL[0]
        setting.assert_is_there()


def test_two_who_want_a_file_share_one_download(setting: Setting) -> None:
    code = """
        const other = { signal: undefined, onBytes: (loaded) => seen.push(loaded) };
        const seen = [];
        let first;
        await new Promise((resolve) => {
            const onBytes = (loaded) => (watcher.onBytes(loaded), loaded > 0 && resolve());
            first = download(wanted, files, { ...watcher, onBytes }, PACE);
        });
        await Promise.all([first, download(wanted, files, other, PACE)]);
        return seen;
    """
    seen = setting.run(code)

    assert setting.server.files.ranges == ALL
    assert (seen.value[0] > 0, seen.value[-1], seen.progress[-1]) == (True, len(CONTENT), len(CONTENT))
    setting.assert_is_there()


SHARED = """
    const [one, other] = [new AbortController(), new AbortController()];
    const begun = new Promise((resolve) => (watcher.onBytes = (loaded) => loaded > 34000 && resolve()));
    const waiting = [one, other].map(({ signal }) => outcome(download(wanted, files, { ...watcher, signal }, PACE)));
    await begun;
    one.abort();
"""


def test_who_leaves_a_shared_download_leaves_it_to_the_others(setting: Setting) -> None:
    seen = setting.run(SHARED + "return Promise.all(waiting);")

    assert [each.get("code") for each in seen.value] == ["cancelled", None]
    assert setting.server.files.ranges == ALL
    setting.assert_is_there()


def test_a_download_that_all_have_left_can_be_started_again_at_once(setting: Setting) -> None:
    setting.server.files.faults.extend([None, servers.held(4000)])
    code = """
        other.abort();
        const found = await Promise.all(waiting);
        return [...found, await outcome(download(wanted, files, watcher, PACE))];
    """
    seen = setting.run(SHARED + code)

    assert [each.get("code") for each in seen.value] == ["cancelled", "cancelled", None]
    assert setting.server.files.ranges == [*ALL[:2], *ALL[1:]]
    setting.assert_is_there()


def test_a_download_waits_for_one_that_was_left_while_it_wrote(setting: Setting) -> None:
    code = """
        let [writing, most] = [0, 0];
        const controller = new AbortController();
        const writePart = async (...parameters) => {
            writing += 1;
            most = Math.max(most, writing);
            controller.abort();
            await sleep(100);
            await files.writePart(...parameters);
            writing -= 1;
        };
        const slow = { ...files, writePart };
        const left = outcome(download(wanted, slow, { ...watcher, signal: controller.signal }, PACE));
        const { code } = await left;
        return [code, await outcome(download(wanted, slow, watcher, PACE)), most];
    """
    assert setting.run(code).value == ["cancelled", {"value": None}, 1]
    assert setting.server.files.ranges == ALL
    setting.assert_is_there()
