"""An Expo app that depends on a built package, and its `expo prebuild` without network."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.toolchain import node
from tests.toolchain.react_native.bare import read_json
from tests.toolchain.react_native.packages import Built

NAME = "Fixture"
NEWEST = "expo"
OLDEST = "expo_54"
"""the npm project with the oldest React Native that packages take, and its Expo"""
FIXTURE = Path(__file__).with_name("expo_app")


@dataclass(frozen=True)
class ExpoApp:
    """A folder with an app; `android` and `ios` are there after `prebuild`."""

    folder: Path
    package: str
    project: str = NEWEST
    """the npm project whose packages it has"""

    def prebuild(self, options: Mapping[str, object] | None, *, is_clean: bool = True) -> node.Finished:
        """Makes the native projects with the package's plugin and its options, or changes those that are there."""
        path = self.folder / "app.json"
        app = json.loads((FIXTURE / "app.json").read_text(encoding="utf-8"))
        app["expo"]["plugins"] = [self.package if options is None else [self.package, options]]
        path.write_text(json.dumps(app), encoding="utf-8")
        return prebuild(self.folder, *([] if is_clean else ["--no-clean"]), project=self.project)

    def linked(self, system: str) -> dict[str, Any]:
        """Expo's autolinking for the platform."""
        return linked(self.folder, system, self.project)

    def native_files(self) -> Mapping[str, bytes]:
        """All files of both native projects, by path."""
        paths = [path for name in ("android", "ios") for path in (self.folder / name).rglob("*") if path.is_file()]
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def prebuild(folder: Path, *arguments: str, project: str = NEWEST) -> node.Finished:
    """Makes the native projects of an app, of what lies in Expo's own package."""
    program = node.tool(node.project(project), "expo")
    template = Path("node_modules", "expo", "template.tgz")
    options = ("--no-install", "--platform", "all", "--template", f".{os.sep}{template}")
    return node.run([program, "prebuild", *options, *arguments], cwd=folder)


def linked(folder: Path, system: str, project: str = NEWEST) -> dict[str, Any]:
    """Expo's autolinking of all packages of an app for a platform."""
    program = node.tool(node.project(project), "expo-modules-autolinking")
    return read_json(node.run([program, "react-native-config", "--platform", system, "--json"], cwd=folder))


def make(built: Built, folder: Path, name: str = NEWEST) -> ExpoApp:
    """An app as Expo's command line makes it, with the package installed."""
    project = node.project(name)
    modules = node.link(project, folder)
    shutil.copytree(built.package, modules / built.name, copy_function=os.link)
    shutil.copytree(FIXTURE, folder, dirs_exist_ok=True)
    wanted = json.loads((project / "package.json").read_text(encoding="utf-8"))["dependencies"]
    description = {
        "name": "fixture",
        "version": "1.0.0",
        "private": True,
        "main": "index.js",
        "dependencies": {**wanted, built.name: built.description["version"]},
    }
    (folder / "package.json").write_text(json.dumps(description), encoding="utf-8")
    return ExpoApp(folder, built.name, name)
