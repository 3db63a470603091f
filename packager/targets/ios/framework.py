"""The ONNX Runtime of a package: the published one, by address, or the user's own."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from packager.processes import downloads
from packager.targets.ios import package
from packager.targets.ios.view import FrameworkView
from packager.xcframework.layout import version_key
from packager.xcframework.packaged import PackagedFramework

UNKNOWN = "of your own"
"""version of a runtime at an address, which is not downloaded"""


def framework_view(own: PackagedFramework | None) -> FrameworkView:
    """Source of ONNX Runtime for Package.swift: `own`, or the published one."""
    pinned = downloads.pins()["ios"]
    if own is None:
        return FrameworkView(
            name="onnxruntime", version=pinned["version"], url=pinned["archive"], checksum=pinned["checksum"], path=""
        )
    path = package.FRAMEWORKS / f"{own.name}.xcframework" if own.folder else ""
    return FrameworkView(
        name=own.name, version=own.version or UNKNOWN, url=own.url, checksum=own.checksum, path=str(path)
    )


def oldest_ios(own: PackagedFramework | None) -> str:
    """Oldest iOS that the package supports; its own code is tested with the published runtime's."""
    published = str(downloads.pins()["ios"]["min-ios"])
    return max(published, own.minimum_os or published, key=version_key) if own else published


def files(own: PackagedFramework | None) -> dict[PurePosixPath, Path]:
    """Files of a bundled framework, by path in the package."""
    return {place: path for place, path in _content(own) if not path.is_symlink()}


def links(own: PackagedFramework | None) -> dict[PurePosixPath, str]:
    """Links of a bundled framework: macOS frameworks contain versions, with links to the current one."""
    return {place: path.readlink().as_posix() for place, path in _content(own) if path.is_symlink()}


def _content(own: PackagedFramework | None) -> Iterator[tuple[PurePosixPath, Path]]:
    if own is None or own.folder is None:
        return
    home = package.FRAMEWORKS / f"{own.name}.xcframework"
    for path in sorted(own.folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield home / path.relative_to(own.folder).as_posix(), path
