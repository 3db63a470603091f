"""Updates of a page's models: a verified model is opened whatever happens, and the newest that this device may have."""

import base64
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from packager.distribution.channel import document
from packager.distribution.channel.document import DownloadConditions, Rollout
from tests.cases.delivery_server import Forever
from tests.cases.trust_vectors import NEXT, STRANGER
from tests.delivery_drivers.web import driver
from tests.toolchain import updated_web
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.react_native.download.server import LONG_S, Handler, serving, slow, status
from tests.toolchain.updated_web import (
    NOW,
    POINTER,
    Blobs,
    Site,
    channel,
    digest,
    metadata,
    ort_file,
    path_of,
    release,
    samples,
)
from tests.toolchain.web.bundled import ENTRIES, bundled

OWN, SECOND, THIRD = "1.2.3", "1.2.4", "1.2.5"
MOST_ATTEMPTS = 2
"""that end the page, before a version is banned"""
PARTS = (*(f"web/updating/{name}.js" for name in ("patching", "pieces", "checksum")), "runtime/downloadMemory.js")
"""modules that are tried alone"""
VECTORS = Path(__file__).parents[1] / "data" / "deltas" / "vectors.json"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With its modules bundled, for many pages."""
    folder = tmp_path_factory.mktemp("package")
    updated_web.write(folder)
    return bundled(folder, *ENTRIES, *PARTS)


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=1800.0) as opened:
        yield opened


@pytest.fixture(scope="module")
def one_site(open_browser: Browser, package: Path) -> Iterator[Site]:
    with updated_web.site(open_browser, package) as made:
        yield made


def edited_state(method: str) -> str:
    """JavaScript that keeps what a method of its text makes of the updater's state."""
    return """new Promise((resolve) => {
      indexedDB.open('mobpack models stable').onsuccess = ({ target: { result } }) => {
        const store = result.transaction('texts', 'readwrite').objectStore('texts');
        store.get('state.json').onsuccess = ({ target }) => {
          store.put(target.result.METHOD, 'state.json').onsuccess = () => { result.close(); resolve(); };
        };
      };
    })""".replace("METHOD", method)


@pytest.fixture
def site(one_site: Site) -> Site:
    """A channel without documents, and an app that has downloaded nothing."""
    one_site.reset()
    return one_site


def test_a_new_release_is_downloaded_tried_and_opened_and_taken_back(site: Site) -> None:
    assert site.load() == (OWN, "bundled")
    site.publish(channel(1, release(2, site.blobs, golden=samples(2))))
    assert site.update() == ("ready", SECOND, "")
    assert site.load() == (SECOND, "updater")
    assert site.update() == ("up-to-date", SECOND, "")

    site.visit()
    assert site.load() == (SECOND, "updater"), "the next visit opens it, too"
    assert site.ask("test") == {"passed": True, "outputs": 1}
    assert site.blobs_asked() == []

    site.publish(channel(2, release(1, site.blobs), restores=1))
    assert site.update() == ("up-to-date", OWN, "")
    assert site.load() == (OWN, "bundled")


def test_a_page_that_is_left_while_a_model_opens_bans_nothing(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs)))
    for command, what in ("update", "trying"), ("load", "opening"):
        for _ in range(MOST_ATTEMPTS + 1):
            site.ask(f"hold {what}")
            assert site.ask(command) == {"held": True}
            site.visit()
        if command == "update":
            assert site.update() == ("ready", SECOND, "")
    assert site.load() == (SECOND, "updater")


def test_models_that_are_open_stay_as_they_are(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs)))
    before, after, said = site.page.value(
        """(async () => {
          const model = await app.Model.load({ source: app.updater.source });
          const said = [];
          const stop = app.updater.subscribe(({ scorer: { phase, loadedBytes, totalBytes } }) => {
            said.push([phase, loadedBytes <= totalBytes]);
          });
          const x = { data: new Float32Array(64), shape: [1, 64] };
          const run = async () => (await model.run({ x })).y.data[0];
          const before = await run();
          await app.updater.update();
          stop();
          await app.updater.update();
          return [before, await run(), said];
        })()"""
    )
    assert before == after
    phases = [phase for phase, _ in said]
    assert list(dict.fromkeys(phases)) == ["checking", "downloading", "trying", "ready"]
    assert all(is_within for _, is_within in said)


