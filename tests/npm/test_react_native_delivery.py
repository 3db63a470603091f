"""React Native packages with a channel: a ModelUpdater delivers, tries and opens newer models, in JavaScript and C++ as
an app has them; whatever happens, a verified model is opened."""

import hashlib
import json
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest

from packager.distribution.channel.document import DownloadConditions
from tests.cases.trust_vectors import NEXT
from tests.cases.tuf_repository import Keys
from tests.delivery_drivers.react_native import Driver, Made, driver, storage
from tests.toolchain import delivered
from tests.toolchain.delivered import Shelf
from tests.toolchain.delivered_android import MODEL, sum_of, target
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Certificate, serving

BUNDLED = ("1.2.3", "bundled", sum_of(0))


def updated(number: int) -> tuple[str, str, float]:
    return f"1.3.{number}", "updater", sum_of(number)


@dataclass(kw_only=True)
class App:
    """An app on a device, and a channel for it."""

    shelf: Shelf
    url: str
    made: Made
    trusted: Path
    folder: Path
    running: Driver
    platform: str

    def ask(self, command: str) -> Mapping[str, Any]:
        return self.running.ask(command)

    def update(self, command: str = "update force") -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.ask(command)["states"][MODEL]
        return found

    def loaded(self, command: str = "load") -> tuple[str, str, float]:
        found = self.ask(command)
        assert "sum" in found, found
        return found["version"], found["source"], round(found["sum"], 2)

    def again(self) -> AbstractContextManager[Driver]:
        """The same app in another process."""
        return driver(self.made, self.url, self.folder, self.trusted, platform=self.platform)

    @property
    def kept(self) -> Path:
        return storage(self.folder, self.platform)

    @property
    def files(self) -> set[str]:
        return {path.name for path in (self.kept / "files").iterdir()}

    @property
    def model(self) -> dict[str, Any]:
        found = json.loads((self.kept / "state.json").read_text(encoding="utf-8"))["models"]
        return dict(found[MODEL])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return delivered.program(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def shelved(pair: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Shelf]]:
    """The address of a server, and what it has."""
    with serving(pair) as server:
        yield server.url, Shelf(files=server.files, scratch=tmp_path_factory.mktemp("shelf"))


@pytest.fixture(params=["ios"])
def app(
    request: pytest.FixtureRequest, made: Made, shelved: tuple[str, Shelf], pair: Certificate, tmp_path: Path
) -> Iterator[App]:
    url, shelf = shelved
    shelf.restart()
    with driver(made, url, tmp_path, pair.certificate, platform=request.param) as running:
        yield App(
            shelf=shelf,
            url=url,
            made=made,
            trusted=pair.certificate,
            folder=tmp_path,
            running=running,
            platform=request.param,
        )


both = pytest.mark.parametrize("app", ["ios", "android"], indirect=True)


@both
def test_a_newer_model_is_downloaded_tried_and_opened(app: App) -> None:
    assert app.loaded() == BUNDLED
    app.shelf.publish(app.shelf.release(1))
    found = app.ask("update")
    assert found["states"][MODEL]["phase"] == "ready", found
    assert {"checking", "downloading", "trying", "ready"} <= set(found["seen"])
    assert app.loaded() == updated(1)
    assert app.update()["phase"] == "up-to-date"
    with app.again() as later:
        found = later.ask("load")
        assert (found["version"], found["source"], round(found["sum"], 2)) == updated(1)


def two_versions(app: App, **second: Any) -> None:
    """1.3.1 is in use, and the channel has 1.3.2."""
    app.shelf.publish(app.shelf.release(1))
    assert app.update()["phase"] == "ready"
    assert app.loaded() == updated(1)
    app.shelf.publish(app.shelf.release(2, delta_to=(0, 1), **second), app.shelf.release(1, delta_to=(0,)))
    assert app.shelf.asked


def model_blob(app: App, number: int) -> str:
    return target(hashlib.sha256(app.shelf.model(number).read_bytes()).hexdigest())


