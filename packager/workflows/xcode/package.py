"""The Swift package of an earlier build, as Xcode uses it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from packager.core import parsing, user_files
from packager.core.errors import ConfigError

MANIFEST = "manifest.json"
DEPENDENCY = re.compile(r'\.package\((path|url|id): "([^"\\]*)"(?:, from: "([^"\\]*)")?\)')
PRODUCT = re.compile(r'\.product\(name: "([^"\\]*)", package: "([^"\\]*)"\)')


@dataclass(frozen=True, kw_only=True)
class RuntimePackage:
    """The package of ONNX Runtime, as a Package.swift names it."""

    kind: str
    """`path`, `url` or `id`"""
    place: str
    oldest: str
    """oldest version that SwiftPM may choose; empty for a path"""
    product: str
    identity: str


@dataclass(frozen=True, kw_only=True)
class SwiftPackage:
    """A Swift package that an app adds by path."""

    folder: Path
    product: str
    """product that apps link and import"""
    files: tuple[Path, ...]
    """files that Xcode compiles, copies or links, sorted"""
    runtime: RuntimePackage

    @property
    def runtime_folder(self) -> Path | None:
        """The folder of that package; None for one at an address or in a registry."""
        return user_files.resolved(self.folder / self.runtime.place) if self.runtime.kind == "path" else None


def find_package(dist: Path, name: str, config: Path) -> SwiftPackage:
    """The package `name` in the release folder `dist`. Raises ConfigError if no build has written one."""
    folder = dist / "swift" / name
    build = f"mobpack build --config {config} --target ios --out {dist}"
    if not (folder / "Package.swift").is_file():
        raise ConfigError(
            f"no Swift package in {folder}", hint=f"Xcode resolves packages before it runs scripts; first run {build}"
        )
    refuse_other_targets(dist)
    product = product_of(folder, build)
    runtime = runtime_of((folder / "Package.swift").read_text(encoding="utf-8"))
    if runtime is None:
        raise ConfigError(f"{folder} depends on no package of ONNX Runtime", hint=f"run {build}")
    found = SwiftPackage(folder=folder, product=product, files=files_of(folder), runtime=runtime)
    return replace(found, files=tuple(sorted([*found.files, *runtime_files(found.runtime_folder)])))


def refuse_other_targets(dist: Path) -> None:
    """Raises ConfigError for a release with packages of other targets, which an iOS-only build would remove."""
    try:
        manifest = parsing.json_of((dist / MANIFEST).read_text(encoding="utf-8"))
        others = sorted({each["target"] for each in manifest["artifacts"]} - {"ios"})
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{dist / MANIFEST} cannot be read: {error}", hint="run mobpack build again") from error
    if others:
        raise ConfigError(
            f"{dist} also holds packages for {', '.join(others)}, which an iOS build in Xcode would remove",
            hint="run mobpack build --target ios --out dist-ios, then mobpack xcode --dist dist-ios",
        )


def product_of(folder: Path, build: str) -> str:
    """The Swift module: the one that has a C module named C<module> beside it."""
    modules = {path.name for path in (folder / "Sources").glob("*") if path.is_dir()}
    found = sorted(name for name in modules if f"C{name}" in modules)
    if len(found) != 1:
        raise ConfigError(f"{folder} is not a package built by mobpack", hint=f"run {build}")
    return found[0]


def runtime_of(manifest: str) -> RuntimePackage | None:
    """The dependency on ONNX Runtime in a Package.swift; None if there is none."""
    package, product = DEPENDENCY.search(manifest), PRODUCT.search(manifest)
    if package is None or product is None:
        return None
    return RuntimePackage(
        kind=package[1], place=package[2], oldest=package[3] or "", product=product[1], identity=product[2]
    )


def runtime_files(folder: Path | None) -> tuple[Path, ...]:
    """The files of ONNX Runtime's package, if it is built with the other."""
    return files_of(folder) if folder and (folder / "Package.swift").is_file() else ()


def files_of(folder: Path) -> tuple[Path, ...]:
    """Package.swift, sources, resources, and frameworks, each of which counts as one file in Xcode."""
    sources = [path for path in (folder / "Sources").rglob("*") if path.is_file()]
    return tuple(sorted([folder / "Package.swift", *sources, *folder.glob("*.xcframework")]))