def test_metadata_that_is_not_to_be_believed_changes_nothing(site: Site) -> None:
    """A page verifies with its browser; what else is refused, React Native tells: `tests/cases/tuf_attacks.py`."""
    site.publish(channel(2, release(2, site.blobs)))
    assert site.update() == ("ready", SECOND, "")
    newer = channel(3, release(3, site.blobs))
    (file,) = release(3, site.blobs).files
    without_size = replace(file, file=replace(file.file, size_bytes=-1))
    ended = (NOW - timedelta(days=1)).strftime(document.TIME)
    for phase, reason, changes, signers in (
        ("failed", "timestamp 3 of the channel is not to be trusted: 0 of", {"number": 3}, {"timestamp": [STRANGER]}),
        ("failed", "snapshot 4 of the channel is not to be trusted: 0 of", {"number": 4}, {"snapshot": [NEXT]}),
        ("failed", "the channel stable of other", {"number": 5, "package": "other"}, {}),
        ("failed", "the channel beta of models", {"number": 6, "channel": "beta"}, {}),
        ("failed", "rolled back", {"number": 1}, {}),
        (
            "failed",
            "size-bytes is no whole number",
            {"number": 8, "models": channel(8, release(3, site.blobs, files=(without_size,))).models},
            {},
        ),
        ("expired", "mobpack channel renew", {"number": 9, "expires": ended}, {}),
    ):
        site.publish(replace(newer, **changes), signers=signers)
        found, version, said = site.update("force")
        assert (found, version, reason in said) == (phase, SECOND, True), (reason, said)
    content = metadata(replace(newer, number=10))[POINTER]
    for reason, changed in {"JSON": content[:-20], "has more than 16384 bytes": content + b" " * 16384}.items():
        site.files[POINTER] = changed
        found, version, said = site.update("force")
        assert (found, version, reason in said) == ("failed", SECOND, True), (reason, said)
    assert site.load() == (SECOND, "updater")
    site.publish(replace(newer, number=10), {"targets": lambda signed: signed.update({"unheard-of": {"é": [1]}})})
    assert site.update("force") == ("ready", THIRD, ""), "unknown keys are passed over"


def test_after_a_failure_the_next_attempt_waits_unless_it_is_forced(site: Site) -> None:
    phase, _, said = site.update()
    assert (phase, "status 404" in said) == ("failed", True)
    asked = len(site.page.asked())
    phase, _, said = site.update()
    assert (phase, "after a failure" in said) == ("waiting", True)
    site.visit()
    assert site.update()[0] == "waiting", "the next visit waits, too"
    assert POINTER not in site.page.asked(), asked
    site.publish(channel(1, release(2, site.blobs)))
    assert site.update("force") == ("ready", SECOND, "")
    assert site.update()[0] == "up-to-date", "a success ends it"


def test_a_model_that_ends_the_page_twice_is_not_opened_a_third_time(site: Site) -> None:
    second = release(2, site.blobs)
    for number, releases in enumerate(((second,), (release(3, site.blobs), second)), 1):
        site.publish(channel(number, *releases))
        assert site.update()[0] == "ready"
    for die in ("die 2", "die-after 1"):
        site.visit()
        site.ask(die)
        assert site.ask("load") == {"died": True}
    site.visit()
    assert site.load() == (SECOND, "updater")
    assert "ended twice while it was opened" in site.ask("state")["states"]["scorer"]["reason"]
    assert site.update() == ("up-to-date", SECOND, ""), "it is banned"


def test_a_model_that_ends_the_page_twice_while_it_is_tried_is_banned(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs)))
    for die in ("die 7", "die 2"):
        site.ask(die)
        assert site.ask("update") == {"died": True}
        site.visit()
    phase, version, said = site.update("force")
    assert (phase, version, "ended twice while it was tried" in said) == ("failed", OWN, True)
    assert site.load() == (OWN, "bundled")


