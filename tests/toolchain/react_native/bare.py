"""A React Native app without Expo that depends on a built package, for autolinking, Metro and Hermes."""

import json
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.files.processes import commands
from packager.files.user_cache import cache_folder
from tests.toolchain import jsc, node
from tests.toolchain.react_native.packages import Built
from tests.toolchain.require import require

FIXTURE = Path(__file__).with_name("app")
PLATFORMS = ("android", "ios")
HERMES_MAGIC = bytes.fromhex("c61fbc03c103191f")
"""the first bytes of every file of Hermes bytecode"""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Bundle:
    """Metro's bundle of an app for one platform."""

    script: Path
    assets: Path
    sources: tuple[str, ...]
    """the files in the script, as its source map names them"""

    def asset(self, name: str) -> Path:
        """The one asset whose path ends with `name`; Android's resources have small letters alone."""
        [found] = [path for path in self.assets.rglob("*") if path.name.lower().endswith(name.lower())]
        return found


@dataclass(frozen=True)
class BareApp:
    """A folder with an app."""

    folder: Path
    package: str
    """the package's name, which the app imports"""
    project: str = jsc.NEWEST
    """the npm project whose packages it has"""

    @property
    def installed(self) -> Path:
        """The package in node_modules: files of its own, to replace or remove."""
        return self.folder / "node_modules" / self.package

    def config(self) -> dict[str, Any]:
        """Output of `react-native config`, which Gradle and CocoaPods ask."""
        return read_json(self._run("rnc-cli", "config"))

    def expo_config(self, system: str) -> dict[str, Any]:
        """The same from Expo's own autolinking, which other apps ask."""
        return read_json(self._run("expo-modules-autolinking", "react-native-config", "--platform", system, "--json"))

    def bundle(self, system: str, entry: str = "index.js", config: str = "metro.test.config.js") -> Bundle:
        """A release bundle, as Gradle and Xcode have it made for Hermes. Raises AssertionError with Metro's words.

        One process makes it: a second one would load and warm up the same compilers.
        """
        out = self.folder / "out" / system
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        script, source_map = out / "main.jsbundle", out / "main.map"
        done = self._run(
            *("rnc-cli", "bundle", "--platform", system, "--entry-file", entry, "--dev", "false", "--minify", "false"),
            *("--config", config, "--max-workers", "1"),
            *("--bundle-output", script, "--sourcemap-output", source_map, "--assets-dest", out / "assets"),
        )
        assert done.returncode == 0, done.output
        sections = json.loads(source_map.read_text(encoding="utf-8"))["sections"]
        return Bundle(script, out / "assets", tuple(name for each in sections for name in each["map"]["sources"]))

    def _run(self, tool: str, *arguments: str | Path) -> node.Finished:
        scratch = cache_folder() / "metro"  # Metro keeps there what it has transformed, by content
        scratch.mkdir(exist_ok=True)
        program = node.tool(node.project(self.project), tool)
        return node.run([program, *arguments], cwd=self.folder, environment={"TMPDIR": str(scratch)})


def make(built: Built, folder: Path, project: str = jsc.NEWEST) -> BareApp:
    """An app whose screen is the example with the hook, and whose Metro is set, as the package's README has them."""
    built.app(folder, project)
    shutil.copytree(FIXTURE, folder, dirs_exist_ok=True)
    readme = (built.package / "README.md").read_text(encoding="utf-8")
    (folder / "App.tsx").write_text(example(readme, "tsx", "use"), encoding="utf-8")
    (folder / "metro.config.js").write_text(example(readme, "js", "assetExts"), encoding="utf-8")
    description = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    description["dependencies"]["react-native"] = "*"  # names the platforms for the command line
    (folder / "package.json").write_text(json.dumps(description), encoding="utf-8")
    return BareApp(folder, built.name, project)


def example(readme: str, language: str, word: str) -> str:
    """The first block of code in that language that contains the word."""
    blocks: list[tuple[str, str]] = BLOCK.findall(readme)
    return next(text for found, text in blocks if found == language and word in text)


def read_json(done: node.Finished) -> dict[str, Any]:
    assert done.returncode == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def hermes(script: Path, bytecode: Path) -> str:
    """Compiles a bundle as a release build does; returns what the compiler says. Raises ToolError with its words."""
    folder = {"linux": "linux64-bin", "darwin": "osx-bin"}.get(sys.platform, "")
    is_suitable = folder and (sys.platform, platform.machine()) != ("linux", "aarch64")
    require(bool(is_suitable), "Hermes' compiler is for Linux on x86_64, and for macOS")
    compiler = node.project("react_native") / "node_modules" / "hermes-compiler" / "hermesc" / folder / "hermesc"
    return commands.run([compiler, "-emit-binary", "-O", "-w", "-out", bytecode, script], what="Hermes")


def dependency(config: Mapping[str, Any], package: str, system: str) -> dict[str, Any] | None:
    """The entry of a linked package, or None."""
    linked: dict[str, Any] | None = config["dependencies"].get(package, {}).get("platforms", {}).get(system)
    return linked