@both
def test_deltas_are_applied_to_the_files_of_the_app_and_to_downloads(app: App) -> None:
    app.shelf.publish(app.shelf.release(1, delta_to=(0,)))
    assert app.update()["phase"] == "ready"
    assert model_blob(app, 1) not in app.shelf.asked
    app.shelf.publish(app.shelf.release(2, delta_to=(1,)), app.shelf.release(1))
    found = app.ask("update")
    assert "patching" in found["seen"], found
    assert model_blob(app, 2) not in app.shelf.asked
    assert app.loaded() == updated(2)
    assert {len(name) for name in app.files} == {64}, "deltas and what is unfinished are removed"


@both
def test_a_release_that_computes_something_else_is_banned(app: App) -> None:
    two_versions(app, is_wrong=True)
    found = app.update()
    assert (found["phase"], found["version"]) == ("failed", "1.3.1"), found
    assert [each["version"] for each in app.model["banned"]] == ["1.3.2"]
    assert app.loaded() == updated(1)
    assert app.update()["phase"] == "up-to-date"


def test_a_process_that_is_killed_twice_while_it_loads_goes_back(app: App) -> None:
    two_versions(app)
    assert app.update()["phase"] == "ready"
    app.running.kill()
    for _ in range(2):
        with app.again() as running:
            running.ask("die-opening")
            assert running.send("load") is None
    with app.again() as running:
        app.running = running
        assert app.loaded() == updated(1)
        assert [each["version"] for each in app.model["banned"]] == ["1.3.2"]
        assert app.update()["phase"] == "up-to-date"
        assert app.loaded() == updated(1)


def test_a_process_that_is_killed_twice_while_it_tries_bans_the_release(app: App) -> None:
    two_versions(app)
    app.running.kill()
    for _ in range(2):
        with app.again() as running:
            running.ask("die-opening")
            assert running.send("update force") is None
    with app.again() as running:
        app.running = running
        found = app.update()
        assert (found["phase"], found["version"]) in {("failed", "1.3.1"), ("up-to-date", "1.3.1")}, found
        assert [each["version"] for each in app.model["banned"]] == ["1.3.2"]
        assert app.loaded() == updated(1)


@both
def test_an_app_that_is_left_while_a_model_opens_bans_nothing(app: App) -> None:
    """The system ends it then, without a word."""
    two_versions(app)
    app.running.kill()
    for command in ("update force", "load"):
        for _ in range(3):
            with app.again() as running:
                running.ask("die-left")
                assert running.send(command) is None
        with app.again() as running:
            app.running = running
            if command != "load":
                assert app.update()["phase"] == "ready"
            assert app.loaded() == updated(2)
            assert not app.model["banned"]


def test_a_release_that_is_no_model_is_banned_after_three_starts_of_the_app(app: App) -> None:
    release = app.shelf.release(1)
    digest = app.shelf.put(b"this is no model" * 100)
    files = tuple(
        changed(each, file=changed(each.file, sha256=digest, size_bytes=1600, deltas=()), golden=(), allowed=())
        for each in release.files
    )
    app.shelf.publish(changed(release, files=files))
    app.running.kill()
    for start in range(1, 3):
        with app.again() as running:
            app.running = running
            assert [app.update()["phase"] for _ in range(2)] == ["failed", "waiting"]
            assert (app.model["failing"], app.model["banned"]) == ({"version": "1.3.1", "starts": start}, [])
    with app.again() as running:
        app.running = running
        assert "not used for 30 days" in app.update()["reason"]
        assert [each["version"] for each in app.model["banned"]] == ["1.3.1"]
        assert app.update()["phase"] == "up-to-date"
        assert app.loaded() == BUNDLED