def test_downloads_go_on_where_they_were_cut_off(site: Site) -> None:
    """A browser may drop what it has not handed over when a connection breaks: this one does so when the page says that
    it has all bytes."""
    content = ort_file(2)
    path = path_of(digest(content))
    has_come = Event()

    def cut(handler: Handler) -> None:
        handler.answer(sent=9000)
        handler.wfile.flush()
        has_come.wait(LONG_S)

    def told(handler: Handler) -> None:
        has_come.set()
        handler.refuse(204)

    site.publish(channel(1, release(2, site.blobs)))
    site.page.server.files.faults_by_path |= {path: deque([cut]), "/told": Forever([told])}
    tell = "scorer.loadedBytes >= 9000 && void fetch('/told')"
    site.page.value(f"void app.updater.subscribe(({{ scorer }}) => {tell})")
    assert site.update() == ("ready", SECOND, "")
    _, again = (each.range for each in site.page.server.files.requests if each.path == path)
    assert again == f"bytes=9000-{len(content) - 1}"


def test_a_download_of_which_nothing_has_come_is_asked_for_again(site: Site) -> None:
    path = path_of(digest(ort_file(2)))
    site.publish(channel(1, release(2, site.blobs)))
    site.page.server.files.faults_by_path[path] = deque([status(503)])
    assert site.update() == ("ready", SECOND, "")
    assert site.page.asked().count(path) == 2


def test_a_download_that_is_cancelled_is_no_failure(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs)))
    site.page.server.files.faults_by_path[path_of(digest(ort_file(2)))] = deque([slow(0.2)])
    code = site.page.value(
        """(async () => {
          const controller = new AbortController();
          app.updater.subscribe(({ scorer }) => { if (scorer.phase === 'downloading') controller.abort(); });
          return app.updater.update({ signal: controller.signal }).catch((error) => error.code);
        })()"""
    )
    assert code == "cancelled"
    assert site.ask("state")["states"]["scorer"]["phase"] == "waiting"
    assert site.update() == ("ready", SECOND, "")


@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_delta_is_applied_to_the_packaged_file_and_to_a_downloaded_one(site: Site, is_loaded: bool) -> None:
    own = updated_web.packaged()
    if is_loaded:
        site.load()
    site.publish(channel(1, release(2, site.blobs, old=[own])))
    assert site.update() == ("ready", SECOND, "")
    assert site.blobs_asked() == [digest(updated_web.delta(own, ort_file(2)))]
    assert site.load() == (SECOND, "updater")
    assert site.update() == ("up-to-date", SECOND, "")

    site.page.server.files.requests.clear()
    site.publish(channel(2, release(3, site.blobs, old=[ort_file(2)])))
    assert site.update() == ("ready", THIRD, "")
    assert site.blobs_asked() == [digest(updated_web.delta(ort_file(2), ort_file(3)))]
    assert site.load() == (THIRD, "updater")


def test_a_file_that_the_package_has_is_not_downloaded(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs, content=updated_web.packaged())))
    assert site.update() == ("ready", SECOND, "")
    assert site.blobs_asked() == []
    found = site.ask("load")
    assert (found["version"], found["source"]) == (SECOND, "updater")


def test_a_file_that_the_browser_has_lost_or_damaged_is_replaced_by_the_one_before(site: Site) -> None:
    second = release(2, site.blobs)
    for number, releases in enumerate(((second,), (release(3, site.blobs), second)), 1):
        site.publish(channel(number, *releases))
        assert site.update()[0] == "ready"
    change = """(async () => {{
      const cache = await caches.open('mobpack models stable');
      const [request] = (await cache.keys()).filter(({{ url }}) => url.includes('{sha256}'));
      const {{ headers, body }} = await cache.match(request);
      const bytes = new Uint8Array(await new Response(body).arrayBuffer());
      bytes[777] ^= 1;
      {end}
    }})()"""
    put = "await cache.put(request, new Response(bytes, { headers }));"
    site.page.value(change.format(sha256=digest(ort_file(3)), end=put))
    assert site.load() == (SECOND, "updater")
    assert site.update() == ("ready", THIRD, ""), "it is downloaded anew"
    site.page.value(change.format(sha256=digest(ort_file(3)), end="await cache.delete(request);"))
    site.page.value(change.format(sha256=digest(ort_file(2)), end="await cache.delete(request);"))
    assert site.load() == (OWN, "bundled")


