"""Android: a ModelUpdater delivers, tries and opens newer models, and whatever happens a verified one is opened."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from packager.channel.document import Conditions, ModelRelease, Rollout
from packager.core.to_json import plain
from packager.processes import commands
from packager.targets.android import kotlin
from tests.delivery_drivers.kotlin import KILLED, PASSWORD, Driver, driver, program
from tests.delta_vectors import PATH
from tests.toolchain import delivered_android as delivered
from tests.toolchain import jvm
from tests.toolchain.delivered_android import Shelf, bundle, sum_of
from tests.toolchain.device import Library
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import serving
from tests.trust_vectors import NEXT, STRANGER

pytestmark = [pytest.mark.by_content, pytest.mark.kotlin, pytest.mark.android]


@dataclass(kw_only=True)
class App:
    """An app on a device, and a channel for it."""

    shelf: Shelf
    url: str
    library: Library
    trusted: Path
    folder: Path
    running: Driver

    def ask(self, command: str) -> Mapping[str, Any]:
        return self.running.ask(command)

    def update(self, command: str = "update force") -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.ask(command)["states"][delivered.MODEL]
        return found

    def phase(self, command: str = "update force") -> str:
        return str(self.update(command)["phase"])

    def loaded(self) -> tuple[str, str, float]:
        found = self.ask("load")
        return found["version"], found["source"], round(found["sum"], 2)

    def again(self) -> AbstractContextManager[Driver]:
        """The same app in another process."""
        return driver(self.library.aar, self.url, self.folder, self.trusted, made=self.library)

    @property
    def kept(self) -> Path:
        return self.folder / "no_backup" / "mobpack" / "models" / "channels" / "stable"

    @property
    def files(self) -> set[str]:
        return {path.name for path in (self.kept / "files").iterdir() if path.name != "lock"}

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.kept / "state.json").read_text(encoding="utf-8"))
        return found

    @property
    def model(self) -> dict[str, Any]:
        found: dict[str, Any] = self.state["models"][delivered.MODEL]
        return found


BUNDLED = ("1.2.3", "bundled", sum_of(0))


def updated(number: int) -> tuple[str, str, float]:
    return f"1.3.{number}", "updater", sum_of(number)


@pytest.fixture(scope="module")
def library(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    folder = tmp_path_factory.mktemp("library")
    return program(delivered.write_library(folder, delivered.plan_of(0, folder)), folder)


@pytest.fixture(scope="module")
def shelved(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Shelf, Path]]:
    """The address of a server, what it has, and the list of certificates with its own."""
    folder = tmp_path_factory.mktemp("server")
    pair, store = certificate(folder), folder / "trusted.p12"
    keytool = kotlin.find_compiler().java_home / "bin" / "keytool"
    command: list[str | Path] = [keytool, "-importcert", "-noprompt", "-alias", "server", "-file", pair.certificate]
    commands.run([*command, "-keystore", store, "-storepass", PASSWORD], what="keytool")
    with serving(pair) as server:
        shelf = Shelf(files=server.files, scratch=folder)
        shelf.plans[0] = delivered.plan_of(0, folder)
        yield server.url, shelf, store


@pytest.fixture(scope="module")
def process(shelved: tuple[str, Shelf, Path], library: Library, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """One process for all tales in which none ends."""
    url, _, trusted = shelved
    with driver(library.aar, url, tmp_path_factory.mktemp("first"), trusted, made=library) as running:
        yield running


@pytest.fixture
def app(shelved: tuple[str, Shelf, Path], library: Library, process: Driver, tmp_path: Path) -> App:
    """A device on which the app was installed now."""
    url, shelf, trusted = shelved
    shelf.files.by_path.clear()
    shelf.files.faults_by_path.clear()
    shelf.files.requests.clear()
    shelf.number = 0
    assert process.ask(f"device {tmp_path}") == {}
    for setting in ("metered no", "charging no"):
        process.ask(setting)
    return App(shelf=shelf, url=url, library=library, trusted=trusted, folder=tmp_path, running=process)


def test_deltas_are_applied_and_refused_as_everywhere(process: Driver) -> None:
    vectors = json.loads(PATH.read_text(encoding="utf-8"))
    for each in vectors["applied"]:
        assert process.ask(f"delta {vectors['source']} {each['delta']} 1000") == {"result": each["result"]}, each["name"]
    for each in vectors["refused"]:
        assert process.ask(f"delta {vectors['source']} {each['delta']} 1000")["error"] == "DeltaException", each["reason"]
    whole = next(each for each in vectors["applied"] if each["name"] == "all of it copied")
    assert "more than 511" in process.ask(f"delta {vectors['source']} {whole['delta']} 511")["message"]
    assert len(base64.b64decode(whole["result"])) == 512


def test_a_model_is_updated_tried_opened_and_taken_back(app: App) -> None:
    assert app.loaded() == BUNDLED
    assert app.ask("state")["states"][delivered.MODEL] == {
        "phase": "unchecked", "version": "1.2.3", "reason": "", "loaded": 0, "total": 0,
    }  # fmt: skip
    first, second = app.shelf.release(1), app.shelf.release(2)
    app.shelf.publish(first)
    assert app.update() == {"phase": "ready", "version": "1.3.1", "reason": "", "loaded": 0, "total": 0}
    assert app.ask("run")["sum"] == pytest.approx(BUNDLED[2], abs=0.01), "a model that is open stays as it is"
    assert app.loaded() == updated(1)
    assert app.ask("test") == {"passed": True, "outputs": 2}, "on the samples of the release"

    app.shelf.publish(second, first)
    assert (app.phase(), app.loaded()) == ("ready", updated(2))
    assert app.model["previous"]["version"] == "1.3.1"
    asked = app.shelf.asked
    assert (app.phase(), app.shelf.asked) == ("up-to-date", ["/stable/channel.json"])

    app.shelf.publish(first)
    assert (app.phase(), app.loaded()) == ("ready", updated(1))
    assert app.shelf.asked == ["/stable/channel.json"], "its files are still there"
    assert any("blobs" in path for path in asked)

    app.shelf.publish(app.shelf.release(1, version="1.2.3", number=delivered.PACKAGE.trust.number))  # type: ignore[union-attr]
    assert (app.phase(), app.loaded()) == ("up-to-date", BUNDLED)