def test_a_download_goes_on_where_a_process_was_killed(app: App) -> None:
    release = app.shelf.release(1)
    path = model_blob(app, 1)
    app.shelf.files.faults_by_path[path] = deque([servers.held(2000)])
    app.shelf.publish(release)
    app.running.begin("update force")
    part = app.kept / "files" / f"{path[-64:]}.part"
    app.running.process.kill()
    size = app.shelf.model(1).stat().st_size
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(app.shelf.model(1).read_bytes()[: size // 3])
    app.shelf.files.faults_by_path.clear()
    app.shelf.files.requests.clear()
    with app.again() as running:
        app.running = running
        assert app.update()["phase"] == "ready"
        ranges = [each.range for each in app.shelf.files.requests if each.path == path]
        assert ranges == [f"bytes={size // 3}-{size - 1}"]
        assert app.loaded() == updated(1)


def test_a_full_folder_and_conditions_make_it_wait(app: App) -> None:
    release = app.shelf.release(1)
    app.shelf.publish(changed(release, conditions=DownloadConditions(wifi=True, charging=True, free_bytes=0)))
    assert "Wi-Fi" in app.update()["reason"], "nobody knows"
    app.ask("metered no")
    found = app.update()
    assert (found["phase"], "charger" in found["reason"]) == ("waiting", True)
    app.ask("charging yes")
    app.ask("limit 100")
    assert app.update()["phase"] == "failed"
    app.ask("limit 10000000")
    assert app.update()["phase"] == "ready"
    app.shelf.publish(
        changed(app.shelf.release(2), conditions=DownloadConditions(wifi=False, charging=False, free_bytes=1 << 52))
    )
    found = app.update()
    assert (found["phase"], "free bytes" in found["reason"]) == ("waiting", True)
    assert app.loaded() == updated(1)


def test_processes_update_one_after_the_other(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    with app.again() as other:
        for running in (app.running, other):
            running.begin("update force")
        with ThreadPoolExecutor(2) as pool:  # each answers what the network is asked meanwhile
            found = list(pool.map(Driver.answer, (app.running, other)))
    phases = sorted(each["states"][MODEL]["phase"] for each in found if each)
    assert phases == ["ready", "up-to-date"]
    assert app.shelf.asked.count(model_blob(app, 1)) == 1
    assert app.loaded() == updated(1)


def test_apps_freeze_pin_and_remove(app: App) -> None:
    two_versions(app)
    app.ask("freeze")
    assert app.update()["phase"] == "frozen"
    app.ask("unfreeze")
    app.ask(f"pin {MODEL} 1.3.1")
    assert app.update()["version"] == "1.3.1"
    app.ask(f"unpin {MODEL}")
    assert app.update()["phase"] == "ready"
    assert app.loaded() == updated(2)
    app.ask("remove")
    assert app.loaded() == BUNDLED
    app.running.kill()
    with app.again() as running:  # the models of the first process may have been open until now
        running.ask("remove")
        assert not app.files
        digest = model_blob(app, 2)[-64:]
        assert not list((app.folder / "caches").rglob(f"{digest}*")), "notes and caches go with it"


def test_what_is_open_stays_open(app: App) -> None:
    two_versions(app)
    assert app.update()["phase"] == "ready"
    app.ask("remove")
    assert round(app.ask("run")["sum"], 2) == sum_of(1)


def test_what_is_open_is_opened_again_after_all_was_removed(app: App) -> None:
    """By whichever updater of the app: memory was short since."""
    two_versions(app)
    assert app.loaded() == updated(1)
    app.ask("remove-elsewhere")
    app.ask("pressure")
    assert round(app.ask("run")["sum"], 2) == sum_of(1)
    assert app.loaded() == BUNDLED
    app.ask("remove-elsewhere")
    assert not app.files


def test_what_a_revoked_key_has_vouched_for_is_opened_no_more(app: App) -> None:
    """Until other keys have vouched for it: its files need not come again then."""
    release = app.shelf.release(1)
    app.shelf.publish(release)
    assert app.update()["phase"] == "ready"
    app.shelf.repository.rotate(keys={"targets": Keys(keys=(NEXT,))})
    app.shelf.files.by_path["/stable/2.root.json"] = app.shelf.repository.roots[-1]
    found = app.update()
    assert (found["phase"], "targets 1 of the channel is not to be trusted" in found["reason"]) == ("failed", True)
    assert app.loaded() == BUNDLED
    app.shelf.publish(release)
    assert app.update()["phase"] == "ready"
    assert app.loaded() == updated(1)