def test_state_that_is_damaged_begins_anew_and_older_documents_stay_refused(site: Site) -> None:
    site.publish(channel(7, release(2, site.blobs)))
    assert site.update() == ("ready", SECOND, "")
    site.page.value(edited_state("slice(0, -9)"))
    assert site.load() == (OWN, "bundled")
    site.publish(channel(6, release(3, site.blobs)))
    phase, _, said = site.update()
    assert (phase, "rolled back" in said) == ("failed", True)
    site.publish(channel(7, release(2, site.blobs)))
    assert site.update("force") == ("ready", SECOND, "")


def test_conditions_and_room_are_waited_for(site: Site) -> None:
    asked = DownloadConditions(wifi=True, charging=True, free_bytes=1 << 20)
    site.publish(channel(1, release(2, site.blobs, conditions=asked)))
    phase, _, said = site.update()
    assert (phase, "Wi-Fi" in said) == ("waiting", True)
    site.ask("metered no")
    phase, _, said = site.update()
    assert (phase, "charger" in said) == ("waiting", True)
    site.ask("charging yes")
    assert site.update() == ("ready", SECOND, "")
    assert site.load() == (SECOND, "updater")

    site.publish(channel(2, release(3, site.blobs, conditions=replace(asked, free_bytes=1 << 50))))
    phase, _, said = site.update()
    assert (phase, "free bytes" in said) == ("waiting", True)
    site.publish(channel(3, release(3, site.blobs)))
    site.ask(f"limit {len(ort_file(2)) + len(ort_file(3)) - 1}")
    phase, version, said = site.update()
    assert (phase, version, "limitBytes" in said) == ("failed", SECOND, True)
    assert site.load() == (SECOND, "updater"), "nothing in use is removed"


def test_what_does_not_fit_the_device_is_passed_over(site: Site) -> None:
    second = release(2, site.blobs)
    (file,) = (each.files[0] for each in (release(3, site.blobs),))
    number = 0
    for change in (
        {"contract": "0" * 64},
        {"min_app": "1.2.4"},
        {"rollout": Rollout(percent=59, salt="salt")},
        {"files": (replace(file, target="android"),)},
        {"files": (replace(file, inside="react_native"),)},
        {"files": (replace(file, runtime="another"),)},
        {"files": (replace(file, chips=("SM8550",)),)},
    ):
        number += 1
        site.publish(channel(number, release(3, site.blobs, **change), second))
        assert site.update()[:2] == ("ready" if number == 1 else "up-to-date", SECOND), change
        site.page.value(edited_state("""replace(/"device":"[^"]*"/, '"device":"device"')"""))  # a 60th of 100
    site.publish(channel(number + 1))
    assert site.update() == ("up-to-date", SECOND, ""), "no release: what is there stays"
    site.publish(channel(number + 2, release(3, site.blobs, rollout=Rollout(percent=60, salt="salt")), second))
    assert site.update()[:2] == ("ready", THIRD)


def test_models_are_frozen_pinned_and_removed(site: Site) -> None:
    site.publish(channel(1, release(3, site.blobs), release(2, site.blobs)))
    site.ask("freeze")
    assert site.update()[0] == "frozen"
    assert POINTER not in site.page.asked()
    site.ask("unfreeze")
    site.ask(f"pin scorer {SECOND}")
    assert site.update() == ("ready", SECOND, "")
    site.ask("unpin scorer")
    assert site.update() == ("ready", THIRD, "")
    assert site.ask("pin nobody 1")["code"] == "bad-options"
    site.visit()
    site.ask("remove")
    assert site.load() == (OWN, "bundled")
    count = "caches.open('mobpack models stable').then((cache) => cache.keys()).then(({ length }) => length)"
    assert site.page.value(count) == 0
    assert site.update() == ("ready", THIRD, "")


def test_what_no_release_needs_any_more_is_removed(site: Site) -> None:
    for number in range(2, 5):
        site.publish(channel(number, release(number, site.blobs)))
        assert site.update()[0] == "ready"
    kept = site.page.value(
        """(async () => {
          const cache = await caches.open('mobpack models stable');
          return (await cache.keys()).map(({ url }) => url.split('/').at(-2));
        })()"""
    )
    assert sorted(kept) == sorted(map(digest, (ort_file(3), ort_file(4))))


