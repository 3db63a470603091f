"""Files of a finished release: what its manifest lists, and what lies in its packages."""

import hashlib
import json
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from packager.core import user_files
from packager.core.errors import ConfigError, ToolError
from packager.files.hashes import sha256_of
from packager.files.zips import Content, Limits, Link, is_link, opened_zip, read_entry
from packager.release.publish import MANIFEST
from packager.signing.statements import Release
from packager.targets import MODELS_IN

MAX_MANIFEST_BYTES = 64 << 20
PACKAGE = Limits(entries=20_000, total_bytes=16 << 30, ratio=200)
DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    tarfile.TarError,
)
AGAIN = "get the release again from where it was published, or build it again"
TARBALL = ".tgz"


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

    release: Release
    files: tuple[Listed, ...]
    trusted_keys: tuple[str, ...]
    """hex sha256 of the keys that its apps verify models with; empty if they do not"""
    document: Mapping[str, Any]


def manifest_of(dist: Path) -> Manifest:
    """Reads `manifest.json` of the release in `dist`. Raises ConfigError if there is no release of mobpack."""
    path = dist / MANIFEST
    try:
        document = json.loads(user_files.read(path, limit_bytes=MAX_MANIFEST_BYTES))
        release = Release(package=str(document["package"]["name"]), version=str(document["package"]["version"]))
        files = tuple(_listed(each) for each in document["artifacts"])
        trusted_keys = tuple(map(str, document.get("options", {}).get("trust", {}).get("keys", ())))
    except OSError as error:
        raise ConfigError(
            f"{dist} is not a release of mobpack: {path} cannot be read ({error.strerror})",
            hint="name the folder that `mobpack build` writes, such as dist",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a manifest of mobpack: {error}", hint=AGAIN) from error
    return Manifest(release=release, files=files, trusted_keys=trusted_keys, document=document)


def _listed(entry: Mapping[str, Any]) -> Listed:
    path = str(entry["path"])
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError(f"'{path}' is outside of the release")
    return Listed(path=path, kind=str(entry["kind"]), sha256=str(entry["sha256"]))


def model_name(kind: str, entry: str) -> str:
    """Path of a model file below the folder of models of a package of `kind`; empty for other files."""
    return f"/{entry}".partition(MODELS_IN[kind])[2]


@contextmanager
def unpacked(archive: Path, folder: Path) -> Iterator[dict[PurePosixPath, Content]]:
    """The files of a package, unpacked to `folder` and numbered there: paths in the package -> content, with links.

    Raises ToolError if the package is damaged, or would unpack to too much.
    """
    try:
        with user_files.opened(archive) as file:
            found = dict(_tarred(file, folder) if archive.name.endswith(TARBALL) else _zipped(file, folder))
    except DAMAGED as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ToolError(f"cannot read {archive}: {reason}", hint=AGAIN) from error
    yield found


def _zipped(file: IO[bytes], folder: Path) -> Iterator[tuple[PurePosixPath, Content]]:
    with opened_zip(file, PACKAGE) as archive:
        for number, entry in enumerate(archive.infolist()):
            if entry.is_dir():
                continue
            if is_link(entry):
                yield PurePosixPath(entry.filename), Link(read_entry(archive, entry).decode())
                continue
            with archive.open(entry) as content:
                yield PurePosixPath(entry.filename), _saved(content, folder / str(number))


def _tarred(file: IO[bytes], folder: Path) -> Iterator[tuple[PurePosixPath, Content]]:
    with tarfile.open(fileobj=file, mode="r:gz") as archive:
        total = 0
        for number, entry in enumerate(archive):
            total += entry.size
            if number > PACKAGE.entries or total > PACKAGE.total_bytes:
                raise ValueError("it would unpack to too many or too large files")
            content = archive.extractfile(entry) if entry.isfile() else None
            if content is not None:
                yield PurePosixPath(entry.name), _saved(content, folder / str(number))


def _saved(content: IO[bytes], path: Path) -> Path:
    with path.open("wb") as file:
        while chunk := content.read(1 << 20):
            file.write(chunk)
    return path


def digest_of(content: Content) -> str:
    """Hex sha256 of one file of a package."""
    if isinstance(content, Path):
        return sha256_of(content)
    return hashlib.sha256(content.target.encode() if isinstance(content, Link) else content).hexdigest()
