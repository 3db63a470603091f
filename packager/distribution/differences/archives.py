"""Reads the texts in a package, and the sizes and hashes of its other files; an archive may come from anybody."""

import gzip
import hashlib
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packager.core import user_files
from packager.core.errors import ToolError
from packager.files.zips import CHUNK_BYTES, UNSUSPICIOUS_BYTES, ZipLimits, opened_zip

LIMITS = ZipLimits(entries=20_000, total_bytes=16 << 30, ratio=200)
MAX_TEXT_BYTES = 32 << 20
"""largest text that is read: labels are part of descriptions"""
TEXTS = ("Package.swift", ".yaml", ".json", ".gradle", ".podspec", ".xml")
DAMAGED = (OSError, EOFError, ValueError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, tarfile.TarError)
LICENSE = "LICENSE"


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Files of a package, by path."""

    place: Path
    size_bytes: int
    names: tuple[str, ...]
    texts: Mapping[str, str]
    """those whose names say that they are text"""
    licenses: Mapping[str, str]
    """licence files -> sha256"""


def contents(path: Path, *, sha256: str = "") -> Contents:
    """The files in a zip or a .tgz.

    Raises ToolError if it cannot be read, is damaged, expands to too much, or is not the one with `sha256`.
    """
    hint = "build the package again, or get it again from where it was published"
    try:
        with user_files.opened(path) as file:
            if sha256 and hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise ToolError(f"{path} is not the file that manifest.json describes", hint=hint)
            file.seek(0)
            return _contents(path, file)
    except DAMAGED as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ToolError(f"cannot read {path}: {reason}", hint=hint) from error


def _contents(path: Path, file: IO[bytes]) -> Contents:
    names: list[str] = []
    texts: dict[str, str] = {}
    licenses: dict[str, str] = {}
    for name, size_bytes, content in _entries(path, file):
        names.append(name)
        is_license = name.rpartition("/")[2].startswith(LICENSE)
        if not name.endswith(TEXTS) and not is_license:
            continue
        if size_bytes > MAX_TEXT_BYTES:
            raise ValueError(f"'{name}' is larger than {MAX_TEXT_BYTES >> 20} MiB")
        data = content.read(size_bytes)
        if is_license:
            licenses[name] = hashlib.sha256(data).hexdigest()
        else:
            texts[name] = data.decode("utf-8-sig")
    size = path.stat().st_size
    return Contents(place=path, size_bytes=size, names=tuple(sorted(names)), texts=texts, licenses=licenses)


def _entries(path: Path, file: IO[bytes]) -> Iterator[tuple[str, int, IO[bytes]]]:
    if zipfile.is_zipfile(file):
        with opened_zip(file, LIMITS) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as content:
                        yield entry.filename, entry.file_size, content
        return
    file.seek(0)
    with tarfile.open(fileobj=file, mode="r:gz") as tar:
        yield from _archived(tar, path.stat().st_size)
        _finish(tar)


def _archived(tar: tarfile.TarFile, size_bytes: int) -> Iterator[tuple[str, int, IO[bytes]]]:
    total = 0
    for number, entry in enumerate(tar):
        total += entry.size
        if number >= LIMITS.entries or (total > UNSUSPICIOUS_BYTES and total > LIMITS.ratio * size_bytes):
            raise tarfile.TarError("it would unpack to too many or too large files")
        content = tar.extractfile(entry) if entry.isfile() else None
        if content is not None:
            yield entry.name, entry.size, content


def _finish(tar: tarfile.TarFile) -> None:
    """Reads up to the end, so that a file that was cut is noticed."""
    rest = tar.fileobj
    while rest is not None and rest.read(CHUNK_BYTES):
        pass
