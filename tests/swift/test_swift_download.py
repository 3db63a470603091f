"""Downloads of Swift packages, by their own code with Swift's URLSession, from a real server with network faults."""

import hashlib
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cases.disks import tiny_disk
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Address, Certificate, serving
from tests.toolchain.swift_app import App, trusting
from tests.toolchain.swift_nets import AUTO
from tests.toolchain.swift_sources import objects

CONTENT = bytes((index * 7 + index // 251) % 256 for index in range(100_000))
OTHER = bytes(reversed(CONTENT))
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NAME = f"/models/{SHA256}"
STALL = "3"
"""seconds of silence after which an answer is given up; a busy machine is silent for longer than one"""


@dataclass(frozen=True)
class Setting:
    """A server with a file, a folder to keep it in, and an app that downloads it."""

    app: App
    server: Address
    home: Path
    etc: Path | None

    @property
    def folder(self) -> Path:
        return self.home / "kept"

    @property
    def path(self) -> Path:
        return self.folder / SHA256

    @property
    def part(self) -> Path:
        return self.folder / f"{SHA256}.part"

    def run_all(self, scenario: str = "fetch", *, url: str = "", **environment: str) -> list[dict[str, Any]]:
        done = self.app.run(
            scenario,
            url or f"{self.server.url}models/",
            str(self.folder),
            SHA256,
            str(len(CONTENT)),
            scratch=self.home / "scratch",
            mounts=(self.home,),
            environment=environment,
            etc=self.etc,
        )
        assert done.returncode == 0, done.output
        return objects(done.output)

    def run(self, *, url: str = "", **environment: str) -> dict[str, Any]:
        [seen] = self.run_all(url=url, **environment)
        return seen

    def succeed(self, **environment: str) -> list[int]:
        """Downloads the file, and gives the progress."""
        seen = self.run(**environment)
        assert seen["error"] == "", seen
        assert self.path.read_bytes() == CONTENT
        assert list(self.folder.iterdir()) == [self.path]
        progress: list[int] = seen["progress"]
        assert progress[-1] == len(CONTENT)
        return progress

    def leave(self, part: bytes) -> None:
        """Write the partial file of an earlier download."""
        self.folder.mkdir(exist_ok=True)
        self.part.write_bytes(part)


@pytest.fixture(scope="module")
def app() -> App:
    return AUTO.program("Sources")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def etc(pair: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trusting(pair.certificate, tmp_path_factory.mktemp("trusting") / "etc")


@pytest.fixture
def setting(app: App, pair: Certificate, etc: Path, tmp_path: Path) -> Iterator[Setting]:
    with serving(pair) as server:
        server.files.by_path[NAME] = CONTENT
        yield Setting(app, server, tmp_path, etc)


def test_a_file_is_in_its_place_when_it_was_checked(setting: Setting) -> None:
    progress = setting.succeed()

    [request] = setting.server.files.requests
    assert (request.path, request.range, request.headers["accept-encoding"]) == (NAME, "", "identity")
    assert progress[0] == 0
    assert progress == sorted(progress)


def test_a_file_that_is_there_is_not_asked_for(setting: Setting) -> None:
    setting.succeed()
    setting.server.files.requests.clear()

    setting.succeed()
    assert setting.server.files.requests == []


def test_only_what_is_missing_is_asked_for(setting: Setting) -> None:
    setting.leave(CONTENT[:90_000])

    assert setting.succeed()[0] == 90_000
    assert setting.server.files.ranges == ["90000-99999"]


def test_a_part_that_is_complete_is_only_checked(setting: Setting) -> None:
    setting.leave(CONTENT)

    setting.succeed()
    assert setting.server.files.requests == []


@pytest.mark.parametrize("part", [OTHER[:60_000], OTHER, CONTENT + b"more"], ids=["of another", "wrong", "too long"])
def test_a_part_of_another_file_is_fetched_anew(setting: Setting, part: bytes) -> None:
    setting.leave(part)

    setting.succeed()
    assert setting.server.files.ranges[-1] == ""


@pytest.mark.parametrize("heeds_if_range", [True, False])
def test_a_file_that_changes_while_it_comes_is_fetched_anew(setting: Setting, heeds_if_range: bool) -> None:
    """Asked with `If-Range`, servers send all of the new file; some do not know it, but send the new ETag."""
    files = setting.server.files
    files.heeds_if_range = heeds_if_range
    files.by_path[NAME] = OTHER
    files.faults.extend([servers.cut(20_000), servers.changed(CONTENT)])

    setting.succeed()
    assert "if-range" not in files.requests[0].headers
    assert files.requests[1].headers["if-range"]
    assert len(files.requests) == (2 if heeds_if_range else 3)


def test_a_file_that_changes_time_and_again_is_given_up(setting: Setting) -> None:
    files = setting.server.files
    files.heeds_if_range = False

    def change(handler: servers.Handler) -> None:
        handler.files.by_path[NAME] = OTHER if handler.content == CONTENT else CONTENT
        handler.answer(sent=20_000)

    files.faults.extend([change] * 20)

    assert setting.run()["error"] == "network"
    assert len(files.requests) <= 5


def test_a_server_that_knows_no_ranges_sends_all_of_it(setting: Setting) -> None:
    setting.leave(OTHER[:50_000])
    setting.server.files.faults.append(servers.whole)

    setting.succeed()
    assert len(setting.server.files.requests) == 1


def test_without_an_etag_a_download_goes_on_and_is_checked_in_the_end(setting: Setting) -> None:
    setting.server.files.has_tags = False
    setting.server.files.faults.append(servers.cut(20_000))

    setting.succeed()
    assert setting.server.files.ranges[1].startswith("20000-")
    assert "if-range" not in setting.server.files.requests[1].headers


@pytest.mark.parametrize("fault", [servers.cut(7000), servers.stall, servers.status(503), servers.other_bytes])
def test_what_goes_wrong_once_is_tried_again(setting: Setting, fault: servers.Fault) -> None:
    is_stall = fault is servers.stall  # once: Foundation on Linux waits for a silent server with all of a processor
    setting.server.files.faults.extend([servers.cut(30_000), fault, servers.cut(100) if is_stall else fault])

    setting.succeed(**({"STALL": STALL} if is_stall else {}))
    assert setting.server.files.ranges[1] == "30000-99999"
    assert len(setting.server.files.requests) == 4


def test_a_network_that_stays_bad_is_given_up_and_what_has_come_stays(setting: Setting) -> None:
    files = setting.server.files
    files.faults.extend([servers.cut(32_000), *[servers.cut(100)] * 20])

    assert setting.run()["error"] == "network"
    assert len(files.requests) == 1 + 3
    size = len(CONTENT[:32_300])
    assert setting.part.read_bytes() == CONTENT[:size]
    files.faults.clear()
    files.requests.clear()
    setting.succeed()
    assert files.ranges == [f"{size}-99999"]


def test_a_network_that_fails_now_and_then_is_not_given_up(setting: Setting) -> None:
    setting.server.files.faults.extend([servers.cut(100), servers.cut(8000)] * 6)

    setting.succeed()
    assert setting.server.files.faults == deque()


def test_a_server_that_cannot_be_reached_is_a_network_error(setting: Setting) -> None:
    seen = setting.run(url="https://127.0.0.1:1/models/")
    assert seen["error"] == "network"
    assert seen["words"].startswith(f"https://127.0.0.1:1/models/{SHA256}: ")


def test_a_certificate_that_nobody_knows_is_refused(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    strangers = trusting(certificate(tmp_path / "other").certificate, tmp_path / "etc")
    for etc in (None, strangers):
        assert Setting(setting.app, setting.server, setting.home, etc).run()["error"] == "network"
    assert setting.server.files.requests == []


def test_an_answer_that_will_not_change_ends_a_download_at_once(setting: Setting) -> None:
    setting.server.files.faults.append(servers.status(404))

    seen = setting.run()

    assert seen["error"] == "network"
    assert seen["words"] == f"{setting.server.url}{NAME[1:]}: answers with status 404"
    assert len(setting.server.files.requests) == 1


def test_slow_is_not_stalled(setting: Setting) -> None:
    """All of it takes longer than the allowed silence."""
    setting.server.files.faults.append(servers.slow(0.08))

    setting.succeed(STALL=STALL)
    assert len(setting.server.files.requests) == 1


def test_a_file_with_another_checksum_is_refused_and_removed(setting: Setting) -> None:
    setting.server.files.by_path[NAME] = OTHER

    assert setting.run()["error"] == "corrupted"
    assert len(setting.server.files.requests) == 1
    assert list(setting.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("served", "held"),
    [(CONTENT + b"more", b""), (CONTENT[:50_000], CONTENT[:10_000])],
    ids=["longer, from its start", "shorter, from its middle"],
)
def test_a_file_of_another_size_is_refused_unread(setting: Setting, served: bytes, held: bytes) -> None:
    setting.server.files.by_path[NAME] = served
    if held:
        setting.leave(held)

    seen = setting.run()

    assert seen["error"] == "network"
    assert f"is a file of {len(served)} bytes, the package was built with one of 100000" in seen["words"]
    assert len(setting.server.files.requests) == 1
    assert setting.part.read_bytes() == held


def test_a_file_without_a_length_is_not_read_beyond_its_size(setting: Setting) -> None:
    def endless(handler: servers.Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        while not handler.files.ended.wait(0.02):  # at full speed, Linux's URLSession reads for long before it cancels
            handler.wfile.write(CONTENT)

    setting.server.files.faults.append(endless)

    seen = setting.run()

    assert "sends more than 100000 bytes" in seen["words"]
    assert servers.wait_until(lambda: setting.server.files.cut_off == [NAME], seconds=30)
    assert setting.part.stat().st_size <= len(CONTENT)


def test_a_file_that_became_shorter_than_its_part_is_refused(setting: Setting) -> None:
    setting.leave(CONTENT[:60_000])
    setting.server.files.by_path[NAME] = CONTENT[:50_000]

    assert setting.run()["error"] == "network"
    assert setting.server.files.ranges == ["60000-99999", ""]


def test_https_may_lead_to_https(setting: Setting) -> None:
    files = setting.server.files
    files.by_path["/elsewhere"] = CONTENT
    files.faults.extend([servers.redirect(f"{setting.server.url}elsewhere"), None])
    setting.leave(CONTENT[:90_000])

    setting.succeed()
    assert files.ranges == ["90000-99999"] * 2


def test_https_must_not_lead_to_http(setting: Setting) -> None:
    with serving() as plain:
        plain.files.by_path["/elsewhere"] = CONTENT
        setting.server.files.faults.append(servers.redirect(f"{plain.url}elsewhere"))
        seen = setting.run()

        assert seen["error"] == "network"
        assert f"leads to {plain.url}elsewhere" in seen["words"]
        assert plain.files.requests == []
    assert not setting.path.exists()


def test_a_cancelled_download_ends_at_once_and_keeps_what_has_come(setting: Setting) -> None:
    files = setting.server.files
    files.faults.append(servers.held(22_000))

    seen = setting.run(CANCEL_BYTES="20000")

    assert seen["error"] == "cancelled"
    assert servers.wait_until(lambda: files.cut_off == [NAME])
    size = setting.part.stat().st_size
    assert 20_000 < size <= 22_000
    setting.succeed()
    assert files.ranges[1] == f"{size}-99999"


def test_a_download_can_be_cancelled_before_it_begins(setting: Setting) -> None:
    assert setting.run(CANCEL_SECONDS="0")["error"] == "cancelled"
    assert setting.server.files.requests == []


def test_a_download_can_be_cancelled_in_a_pause(setting: Setting) -> None:
    """How long it takes until there is one, nobody knows."""
    files = setting.server.files
    for seconds in (0.2, 1, 5, 25):
        files.faults.extend([servers.status(503)] * 9)
        assert setting.run(CANCEL_SECONDS=str(seconds), FIRST_PAUSE="1000")["error"] == "cancelled"
        if files.requests:
            break
    assert len(files.requests) == 1


def test_a_download_can_be_cancelled_while_the_server_is_silent(setting: Setting) -> None:
    setting.server.files.faults.append(servers.stall)

    assert setting.run(CANCEL_SECONDS="0.5", STALL="1000")["error"] == "cancelled"


def test_a_full_disk_says_so_and_the_download_goes_on_when_there_is_room(setting: Setting) -> None:
    setting.folder.mkdir()
    with tiny_disk(setting.folder):
        filler = setting.folder / "filler"
        filler.write_bytes(bytes(50_000))
        assert setting.run()["error"] == "noSpace"
        filler.unlink()
        setting.server.files.requests.clear()
        setting.succeed()
        assert setting.server.files.ranges[0].endswith("-99999")


def test_two_loads_download_a_file_once(setting: Setting) -> None:
    seen = setting.run_all("twice")

    assert [each["error"] for each in seen] == ["", ""]
    assert len(setting.server.files.requests) == 1
    assert all(len(each["progress"]) > 3 for each in seen), "each knows how far it is"
    assert setting.path.read_bytes() == CONTENT


def test_two_processes_download_a_file_once(setting: Setting) -> None:
    setting.server.files.faults.append(servers.slow(0.03))

    with ThreadPoolExecutor(2) as pool:
        seen = list(pool.map(lambda _: setting.run(), range(2)))

    assert [each["error"] for each in seen] == ["", ""]
    assert len(setting.server.files.requests) == 1
    assert list(setting.folder.iterdir()) == [setting.path]


def test_who_waits_takes_over_when_the_other_leaves(setting: Setting) -> None:
    """The first is in another process, and is ended without a word."""
    holder = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    )
    setting.leave(CONTENT[:70_000])
    command = [sys.executable, "-c", holder, str(setting.part)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        assert other.stdout
        assert other.stdout.readline() == b"1\n"
        waiting = pool.submit(setting.run)
        servers.wait_until(lambda: bool(setting.server.files.requests), seconds=2)
        assert setting.server.files.requests == [], "it waits"
        other.kill()
        assert waiting.result()["error"] == ""
    assert setting.server.files.ranges == ["70000-99999"]


def test_a_wait_for_another_download_can_be_cancelled(setting: Setting) -> None:
    gate = Event()
    setting.server.files.faults.append(servers.gated(gate))

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(setting.run)
        assert servers.wait_until(lambda: bool(setting.server.files.requests))
        assert setting.run(CANCEL_SECONDS="0.3")["error"] == "cancelled"
        gate.set()
        assert first.result()["error"] == ""
    assert len(setting.server.files.requests) == 1
