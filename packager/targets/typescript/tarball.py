"""Writes tarballs, such as npm packages (.tgz), whose bytes depend only on the names and bytes inside.

A ustar archive as made by `npm pack`: everything below one folder, a fixed date, no user. It is stored, not deflated,
because DEFLATE output varies between machines; see `packager.files.zips`.
"""

import shutil
import struct
import tarfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from packager.core.errors import ConfigError, ModelError
from packager.files.atomic import atomic_file

PREFIX = PurePosixPath("package")
DATE = 499162500
"""1985-10-26T08:15:00Z, npm's date for every file"""
MODE = 0o644
BLOCK = 512
CHECKSUM, DEVICE = slice(148, 156), slice(329, 345)
"""fields of a header"""
NO_DEVICE = b"0000000\0" * 2
MAX_FILE_BYTES = 8**11 - 1
MAX_STORED_BYTES = 2**16 - 1
PIECE_BYTES = 1 << 20

GZIP_START = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
"""header without name, time and operating system (RFC 1952)"""
LAST_BLOCK = bytes([1, 0, 0, 0xFF, 0xFF])
"""an empty block (RFC 1951, 3.2.4)"""


def write_tarball(path: Path, entries: Mapping[PurePosixPath, bytes | Path], *, top: PurePosixPath = PREFIX) -> Path:
    """Writes `entries`, sorted by their paths below the folder `top` of the package, to `path`, and returns it.

    Raises ConfigError for a path that is too long for the format, ModelError for a file that is too large.
    """
    with atomic_file(path) as file:
        archive = Stored(file)
        for name in sorted(entries, key=str):
            _write_entry(archive, top / name, entries[name])
        archive.write(bytes(2 * BLOCK))
        archive.finish()
    return path


class Stored:
    """A gzip stream with stored blocks: every gzip unpacks it, and its bytes are reproducible."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._checksum = 0
        self._size = 0
        self._waiting = bytearray()
        file.write(GZIP_START)

    def write(self, content: bytes) -> int:
        self._checksum = zlib.crc32(content, self._checksum)
        self._size += len(content)
        self._waiting += content
        while len(self._waiting) >= MAX_STORED_BYTES:
            self._block(MAX_STORED_BYTES)
        return len(content)

    def finish(self) -> None:
        if self._waiting:
            self._block(len(self._waiting))
        self._file.write(LAST_BLOCK + struct.pack("<II", self._checksum, self._size % 2**32))

    def _block(self, size: int) -> None:
        self._file.write(struct.pack("<BHH", 0, size, size ^ 0xFFFF) + self._waiting[:size])
        del self._waiting[:size]


def _write_entry(archive: Stored, name: PurePosixPath, content: bytes | Path) -> None:
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    archive.write(_header(name, size))
    with content.open("rb") if isinstance(content, Path) else BytesIO(content) as source:
        shutil.copyfileobj(source, archive, PIECE_BYTES)
    archive.write(bytes(-size % BLOCK))


def _header(name: PurePosixPath, size: int) -> bytes:
    """Header of a file: IEEE Std 1003.1, ustar interchange format."""
    if size > MAX_FILE_BYTES:
        raise ModelError(
            f"{name} has {size:,} bytes: the limit of a file in a tarball is 8 GiB",
            hint='ship it as ONNX, which splits the weights over several files: format = "onnx"',
        )
    entry = tarfile.TarInfo(str(name))
    entry.size, entry.mtime, entry.mode = size, DATE, MODE
    try:
        header = bytearray(entry.tobuf(tarfile.USTAR_FORMAT, encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(
            f"{name}: the path is too long for a tarball",
            hint="shorten the name of the package, the group or the model",
        ) from error
    header[DEVICE] = NO_DEVICE  # versions of Python differ here
    header[CHECKSUM] = b" " * 8
    header[CHECKSUM] = b"%06o\0 " % sum(header)
    return bytes(header)
