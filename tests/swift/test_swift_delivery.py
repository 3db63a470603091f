"""Swift: a ModelUpdater delivers, tries and opens newer models, and whatever happens a verified one is opened."""

import base64
import fcntl
import json
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from packager.distribution.channel.document import TIME, DownloadConditions, Rollout
from tests.cases.delta_vectors import PATH
from tests.cases.trust_vectors import NEXT, NUMBER
from tests.cases.tuf_repository import Keys
from tests.delivery_drivers.swift import Driver, driver, kept
from tests.delivery_drivers.swift import program as compiled
from tests.toolchain import delivered_swift
from tests.toolchain.delivered_android import MODEL, sum_of, target
from tests.toolchain.delivered_swift import SwiftShelf
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.swift import swift
from tests.toolchain.swift_app import App as Program


@dataclass(kw_only=True)
class App:
    """An app on a device, and a channel for it."""

    shelf: SwiftShelf
    url: str
    program: Program
    trusted: Path
    folder: Path
    running: Driver

    def ask(self, line: str) -> Mapping[str, Any]:
        return self.running.ask(line)

    def update(self, line: str = "update force") -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.ask(line)["states"][MODEL]
        return found

    def phase(self, line: str = "update force") -> str:
        return str(self.update(line)["phase"])

    def loaded(self) -> tuple[str, str, float]:
        return said(self.ask("load"))

    def again(self) -> AbstractContextManager[Driver]:
        """The same app in another process."""
        return driver(None, self.url, self.folder, self.trusted, made=self.program)

    @property
    def kept(self) -> Path:
        return kept(self.folder)

    @property
    def files(self) -> set[str]:
        return {path.name for path in (self.kept / "files").iterdir()}

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.kept / "state.json").read_text(encoding="utf-8"))
        return found

    @property
    def model(self) -> dict[str, Any]:
        found: dict[str, Any] = self.state["models"].get(MODEL, {})
        return found


BUNDLED = ("1.2.3", "bundled", sum_of(0))


def updated(number: int) -> tuple[str, str, float]:
    return f"1.3.{number}", "updater", sum_of(number)


POLL = ["/stable/2.root.json", "/stable/timestamp.json"]
"""requests of an update for which there is nothing new"""


def is_file(path: str) -> bool:
    """Whether a path is that of a file of a release."""
    return path.startswith("/targets/") and not path.endswith(".releases.json")


def said(found: Mapping[str, Any]) -> tuple[str, str, float]:
    return found["version"], found["source"], round(found["sum"], 2)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    swift()
    folder = tmp_path_factory.mktemp("program")
    return compiled(delivered_swift.write_package(folder), folder)


@pytest.fixture(scope="module")
def shelved(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, SwiftShelf, Path]]:
    """The address of a server, what it has, and its certificate."""
    folder = tmp_path_factory.mktemp("server")
    pair = certificate(folder)
    with serving(pair) as server:
        shelf = SwiftShelf(files=server.files, scratch=folder)
        shelf.plans[0] = delivered_swift.plan(folder)
        yield server.url, shelf, pair.certificate


@pytest.fixture(scope="module")
def process(
    shelved: tuple[str, SwiftShelf, Path], program: Program, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driver]:
    """One process for all tests in which none ends."""
    url, _, trusted = shelved
    with driver(None, url, tmp_path_factory.mktemp("first"), trusted, made=program) as running:
        yield running


@pytest.fixture
def app(
    shelved: tuple[str, SwiftShelf, Path], program: Program, process: Driver, tmp_path_factory: pytest.TempPathFactory
) -> App:
    """A device on which the app was installed now."""
    url, shelf, trusted = shelved
    shelf.restart()
    shelf.files.faults.clear()
    folder = tmp_path_factory.mktemp("device")
    process.ask(f"device {folder}")
    return App(shelf=shelf, url=url, program=program, trusted=trusted, folder=folder, running=process)


