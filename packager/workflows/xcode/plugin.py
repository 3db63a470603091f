"""A SwiftPM package with a build-tool plugin that runs `mobpack build`, and the ONNX Runtime that the built code
needs."""

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from packager import __version__
from packager.core.errors import ConfigError
from packager.core.values import Sources
from packager.files.processes import downloads
from packager.files.replaced_folder import FolderKind, replaced
from packager.render.templates import render, write_sources
from packager.workflows.xcode.files import relative
from packager.workflows.xcode.package import RuntimePackage, SwiftPackage

MARK = "mobpack.json"
PLUGIN = FolderKind(words="a plugin of mobpack xcode", mark=MARK, option="--plugin")
CODE = "Plugins/MobpackPlugin/MobpackPlugin.swift"


@dataclass(frozen=True, kw_only=True)
class PluginManifestView:
    """Package.swift"""

    swift_tools: str
    c_module: str
    runtime: RuntimePackage
    min_ios: str
    min_macos: str


@dataclass(frozen=True, kw_only=True)
class PluginView:
    """MobpackPlugin.swift"""

    config: str
    """name of the project file"""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def write_plugin(out: Path, package: SwiftPackage, config: Path, inputs: Iterable[Path]) -> None:
    """Writes the plugin for the project file `config` into the folder `out`, which is replaced as a whole.

    Raises ConfigError when `out` holds something else, ToolError when it cannot be written.
    """
    sources = plugin(package, config, inputs)
    with replaced(out, PLUGIN) as staging:
        write_sources(sources, staging)
        if package.runtime_folder:
            shutil.copytree(package.runtime_folder, staging / package.runtime.identity, symlinks=True)


def plugin(package: SwiftPackage, config: Path, inputs: Iterable[Path]) -> Sources:
    """The files of the plugin's package, without those of ONNX Runtime's."""
    view = PluginView(
        config=config.name,
        inputs=tuple(sorted({relative(path, config.parent) for path in inputs})),
        outputs=tuple(outputs_of(package)),
    )
    texts = {
        "Package.swift": render("xcode/plugin/Package.swift.j2", manifest_view(package)),
        CODE: render("xcode/plugin/MobpackPlugin.swift.j2", view),
        MARK: json.dumps({"mobpack": __version__}) + "\n",
    }
    c_sources = sorted((package.folder / "Sources" / f"C{package.product}").rglob("*"))
    files = [*(path for path in c_sources if path.is_file()), *package.folder.glob("LICENSE-onnxruntime.txt")]
    return Sources(
        texts={PurePosixPath(path): text for path, text in texts.items()},
        files={PurePosixPath(path.relative_to(package.folder).as_posix()): path for path in files},
    )


def outputs_of(package: SwiftPackage) -> Iterator[str]:
    """Outputs of the plugin, relative to the release's folder. The models' folder is one output, so that SwiftPM keeps
    its structure."""
    top = package.folder.parents[1]
    home = package.folder / "Sources" / package.product
    resources = home / "Resources"
    found = [*home.glob("*.swift"), *resources.iterdir()]
    if not (resources / "Models").is_dir():
        raise ConfigError(f"{package.folder} has no models", hint="run mobpack build --target ios again")
    return (path.relative_to(top).as_posix() for path in sorted(found))


def manifest_view(package: SwiftPackage) -> PluginManifestView:
    """System versions from the built package's manifest, and its runtime, which lies inside the plugin's package if it
    lay beside."""
    text = (package.folder / "Package.swift").read_text(encoding="utf-8")
    runtime = package.runtime
    return PluginManifestView(
        swift_tools=str(downloads.pins()["ios"]["swift-tools"]),
        c_module=f"C{package.product}",
        runtime=replace(runtime, place=runtime.identity) if package.runtime_folder else runtime,
        min_ios=literal_after(text, ".iOS("),
        min_macos=literal_after(text, ".macOS("),
    )


def literal_after(manifest: str, before: str) -> str:
    """The string literal after `before`; empty if there is none."""
    found = re.search(re.escape(before) + r'"([^"\\]*)"', manifest)
    return found[1] if found else ""
