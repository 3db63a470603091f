"""Files of a finished release: what its manifest lists, and what lies in its packages."""

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import IO, TypeVar

from packager.core import parsing, user_files
from packager.core.errors import ConfigError, GateError, ToolError
from packager.core.parsing import Json
from packager.distribution.release.publish import MANIFEST, MAX_MANIFEST_BYTES
from packager.files.hashes import sha256_of
from packager.files.zips import CHUNK_BYTES, DAMAGE, Content, ZipLink, package_entries
from packager.signing.envelope import MAX_BUNDLE_BYTES
from packager.signing.model_signing import UNSIGNED_NAME
from packager.signing.statements import EXECUTABLE, FOLDER, LINK, ReleaseName
from packager.targets import MODELS_IN, PAGES, TOP

AGAIN = "get the release again from where it was published, or build it again"
AS_OWNER = stat.S_ISUID | stat.S_ISGID
ANYBODY = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A file that the manifest lists."""

    path: str
    kind: str
    sha256: str

    @property
    def has_models(self) -> bool:
        return self.kind in MODELS_IN


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The parts of a release's manifest that verifying needs."""

    release: ReleaseName
    files: tuple[Listed, ...]
    trusted_keys: tuple[str, ...]
    """hex sha256 of the keys that its apps verify models with; empty if they do not"""
    document: Json


def manifest_of(dist: Path) -> Manifest:
    """Reads `manifest.json` of the release in `dist`. Raises ConfigError if there is no release of mobpack."""
    path = dist / MANIFEST
    try:
        document = parsing.json_of(user_files.read(path, limit_bytes=MAX_MANIFEST_BYTES))
        release = ReleaseName(package=str(document["package"]["name"]), version=str(document["package"]["version"]))
        scales = [{**each, "kind": "scales"} for each in document.get("scales", ())]
        files = tuple(_listed(each) for each in (*document["artifacts"], *scales))
        trusted_keys = tuple(map(str, document.get("options", {}).get("trust", {}).get("keys", ())))
    except OSError as error:
        raise ConfigError(
            f"{dist} is not a release of mobpack: {path} cannot be read ({error.strerror})",
            hint="name the folder that `mobpack build` writes, such as dist",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a manifest of mobpack: {error}", hint=AGAIN) from error
    return Manifest(release=release, files=files, trusted_keys=trusted_keys, document=document)


def _listed(entry: Json) -> Listed:
    path = str(entry["path"])
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError(f"'{path}' is outside of the release")
    return Listed(path=path, kind=str(entry["kind"]), sha256=str(entry["sha256"]))


def model_name(kind: str, entry: str) -> str:
    """Path of a model file below the folder of models of a package of `kind`; empty for other files."""
    place = MODELS_IN[kind]
    if not place.startswith(TOP):
        return f"/{entry}".partition(place)[2]
    below, start = entry.partition("/")[2], place.removeprefix(TOP)
    for folder in ("", PAGES):
        if below.startswith(f"{folder}{start}"):
            return folder + below.removeprefix(f"{folder}{start}")
    return ""


@dataclass(frozen=True)
class Inside:
    """A file in a package."""

    sha256: str
    """of a link, after its kind"""
    bundle: bytes = b""
    """content of a list of models, signed or not; empty for other files"""


def inside(archive: Path) -> dict[PurePosixPath, Inside]:
    """The files of a package by their paths, read in one pass. A link counts as a file with its target as text.

    Raises ToolError if the package is damaged, or would unpack to too much.
    """
    return dict(_each(archive, _described))


def unpack(archive: Path, folder: Path) -> dict[PurePosixPath, Content]:
    """The files of a package, unpacked to `folder` under numbers: paths in the package -> content, with links.

    Raises ToolError like `inside`.
    """
    numbers = count()
    return dict(_each(archive, lambda _, content: _saved(content, folder / str(next(numbers)))))


def _each(archive: Path, take: Callable[[PurePosixPath, IO[bytes] | ZipLink], T]) -> Iterator[tuple[PurePosixPath, T]]:
    """Path of each file or link in a package, and the result of `take` for it."""
    try:
        with user_files.opened(archive) as file:
            for name, _, content in package_entries(file, archive.name):
                yield PurePosixPath(name), take(PurePosixPath(name), content)
    except DAMAGE as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ToolError(f"cannot read {archive}: {reason}", hint=AGAIN) from error


def _described(name: PurePosixPath, content: IO[bytes] | ZipLink) -> Inside:
    if isinstance(content, ZipLink):
        return Inside(digest_of_link(content.target))
    if name.name == UNSIGNED_NAME:
        bundle = content.read(MAX_BUNDLE_BYTES)
        return Inside(hashlib.sha256(bundle).hexdigest(), bundle)
    digest = hashlib.sha256()
    while chunk := content.read(CHUNK_BYTES):
        digest.update(chunk)
    return Inside(digest.hexdigest())


def _saved(content: IO[bytes] | ZipLink, path: Path) -> Path | ZipLink:
    if isinstance(content, ZipLink):
        return content
    with path.open("wb") as file:
        shutil.copyfileobj(content, file, CHUNK_BYTES)
    return path


def files_in(folder: Path) -> list[str]:
    """Paths of the files below `folder`, sorted; links count as files and are not followed."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()
    )


def refuse_special(folder: Path) -> None:
    """Raises GateError if there is something below `folder` that no manifest and no signature can vouch for, such as a
    pipe, or a folder that has the name of a signature."""
    for path in sorted(folder.rglob("*")):
        is_folder = path.is_dir() and path.suffix != ".sig"
        if not path.is_symlink() and not path.is_file() and not is_folder:
            raise GateError(
                f"{path} is {'a folder with the name of a file' if path.is_dir() else 'neither a file nor a folder'}",
                hint="remove it, or get the release again from where it was published",
            )
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & AS_OWNER:
            raise GateError(
                f"{path} has the setuid or setgid bit (mode {stat.S_IMODE(path.stat().st_mode):04o})",
                hint=f"run: chmod ug-s {path}; or get the release again from where it was published",
            )


def entries_in(folder: Path) -> dict[str, str]:
    """Path -> digest of each entry below `folder`: files, links, and folders in which there is nothing."""
    empty = (path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink() and not any(path.iterdir()))
    found = {path.relative_to(folder).as_posix(): f"{FOLDER}:{_sha256('')}" for path in empty}
    return {**found, **{name: digest_of(folder / name) for name in files_in(folder)}}


def digest_of(path: Path) -> str:
    """Digest of a file: its sha256 in hexadecimal digits. That of a link, or of a file that can be executed, begins
    with its kind: the same bytes in an entry of another kind are something else."""
    if path.is_symlink():
        return digest_of_link(path.readlink().as_posix())
    found = sha256_of(path)
    return f"{EXECUTABLE}:{found}" if is_executable(path) else found


def digest_of_link(target: str) -> str:
    return f"{LINK}:{_sha256(target)}"


def is_executable(path: Path) -> bool:
    """Whether anybody may execute a file. Windows has no such bits."""
    return os.name == "posix" and bool(path.stat().st_mode & ANYBODY)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