def test_deltas_are_applied_or_refused_as_on_every_platform(app: App) -> None:
    vectors = json.loads(PATH.read_text(encoding="utf-8"))
    (app.folder / "vectors.json").write_text(json.dumps(vectors), encoding="utf-8", newline="\n")
    found = app.ask(f"vectors {app.folder / 'vectors.json'}")
    assert found == {"applied": len(vectors["applied"]), "refused": len(vectors["refused"]), "wrong": [], "taken": []}
    whole = next(each for each in vectors["applied"] if each["name"] == "all of it copied")
    source, delta, result = (app.folder / name for name in ("source", "delta", "result"))
    delta.write_bytes(base64.b64decode(whole["delta"]))
    assert "more than 511" in app.ask(f"patch {source} {delta} {result} 511")["message"]
    assert "error" not in app.ask(f"patch {source} {delta} {result} 512")


def test_an_update_is_tried_then_opened_and_can_be_rolled_back(app: App) -> None:
    first = app.shelf.release(1)
    app.shelf.publish(first)
    assert app.loaded() == BUNDLED
    assert app.phase() == "ready"
    assert app.loaded() == updated(1)
    assert app.ask("test") == {"passed": True, "outputs": 2}
    app.shelf.publish(app.shelf.release(2), first)
    assert app.phase() == "ready"
    assert app.ask("run")["sum"] == pytest.approx(sum_of(1), abs=0.01), "a model that is open stays"
    assert app.loaded() == updated(2)
    app.shelf.publish(first)
    assert app.phase() == "ready"
    assert app.loaded() == updated(1)
    app.shelf.publish(replace(first, version="1.2.3", number=NUMBER))
    assert app.phase() == "up-to-date"
    assert app.loaded() == BUNDLED
    app.ask("close")
    assert app.phase() == "up-to-date"
    assert app.files == set()


