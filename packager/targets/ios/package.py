"""Paths of the files in a Swift package, and the manifest for SwiftPM."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from packager.files.processes import downloads
from packager.render.templates import render
from packager.targets.ios.view import IosView
from packager.targets.swift_runtime import DependencyView

MANIFEST = PurePosixPath("Package.swift")
RESOURCES = PurePosixPath("Resources")
MODELS = RESOURCES / "Models"


@dataclass(frozen=True, kw_only=True)
class ManifestView:
    """Package.swift"""

    swift_tools: str
    package: str
    module: str
    c_module: str
    min_ios: str
    min_macos: str
    runtime: DependencyView
    tests: str
    uses_zlib: bool


def sources(module: str) -> PurePosixPath:
    """Folder of a target's files."""
    return PurePosixPath("Sources") / module


def tests(module: str) -> PurePosixPath:
    return PurePosixPath("Tests") / f"{module}Tests"


def manifest(view: IosView) -> str:
    """Package.swift"""
    return render(
        "ios/Package.swift.j2",
        ManifestView(
            swift_tools=downloads.pins()["ios"]["swift-tools"],
            package=view.package.name,
            module=view.runtime.module,
            c_module=view.runtime.c_module,
            min_ios=view.min_ios,
            min_macos=view.min_macos,
            runtime=view.dependency,
            tests=tests(view.runtime.module).name,
            uses_zlib=view.runtime.delivery is not None,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ScriptView:
    """make-xcframework.sh"""

    module: str
    c_module: str
    bundle: str
    """SwiftPM's name for the resource bundle"""


def script(view: IosView) -> str:
    """The script that makes an .xcframework of a package; mobpack does not run it, because it needs a Mac."""
    bundle = f"{view.package.name}_{view.runtime.module}.bundle"
    made = ScriptView(module=view.runtime.module, c_module=view.runtime.c_module, bundle=bundle)
    return render("ios/make-xcframework.sh.j2", made)
