"""The files inside of archives, by sha256."""

import gzip
import hashlib
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from packager.core import user_files
from packager.core.errors import ToolError
from packager.files.zips import UNSUSPICIOUS_BYTES, Limits, opened_zip

ENDS = (".aar", ".jar", ".zip", ".tgz")
"""Ends of the names of archives in a release."""
LIMITS = Limits(entries=50_000, total_bytes=16 << 30, ratio=200)
DAMAGED = (OSError, EOFError, ValueError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, tarfile.TarError)


def is_archive(path: Path) -> bool:
    return path.name.endswith(ENDS)


def contents(path: Path) -> Mapping[str, str]:
    """The files in a zip or a .tgz, by path, with their sha256. Raises ToolError if it is damaged or unpacks to too
    much."""
    try:
        with user_files.opened(path) as file:
            return {name: hashlib.file_digest(content, "sha256").hexdigest() for name, content in _entries(path, file)}  # type: ignore[arg-type]
    except DAMAGED as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ToolError(f"cannot read {path}: {reason}", hint="build the package again, or get it again") from error


def _entries(path: Path, file: IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    if zipfile.is_zipfile(file):
        with opened_zip(file, LIMITS) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as content:
                        yield entry.filename, content
        return
    file.seek(0)
    with tarfile.open(fileobj=file, mode="r:gz") as tar:
        total = 0
        for number, member in enumerate(tar):
            total += member.size
            if number >= LIMITS.entries or total > max(UNSUSPICIOUS_BYTES, LIMITS.ratio * path.stat().st_size):
                raise tarfile.TarError("it would unpack to too many or too large files")
            inside = tar.extractfile(member) if member.isfile() else None
            if inside is not None:
                yield member.name, inside