def test_metadata_that_is_known_is_read_from_the_device(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    app.ask("limit 10")
    assert app.phase() == "failed"
    app.ask("limit 100000000")
    app.shelf.files.requests.clear()
    assert app.phase() == "ready"
    assert [path for path in app.shelf.asked if not is_file(path)] == POLL


def test_what_was_vouched_for_is_opened_as_long_as_the_root_trusts_the_key(app: App) -> None:
    first = app.shelf.release(1)
    app.shelf.publish(first)
    assert (app.phase(), app.loaded()) == ("ready", updated(1))
    app.shelf.publish()
    assert (app.phase(), app.loaded()) == ("up-to-date", updated(1)), "it is listed no more, and nobody has revoked it"
    app.shelf.repository.rotate(keys={"targets": Keys(keys=(NEXT,))})
    app.shelf.publish(first)
    app.shelf.files.faults_by_path["/stable/3.targets.json"] = deque([servers.status(503)])
    assert (app.phase(), app.loaded()) == ("failed", BUNDLED), "the root does not trust the key any more"
    assert (app.phase(), app.loaded()) == ("ready", updated(1))


def test_a_clock_that_was_set_back_is_said(app: App) -> None:
    soon = datetime.now(UTC) + timedelta(days=2, hours=12)
    app.shelf.publish(app.shelf.release(1), published=soon.strftime(TIME), expires="2099-01-01T00:00:00Z")
    found = app.update()
    assert (found["phase"], found["version"]) == ("ready", "1.3.1"), found
    assert found["reason"] == "the clock of the device is 2 days behind the channel"


def banned(app: App) -> dict[str, dict[str, Any]]:
    return {each["version"]: each for each in app.model.get("banned", [])}


DAYS_30 = 30 * 86_400_000


def test_a_release_with_other_numbers_is_banned_for_30_days(app: App) -> None:
    good = app.shelf.release(1)
    app.shelf.publish(app.shelf.release(2, is_wrong=True), good)
    before, before_ms = app.ask("bans")["bans"], int(time.time() * 1000)
    found = app.update()
    assert (found["phase"], found["version"]) == ("failed", "1.2.3"), found
    assert "1.3.2 is not tried for 30 days" in found["reason"]
    assert app.ask("bans")["bans"] == before + 1
    assert before_ms + DAYS_30 <= banned(app)["1.3.2"]["until"] <= time.time() * 1000 + DAYS_30
    assert app.loaded() == BUNDLED
    assert app.phase() == "ready"
    assert app.loaded() == updated(1)
    app.shelf.publish(app.shelf.release(2), good)
    assert app.phase() == "up-to-date"
    state = app.state
    for until in (time.time() * 1000 - 1, time.time() * 1000 + DAYS_30 * 2):
        state["models"][MODEL]["banned"][0]["until"] = int(until)
        (app.kept / "state.json").write_text(json.dumps(state), encoding="utf-8", newline="\n")
        assert app.ask("state")
        assert app.phase() in ("ready", "up-to-date")
        assert app.loaded() == updated(2), "the ban is over, or was made by a wrong clock"


def test_onnx_runtime_may_fail_at_a_release_in_two_starts_of_the_app(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    for starts in (1, 2, 3):
        with app.again() as running:
            running.ask("refuse 1 the GPU was taken away")
            found = running.ask("update force")["states"][MODEL]
            assert (found["phase"], found["version"]) == ("failed", "1.2.3"), found
            assert "the GPU was taken away" in found["reason"]
            again = running.ask("update force")["states"][MODEL]
            assert again["phase"] == ("waiting" if starts < 3 else "up-to-date"), again
            assert said(running.ask("load")) == BUNDLED
        if starts < 3:
            assert (app.model["failing"], app.model["banned"]) == ({"version": "1.3.1", "starts": starts}, [])
            assert app.files, "nothing is downloaded again"
    assert list(banned(app)) == ["1.3.1"]
    assert app.model.get("failing") is None


@pytest.mark.parametrize("words", ["in the background", "std::bad_alloc"])
def test_the_background_and_lack_of_memory_are_no_release_s_fault(app: App, words: str) -> None:
    app.shelf.publish(app.shelf.release(1))
    app.ask(f"away {'no' if 'alloc' in words else 'yes'}")
    app.ask(f"refuse 1 {words}")
    assert app.phase() == "failed"
    assert app.model.get("failing") is None
    assert (banned(app), app.model.get("trying")) == ({}, None)
    app.ask("away no")
    assert app.phase() == "ready", "in the same start"
    app.ask("away yes")
    for _ in range(4):
        app.ask(f"refuse 1 {words}" if "alloc" not in words else "refuse 1 Failed to allocate memory")
        assert app.loaded() == BUNDLED
    app.ask("away no")
    assert app.loaded() == updated(1)


def test_a_load_that_fails_opens_another_model_for_this_start(app: App) -> None:
    first = app.shelf.release(1)
    app.shelf.publish(first)
    assert app.phase() == "ready"
    app.shelf.publish(app.shelf.release(2), first)
    assert app.phase() == "ready"
    with app.again() as running:
        running.ask("refuse 1 no kernel")
        failed = running.ask("load")
        assert said(failed) == updated(1)
        assert "1.3.2 is not opened this time" in failed["state"][MODEL]["reason"]
        assert said(running.ask("load")) == updated(1)
        assert app.model["active"]["version"] == "1.3.2"
        assert app.model["failing"] == {"version": "1.3.2", "starts": 1}
        assert running.ask("update force")["states"][MODEL]["phase"] == "up-to-date"
    with app.again() as running:
        assert said(running.ask("load")) == updated(2)
    assert app.model.get("failing") is None


@pytest.mark.parametrize("kind", ["opening", "trying"])
def test_an_app_that_was_left_before_it_ended_has_not_failed(app: App, kind: str) -> None:
    app.shelf.publish(app.shelf.release(1))
    assert app.phase() == "ready"
    line = "load" if kind == "opening" else "try 1.3.1"
    for _ in range(3):
        with app.again() as running:
            running.ask("end left")
            assert running.send(line) is None
        assert app.model.get(kind) is None
    with app.again() as running:
        running.ask("end here")
        assert running.send(line) is None
    assert app.model[kind] == {"version": "1.3.1", "count": 1}
    assert app.loaded() == updated(1)


def test_files_that_are_spoilt_between_their_download_and_the_trial_come_again(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    app.ask("spoil")
    assert (banned(app), app.loaded()) == ({}, BUNDLED)
    assert (app.phase(), app.loaded()) == ("ready", updated(1))


def test_states_come_from_another_thread(app: App) -> None:
    """The lock of the record is held: the caller of `states` is not."""
    app.ask("state")
    with (app.kept / "lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert app.ask(f"states {app.folder}") == {"waits": True}
    assert app.ask("first")["phase"] == "unchecked"


def test_a_download_goes_on_where_it_was_cut_off(app: App) -> None:
    release = app.shelf.release(1)
    app.shelf.publish(release)
    largest = max((each for file in release.files for each in file.files), key=lambda each: each.size_bytes)
    path = target(largest.sha256)
    app.shelf.files.faults_by_path[path] = deque([servers.cut(6000), *[servers.status(503)] * 5])
    try:
        assert app.phase() == "failed"
    finally:
        del app.shelf.files.faults_by_path[path]
    assert f"{largest.sha256}.part" in app.files
    app.shelf.files.requests.clear()
    assert app.phase() == "ready"
    ranges = {request.path: request.range for request in app.shelf.files.requests}
    assert ranges[path] == f"bytes=6000-{largest.size_bytes - 1}"
    assert app.loaded() == updated(1)


def test_a_delta_makes_a_file_of_the_app_s_own_or_of_a_download(app: App) -> None:
    first = app.shelf.release(1, delta_to=(0,))
    app.shelf.publish(first)
    assert app.phase() == "ready"
    asked, made = app.shelf.asked, set()
    for file in first.files:
        for each in (file.file, *file.data):
            [delta] = each.deltas
            if delta.source != each.sha256 and delta.size_bytes < each.size_bytes:
                made.add(each.sha256)
                assert not any(each.sha256 in path for path in asked)
                assert any(delta.sha256 in path for path in asked)
    assert made
    assert app.loaded() == updated(1)
    second = app.shelf.release(2, delta_to=(1,))
    app.shelf.publish(second, first)
    assert app.phase() == "ready"
    parts = [each for file in second.files for each in (file.file, *file.data)]
    asked = app.shelf.asked
    assert any(delta.sha256 in path for path in asked for each in parts for delta in each.deltas)
    assert app.loaded() == updated(2)


def test_what_the_app_has_is_not_downloaded(app: App) -> None:
    """The release has the graph and the weights of the app's own model, under another version."""
    own = app.shelf.release(0, has_golden=False)
    app.shelf.publish(replace(own, version="1.3.0", number=NUMBER + (1 << 20)))
    assert app.phase() == "ready"
    assert not any(map(is_file, app.shelf.asked))
    assert app.loaded() == ("1.3.0", "updater", sum_of(0))


def test_there_is_no_room(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    app.ask("limit 1000")
    found = app.update()
    assert (found["phase"], "the limit is 1000" in found["reason"]) == ("failed", True)
    assert app.files == set()
    app.ask("limit 100000000")
    assert app.phase() == "ready"


def test_a_release_waits_for_what_it_asks_of_the_device(app: App) -> None:
    release = app.shelf.release(1)
    app.shelf.publish(replace(release, conditions=DownloadConditions(wifi=True, charging=True, free_bytes=0)))
    assert app.phase() == "waiting", "what is unknown is not given"
    app.ask("metered yes")
    app.ask("charging yes")
    assert "metered" in app.update()["reason"]
    app.ask("metered no")
    app.ask("charging no")
    assert "charged" in app.update()["reason"]
    app.ask("charging yes")
    assert app.phase() == "ready"
    app.shelf.publish(
        replace(app.shelf.release(2), conditions=DownloadConditions(wifi=False, charging=False, free_bytes=2**52))
    )
    assert "free bytes" in app.update()["reason"]


def test_who_is_first_is_decided_by_the_device(app: App) -> None:
    app.ask("state")
    state = {**app.state, "device": "device"}
    (app.kept / "state.json").write_text(json.dumps(state), encoding="utf-8", newline="\n")
    for percent, phase in ((59, "up-to-date"), (60, "ready")):
        app.shelf.publish(replace(app.shelf.release(1), rollout=Rollout(percent=percent, salt="salt")))
        assert app.phase() == phase


def test_downloads_can_be_removed(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    assert app.phase() == "ready"
    assert app.loaded() == updated(1)
    app.ask("remove")
    assert app.ask("run")["sum"] == pytest.approx(sum_of(1), abs=0.01)
    assert app.loaded() == BUNDLED
    app.ask("remove")
    assert app.files == set(), "nobody has them open any more"
    assert app.phase() == "ready"


def test_an_update_can_be_cancelled_and_goes_on(app: App) -> None:
    release = app.shelf.release(1)
    app.shelf.publish(release)
    metadata = 5  # root, timestamp, snapshot, targets, releases
    app.shelf.files.faults.extend([*[None] * metadata, servers.held(2000)])
    assert app.ask("cancel")["error"] == "cancelled"
    assert any(name.endswith(".part") for name in app.files)
    app.shelf.files.faults.clear()
    assert app.phase() == "ready"