def test_two_tabs_update_one_after_the_other(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs)))
    address = json.dumps(f"{site.page.server.url}channel/")
    found = site.page.value(
        f"""(async () => {{
          const apps = [await startApp({address}), await startApp({address})];
          return Promise.all(apps.map((app) => app.answer('update')));
        }})()"""
    )
    assert sorted(each["states"]["scorer"]["phase"] for each in found) == ["ready", "up-to-date"]
    assert len(site.blobs_asked()) == 1


def test_deltas_are_applied_and_refused_as_on_every_platform(site: Site) -> None:
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    source, result = (base64.b64decode(text) for text in (vectors["source"], vectors["source"]))
    cases = [
        *({"name": each["name"], "delta": each["delta"], "result": each["result"]} for each in vectors["applied"]),
        *(
            {"name": each["reason"], "delta": each["delta"], "result": base64.b64encode(result[:8]).decode()}
            for each in vectors["refused"]
        ),
    ]
    found = site.page.value(
        f"""(async () => {{
          const {{ applyDelta }} = await import('/vision/lib/web/updating/patching.js');
          const {{ BytesInMemory }} = await import('/vision/lib/web/updating/pieces.js');
          const {{ sha256Of }} = await import('/vision/lib/runtime/downloadMemory.js');
          const bytes = (text) => Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
          const source = bytes('{base64.b64encode(source).decode()}'), found = {{}};
          async function* split(all) {{ for (let at = 0; at < all.length; at += 7) yield all.slice(at, at + 7); }}
          for (const {{ name, delta, result }} of {json.dumps(cases)}) {{
            const right = bytes(result), made = [];
            const [from, to] = [await sha256Of(source), await sha256Of(right)];
            const wanted = {{ source: from, result: to, resultBytes: right.length }};
            const sink = {{ write: async (some) => {{ made.push(...some); }} }};
            try {{
              await applyDelta(split(bytes(delta)), new BytesInMemory(source.buffer), wanted, sink);
              found[name] = String(made) === String([...right]);
            }} catch (error) {{
              found[name] = error.code;
            }}
          }}
          return found;
        }})()"""
    )
    expected = {each["name"]: True for each in vectors["applied"]}
    assert found == {**expected, **{each["reason"]: "corrupted" for each in vectors["refused"]}}


def test_a_checksum_of_pieces_is_that_of_the_whole(site: Site) -> None:
    sizes = (0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 100_000)
    assert (
        site.page.value(
            f"""(async () => {{
          const {{ Checksum256 }} = await import('/vision/lib/web/updating/checksum.js');
          const {{ sha256Of }} = await import('/vision/lib/runtime/downloadMemory.js');
          for (const size of {list(sizes)}) for (const step of [1, 63, 64, 1000, 70000]) {{
            const all = Uint8Array.from({{ length: size }}, (_, index) => (index * 31) >> 3);
            const checksum = new Checksum256();
            for (let at = 0; at < size; at += step) checksum.add(all.subarray(at, at + step));
            if (checksum.end() !== (await sha256Of(all))) return [size, step];
          }}
          return 'same';
        }})()"""
        )
        == "same"
    )


def test_a_browser_that_is_killed_while_it_opens_a_model_opens_the_one_before(package: Path, tmp_path: Path) -> None:
    blobs = Blobs()
    second, third = release(2, blobs), release(3, blobs)
    with serving() as server:

        def publish(number: int, *releases: document.ModelRelease) -> None:
            server.files.by_path.update({**blobs.by_path, **metadata(channel(number, *releases))})

        address = f"{server.url}channel/"
        with driver(package, address, tmp_path) as app:
            publish(1, second)
            assert app.ask("update")["states"]["scorer"]["phase"] == "ready"
            publish(2, third, second)
            assert app.ask("update")["states"]["scorer"]["phase"] == "ready"
            app.ask("die 2")
            assert app.send("load") is None
        with driver(package, address, tmp_path) as app:
            app.ask("die 2")
            assert app.send("load") is None
        with driver(package, address, tmp_path) as app:
            found = app.ask("load")
            assert (found["version"], found["source"]) == (SECOND, "updater")
