"""Writes an Xcode project whose test measures and checks the models of a Swift package on a device."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.errors import ConfigError
from packager.core.values import Sources
from packager.files.atomic import atomic_files
from packager.files.installed import templates_folder
from packager.render import render, write_sources

TEMPLATES = PurePosixPath("device_xcode")
PROJECT = "DeviceTests"
BUNDLE_ID = "dev.mobpack.device-tests"
PRODUCT = re.compile(r'\.library\(\s*name: "(\w+)"')
MODEL = re.compile(r"^public final class (\w+): Sendable \{$", re.MULTILINE)
SESSION = "    private let session: ModelSession"
TUNING = "enum Tuning {"
SUFFIX = ".j2"


@dataclass(frozen=True, kw_only=True)
class ProjectView:
    module: str
    package_path: str
    """from the project's folder, with `/` between folders"""
    bundle_id: str


@dataclass(frozen=True, kw_only=True)
class ReadmeView:
    module: str
    package_path: str


@dataclass(frozen=True, kw_only=True)
class ModelsView:
    package: str
    """name of its folder"""
    module: str
    classes: tuple[str, ...]
    is_tuned: bool
    """whether the package follows settings by chip, which are off while it is measured"""


def write_device_tests(package: Path, output: Path) -> tuple[Path, ModelsView]:
    """Writes the project for the Swift package in the folder `package` to `output`/DeviceTests, which replaces an older
    one, and returns its folder.

    Raises ConfigError if `package` is none of mobpack's, ToolError if nothing can be written.
    """
    folder = output / PROJECT
    view = _view(package)
    place = Path(os.path.relpath(package.absolute(), folder.absolute())).as_posix()
    sources = Sources(texts=_texts(view, place), files={})
    with atomic_files(output) as unfinished:
        write_sources(sources, unfinished / PROJECT)
        shutil.rmtree(folder, ignore_errors=True)
    return folder, view


def _view(package: Path) -> ModelsView:
    manifest = package / "Package.swift"
    if not manifest.is_file():
        raise ConfigError(
            f"{package} is no Swift package: it has no Package.swift",
            hint="give the folder that a build for iOS made, dist/swift/NAME",
        )
    found = PRODUCT.search(manifest.read_text(encoding="utf-8"))
    classes = sorted(name for text in _swift(package) if SESSION in text for name in MODEL.findall(text))
    if not found or not classes:
        raise ConfigError(f"{package} has no models of mobpack's", hint="give the folder dist/swift/NAME of a build")
    return ModelsView(
        package=package.absolute().name,
        module=found[1],
        classes=tuple(classes),
        is_tuned=any(TUNING in text for text in _swift(package)),
    )


def _swift(package: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((package / "Sources").rglob("*.swift"))]


def _texts(view: ModelsView, package_path: str) -> dict[PurePosixPath, str]:
    views: dict[str, ModelsView | ProjectView | ReadmeView] = {
        "Tests/Models.swift": view,
        f"{PROJECT}.xcodeproj/project.pbxproj": ProjectView(
            module=view.module, package_path=package_path, bundle_id=BUNDLE_ID
        ),
        "README.md": ReadmeView(module=view.module, package_path=package_path),
    }
    root = templates_folder() / TEMPLATES
    names = (PurePosixPath(path.relative_to(root).as_posix()) for path in sorted(root.rglob("*")) if path.is_file())
    copied = {name: (root / name).read_text(encoding="utf-8") for name in names if name.suffix != SUFFIX}
    printed = {PurePosixPath(name): render(str(TEMPLATES / f"{name}{SUFFIX}"), each) for name, each in views.items()}
    return copied | printed
