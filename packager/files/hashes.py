"""Checksums of files."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from packager.core.user_files import opened

_known: dict[tuple[int, int, int, int], str] = {}
"""Device, inode, size and modification time (ns) of a file -> its sha256, for files that this process has read."""


def sha256_of(path: Path) -> str:
    """Lower-case hex sha256 of a file, read in chunks."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def known_sha256(path: Path) -> str:
    """Like `sha256_of`, but reads a file again only if it looks different than before.

    For files that nobody writes to any more: two changes within one tick of the file system's clock look alike.
    """
    with suppress(OSError):  # `opened` says what is wrong
        if known := _known.get(_identity(path.stat())):
            return known
    with opened(path) as file:
        identity = _identity(os.fstat(file.fileno()))
        if identity not in _known:
            _known[identity] = hashlib.file_digest(file, "sha256").hexdigest()
        return _known[identity]


def content_sha256(content: bytes | Path) -> str:
    """Lower-case hex sha256 of an entry of an archive."""
    return known_sha256(content) if isinstance(content, Path) else hashlib.sha256(content).hexdigest()


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
