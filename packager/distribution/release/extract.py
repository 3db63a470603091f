"""Takes the model files out of built packages, for servers that apps download them from."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from packager.core import parsing, user_files
from packager.core.characters import to_json
from packager.core.errors import ConfigError, ToolError
from packager.core.to_json import plain
from packager.distribution.release.contents import model_name
from packager.distribution.release.publish import MANIFEST, MAX_MANIFEST_BYTES
from packager.files import host
from packager.files.atomic import atomic_file, atomic_files
from packager.files.zips import CHUNK_BYTES, MALFORMED, ZipLink, package_entries
from packager.signing.model_signing import UNSIGNED_NAME
from packager.targets import MODELS_IN

INDEX = "models.json"
"""name of the list of an extracted folder"""
SCHEMA_VERSION = 1
NO_LIST = (ValueError, KeyError, TypeError, RecursionError)
"""Exceptions of JSON that is cut, too deep, or something else's."""


@dataclass(frozen=True, kw_only=True, order=True)
class Extracted:
    """A model file of a package; in the folder it is named by its `sha256`."""

    package: str
    version: str
    target: str
    file: str
    """name that the package gives it"""
    sha256: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A package of a release, as its manifest describes it."""

    path: Path
    package: str
    version: str
    target: str
    kind: str
    sha256: str


def extract(release: Path, folder: Path) -> tuple[Extracted, ...]:
    """Writes each model file of the packages in `release` to `folder`, named by its SHA-256, and lists it in
    models.json. Files of other versions stay.

    Raises ConfigError if `release` has no packages, ToolError if a package is damaged or `folder` cannot be written.
    """
    archives = _archives(release)
    before = _listed(folder / INDEX)
    with atomic_files(folder) as scratch:
        found = tuple(sorted({each for archive in archives for each in _files(archive, scratch)}))
    # The list comes last: the files that it names are there.
    _write_list(folder / INDEX, {*before, *found})
    return found


def unpack(release: Path, folder: Path, *, target: str) -> tuple[Extracted, ...]:
    """Writes each model file of the packages for `target` in `release` to `folder`, an existing one, named by its
    SHA-256.

    Raises ConfigError if `release` has none, ToolError if a package is damaged.
    """
    archives = [each for each in _archives(release) if each.target == target]
    if not archives:
        raise ConfigError(f"{release} has no package for {target}", hint=f"build one: mobpack build --target {target}")
    return tuple(sorted({each for archive in archives for each in _files(archive, folder)}))


def _archives(release: Path) -> list[Archive]:
    manifest = release / MANIFEST
    try:
        document = parsing.json_of(user_files.read(manifest, limit_bytes=MAX_MANIFEST_BYTES))
        package = document["package"]
        archives = [
            Archive(
                path=release / each["path"],
                package=package["name"],
                version=package["version"],
                target=each["target"],
                kind=each["kind"],
                sha256=each["sha256"],
            )
            for each in document["artifacts"]
            if each["kind"] in MODELS_IN
        ]
    except OSError as error:
        raise ConfigError(
            f"{release} is not a release of mobpack: {manifest} cannot be read ({error.strerror})",
            hint="name the folder that `mobpack build` writes, such as dist",
        ) from error
    except NO_LIST as error:
        raise ConfigError(
            f"{manifest} is not a manifest of mobpack: {error}", hint="build the packages again"
        ) from error
    if not archives:
        raise ConfigError(f"{release} has no packages with models", hint="build one with `mobpack build`")
    return archives


def _files(archive: Archive, folder: Path) -> Iterator[Extracted]:
    with _opened(archive) as file:
        for path, size_bytes, content in package_entries(file, archive.path.name):
            name = model_name(archive.kind, path)
            if name and PurePosixPath(name).name != UNSIGNED_NAME and not isinstance(content, ZipLink):
                yield Extracted(
                    package=archive.package,
                    version=archive.version,
                    target=archive.target,
                    file=name,
                    sha256=_install(content, folder),
                    size_bytes=size_bytes,
                )


@contextmanager
def _opened(archive: Archive) -> Iterator[IO[bytes]]:
    """The package, which must be the one that the manifest describes. What is read of it in the block must be sound."""
    again = "build the packages again"
    try:
        file = user_files.opened(archive.path)
    except OSError as error:
        raise ToolError(f"cannot read {archive.path}: {error.strerror}", hint=again) from error
    with file:
        if hashlib.file_digest(file, "sha256").hexdigest() != archive.sha256:
            raise ToolError(f"{archive.path} is not the file that {MANIFEST} describes", hint=again)
        file.seek(0)
        try:
            yield file
        except MALFORMED as error:
            raise ToolError(f"cannot read {archive.path}: {error}", hint=again) from error


def _install(content: IO[bytes], folder: Path) -> str:
    """Copies `content` to a file named by its SHA-256, which it returns."""
    unfinished, digest = folder / "unfinished", hashlib.sha256()
    with unfinished.open("wb") as file:
        while chunk := content.read(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
    host.replace(unfinished, folder / digest.hexdigest())
    return digest.hexdigest()


def _listed(index: Path) -> set[Extracted]:
    """The files that earlier calls extracted."""
    try:
        document = parsing.json_of(user_files.read(index, limit_bytes=MAX_MANIFEST_BYTES))
        return {
            Extracted(**{name.replace("-", "_"): value for name, value in each.items()}) for each in document["files"]
        }
    except FileNotFoundError:
        return set()
    except (OSError, *NO_LIST) as error:
        raise ConfigError(
            f"{index} cannot be read: {error}", hint="remove it, or choose another folder with --to"
        ) from error


def _write_list(index: Path, files: set[Extracted]) -> None:
    text = to_json({"schema-version": SCHEMA_VERSION, "files": plain(sorted(files))}, indent=2) + "\n"
    with atomic_file(index) as file:
        file.write(text.encode())
