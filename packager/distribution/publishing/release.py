"""Reads a release of `mobpack build`, and checks every file against its manifest."""

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from packager.core import parsing, user_files
from packager.core.errors import ConfigError, GateError
from packager.distribution.release.publish import MANIFEST, MAX_MANIFEST_BYTES
from packager.files.hashes import sha256_of

AGAIN = "build the packages again"


@dataclass(frozen=True, kw_only=True)
class FileToPublish:
    """A file of the release whose bytes are those of the manifest."""

    path: Path
    name: str
    """path in the release, in POSIX form"""
    kind: str
    target: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class ReleaseToPublish:
    folder: Path
    package: str
    version: str
    files: tuple[FileToPublish, ...]

    def of_kind(self, *kinds: str) -> tuple[FileToPublish, ...]:
        return tuple(each for each in self.files if each.kind in kinds)


def read(folder: Path) -> ReleaseToPublish:
    """The release in `folder`. Raises ConfigError if it is none, GateError if a file is not the manifest's."""
    document = _manifest(folder / MANIFEST)
    try:
        package = document["package"]
        files = tuple(_file(folder, entry) for entry in document["artifacts"])
        return ReleaseToPublish(
            folder=folder, package=str(package["name"]), version=str(package["version"]), files=files
        )
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{folder / MANIFEST} is not a manifest of mobpack: {error}", hint=AGAIN) from error


def _manifest(path: Path) -> Any:
    try:
        return parsing.json_of(user_files.read(path, limit_bytes=MAX_MANIFEST_BYTES))
    except OSError as error:
        raise ConfigError(
            f"{path.parent} is not a release of mobpack: {path} cannot be read ({error.strerror})",
            hint="name the folder that `mobpack build` writes, such as dist",
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not a manifest of mobpack: {error}", hint=AGAIN) from error


def _file(folder: Path, entry: Any) -> FileToPublish:
    name = PurePosixPath(str(entry["path"]))
    if name.is_absolute() or ".." in name.parts:
        raise ConfigError(f"{folder / MANIFEST} names a file outside of the release: {name}", hint=AGAIN)
    path = folder / name
    try:
        found = sha256_of(path)
    except OSError as error:
        raise GateError(f"{path} cannot be read: {error.strerror}", hint=AGAIN) from error
    if found != entry["sha256"]:
        raise GateError(f"{path} is not the file that {MANIFEST} describes", hint=AGAIN)
    return FileToPublish(
        path=path,
        name=str(name),
        kind=str(entry["kind"]),
        target=str(entry["target"]),
        sha256=found,
        size_bytes=path.stat().st_size,
    )


def digest(content: bytes | Path, algorithm: str) -> str:
    """The hex digest of bytes, or of a file, read in chunks."""
    # md5 and sha1 are checksums here, not security; the flag keeps them available in FIPS mode
    if isinstance(content, bytes):
        return hashlib.new(algorithm, content, usedforsecurity=False).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def size_of(content: bytes | Path) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size
