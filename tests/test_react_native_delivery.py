"""React Native packages with a channel: a ModelUpdater delivers, tries and opens newer models, in JavaScript and C++ as an
app has them; whatever happens, a verified model is opened."""

import base64
import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from packager.channel.document import Conditions
from packager.core.errors import ToolError
from tests.delivery_drivers.react_native import Driver, Made, driver, program, storage
from tests.delta_vectors import PATH
from tests.toolchain import delivered, jsc
from tests.toolchain.delivered import Shelf, blob, sum_of
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Certificate, serving

pytestmark = [pytest.mark.by_content, pytest.mark.react_native]

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
        found: Mapping[str, Any] = self.ask(command)["states"][delivered.MODEL]
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
        return dict(found[delivered.MODEL])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return program(tmp_path_factory.mktemp("program"))


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
    shelf.files.requests.clear()
    shelf.files.faults_by_path.clear()
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
    assert found["states"][delivered.MODEL]["phase"] == "ready", found
    assert {"checking", "downloading", "trying", "ready"} <= set(found["seen"])
    assert app.loaded() == updated(1)
    assert app.update()["phase"] == "up-to-date"
    with app.again() as later:
        found = later.ask("load")
        assert (found["version"], found["source"], round(found["sum"], 2)) == updated(1)
