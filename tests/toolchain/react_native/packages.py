"""React Native packages that `mobpack build` makes of test models: unpacked once per test run."""

import json
import os
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.toolchain import jsc, node, projects
from tests.toolchain.chromium import allow_data_alone
from tests.toolchain.debian_root import make_alone
from tests.toolchain.made import Package

VERSION = projects.VERSION


@dataclass(frozen=True)
class Built:
    """The output of `mobpack build`. Nobody writes to it: `author` and `app` give copies."""

    project: Path
    """with mobpack.toml, and the output in `dist`"""

    @property
    def archive(self) -> Path:
        """The npm tarball."""
        [archive] = (self.project / "dist" / "npm").glob("*.tgz")
        return archive

    @property
    def package(self) -> Path:
        """The tarball's content."""
        return self.project / "unpacked" / "package"

    @property
    def description(self) -> dict[str, Any]:
        """Its package.json."""
        found: dict[str, Any] = json.loads((self.package / "package.json").read_text(encoding="utf-8"))
        return found

    @property
    def name(self) -> str:
        """Name under which an app imports the package."""
        return str(self.description["name"])

    def author(self, folder: Path) -> Path:
        """The package with node_modules inside, as its author works on it. Replace files, do not write to them."""
        shutil.copytree(self.package, folder, copy_function=os.link)
        node.link(node.project("react_native"), folder)
        return folder

    def app(self, folder: Path, project: str = jsc.NEWEST) -> Path:
        """A project that depends on the package. Replace files of the package, do not write to them."""
        modules = node.link(node.project(project), folder)
        shutil.copytree(self.package, modules / self.name, copy_function=os.link)
        text = json.dumps({"name": "app", "private": True, "dependencies": {self.name: self.description["version"]}})
        (folder / "package.json").write_text(text, encoding="utf-8")
        return folder


def page_orientation(factory: pytest.TempPathFactory) -> Built:
    """`react-native-page-orientation`: one model, all names by default."""
    return _built(projects.PAGES, factory)


def several(factory: pytest.TempPathFactory) -> Built:
    """`@example/models`: three real models, one of every element type, and one with difficult names."""
    return _built(projects.REACT_NATIVE, factory)


def tales(factory: pytest.TempPathFactory) -> Built:
    """`@example/models`: models that generate texts."""
    return _built(projects.NATIVE_TALES, factory)


def _built(package: Package, factory: pytest.TempPathFactory) -> Built:
    """Unpacked by the first process of the tests that asks."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "react_native" / package.name
    archive = package.archive()

    def make(made: Path) -> None:
        (made / "dist" / "npm").mkdir(parents=True)
        shutil.copy(archive, made / "dist" / "npm")
        unpack(Built(made).archive, made / "unpacked")

    make_alone(folder, make)
    return Built(folder)


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as packed:
        allow_data_alone(packed)
        packed.extractall(folder)


def entries(archive: Path) -> Mapping[str, tuple[int, bytes]]:
    """Mode and content of every file of a tarball, by path."""
    found = {}
    with tarfile.open(archive) as packed:
        for member in packed:
            file = packed.extractfile(member)
            assert file, f"{member.name} is not a file"
            found[member.name] = (member.mode, file.read())
    return found
