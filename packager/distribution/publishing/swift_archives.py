"""Archives of Swift packages in a release: names, versions, and whether they can be published."""

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

from packager.core.errors import ConfigError, nearest
from packager.distribution.publishing.release import FileToPublish, ReleaseToPublish
from packager.files.zips import DAMAGE, RUNTIME, opened_zip, read_entry

RUNTIME_KIND = "swift-runtime"
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
BY_PATH = re.compile(r'\.package\([^)]*\bpath:\s*"([^"]+)"')


@dataclass(frozen=True, kw_only=True)
class SwiftArchive:
    name: str
    version: str
    file: FileToPublish


def archive_of(release: ReleaseToPublish, package: str) -> SwiftArchive:
    """The archive of `package`, or of the release's own if that is empty. Raises ConfigError if it is not there or
    cannot be published."""
    files = (*release.of_kind("swift-package"), *release.of_kind(RUNTIME_KIND))
    if not files:
        raise ConfigError("the release has no Swift package", hint="build one with `mobpack build --target ios`")
    found = {each.name: each for each in (_archive(file, release) for file in files)}
    if (package or release.package) not in found:
        raise ConfigError(f"the release has no Swift package '{package}'", hint=nearest(package, found))
    archive = found[package or release.package]
    _refuse_unpublishable(archive, [name for name in found if name != release.package])
    return archive


def _refuse_unpublishable(archive: SwiftArchive, others: Sequence[str]) -> None:
    """Raises ConfigError for a version that is not of three parts, and for a dependency by path, which nobody else
    has."""
    if not VERSION.fullmatch(archive.version):
        raise ConfigError(
            f"version {archive.version} of {archive.name}: Swift packages need three parts, as in 1.0.0",
            hint="set version in [package], and build again",
        )
    if found := BY_PATH.search(_manifest(archive)):
        raise ConfigError(
            f"{archive.name} depends on {found[1]} by path, which a published package cannot",
            hint=f"publish {', '.join(others) or 'that package'} first (setting `package`), name it in mobpack.toml "
            "(runtime-package in [target.ios]), and build again: docs/publish.md",
        )


def _archive(file: FileToPublish, release: ReleaseToPublish) -> SwiftArchive:
    stem = file.path.name.removesuffix(".zip")
    if file.kind != RUNTIME_KIND:
        return SwiftArchive(name=release.package, version=release.version, file=file)
    found = re.fullmatch(r"(.+?)-(\d.*)", stem)
    if not found:
        raise ConfigError(f"{file.path} has no version in its name", hint="build the packages again")
    return SwiftArchive(name=found[1], version=found[2], file=file)


def _manifest(archive: SwiftArchive) -> str:
    try:
        with archive.file.path.open("rb") as file, opened_zip(file, RUNTIME) as opened:
            names = [name for name in opened.namelist() if re.fullmatch(r"[^/]+/Package\.swift", name)]
            return read_entry(opened, names[0]).decode("utf-8", "replace") if names else ""
    except (*DAMAGE, zipfile.LargeZipFile) as error:
        raise ConfigError(f"{archive.file.path} cannot be read: {error}", hint="build the packages again") from error
