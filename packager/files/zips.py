"""Writes zip archives whose bytes depend on nothing but the names and bytes inside; what damaged ones raise."""

import lzma
import os
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from packager.files.atomic import atomic_file

# The first date a zip entry can carry; Gradle and the Kotlin compiler write the same one.
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
UNIX = 3
REGULAR_FILE = 0o100644
CHUNK_BYTES = 1 << 20
DAMAGE = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)
"""What torn, encrypted and made-up files make zipfile and numpy raise."""
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How the entries of .npz, .aar and .xcframework.zip are packed; others unpack to thousands of times their size."""
UNSUSPICIOUS_BYTES = 1 << 30
"""That much may come out of any archive, however small it is: masks of zeros are a thousandth of themselves."""
END_BYTES = 22 + 65535
"""of the record at the end of an archive, with the longest comment"""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an archive of somebody else's may unpack to."""

    entries: int
    total_bytes: int
    ratio: int
    """bytes that come out for each that is in the file, of what is not unsuspicious"""


ARRAYS = Limits(entries=10_000, total_bytes=1 << 40, ratio=200)
"""Stacks of samples, of which one is in memory at a time."""
ONE_SAMPLE = Limits(entries=10_000, total_bytes=4 << 30, ratio=200)
RUNTIME = Limits(entries=20_000, total_bytes=4 << 30, ratio=20)

LINK = 0o120777


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str
    """from the folder it lies in"""


Content = bytes | Path | Link
"""What one entry holds: bytes, a file that is copied in pieces, or a link."""


def write_zip(path: Path, entries: Mapping[PurePosixPath, Content]) -> Path:
    """Writes `entries` to `path`, sorted by name; the file appears whole or not at all. Returns `path`.

    Entries are stored, not deflated. DEFLATE only promises that its output unpacks: zlib, zlib-ng and the
    copies that systems and Java runtimes carry write different bytes for the same input and level, so a
    deflated archive would change with the machine. Weights, nearly all of a package, shrink little, and an
    app's own build compresses what it takes over. Dates, permissions and the creating system are fixed too.

    Raises ValueError for a name that is absolute, climbs out, or is a file and a folder at once, and
    ToolError when `path` cannot be written.
    """
    _check_names(entries)
    with atomic_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries, key=str):
            _write_entry(archive, name, entries[name])
    return path


@contextmanager
def opened_zip(file: IO[bytes], limits: Limits) -> Iterator[zipfile.ZipFile]:
    """The archive in `file`. Raises BadZipFile, before anything is unpacked, for one whose directory says that it
    unpacks to more than `limits` allow, and OSError or BadZipFile for what is none."""
    size_bytes = os.fstat(file.fileno()).st_size
    if _directory_bytes(file, size_bytes) > limits.entries * 1024:
        raise zipfile.BadZipFile(f"it lists more than {limits.entries:,} entries")
    with zipfile.ZipFile(file) as archive:
        refuse_bomb(archive.infolist(), size_bytes, limits)
        file.seek(0)  # who reads the file by itself, too, begins at its start
        yield archive


def refuse_bomb(entries: Sequence[zipfile.ZipInfo], size_bytes: int, limits: Limits) -> None:
    """Raises BadZipFile for the `entries` of an archive of `size_bytes` that are too many or too much for `limits`,
    lie over each other, or are packed as no tool packs such files."""
    total = sum(entry.file_size for entry in entries)
    if len(entries) > limits.entries:
        raise zipfile.BadZipFile(f"it lists {len(entries):,} entries, more than {limits.entries:,}")
    if total > limits.total_bytes or (total > UNSUSPICIOUS_BYTES and total > limits.ratio * size_bytes):
        raise zipfile.BadZipFile(f"it would unpack to {total:,} bytes, from {size_bytes:,}")
    if sum(entry.compress_size for entry in entries) > size_bytes:
        raise zipfile.BadZipFile("its entries lie over each other")
    if odd := next((entry for entry in entries if entry.compress_type not in PLAIN), None):
        raise zipfile.BadZipFile(f"'{odd.filename}' is packed by method {odd.compress_type}")


def _directory_bytes(file: IO[bytes], size_bytes: int) -> int:
    """How long the list of entries is (APPNOTE.TXT 4.3.14 and 4.3.16); Python reads all of it at once."""
    file.seek(max(0, size_bytes - END_BYTES))
    end = file.read()
    file.seek(0)
    found = end.rfind(b"PK\5\6")
    if found < 0 or len(end) - found < 22:
        return 0  # no archive: zipfile says so
    (length,) = struct.unpack_from("<I", end, found + 12)
    large = end.rfind(b"PK\6\6", 0, found)
    if large >= 0 and found - large >= 48:
        (length,) = struct.unpack_from("<Q", end, large + 40)
    return int(length)


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo | str) -> bytes:
    """What `entry` holds: never more than its header says, whatever comes out of it. Raises DAMAGE."""
    info = archive.getinfo(entry) if isinstance(entry, str) else entry
    content = bytearray()
    with archive.open(info) as stream:
        while chunk := stream.read(min(CHUNK_BYTES, info.file_size + 1 - len(content))):
            content += chunk
    if len(content) != info.file_size:
        raise zipfile.BadZipFile(f"'{info.filename}' is not as long as it says")
    return bytes(content)


def read_zip(path: Path) -> dict[PurePosixPath, bytes]:
    """All files of a zip archive by name; folders are left out. Meant for small ones."""
    with zipfile.ZipFile(path) as archive:
        files = (info for info in archive.infolist() if not info.is_dir())
        return {PurePosixPath(info.filename): archive.read(info) for info in files}


def _check_names(names: Iterable[PurePosixPath]) -> None:
    taken = set(names)
    for name in taken:
        text = str(name)
        if name.is_absolute() or ".." in name.parts or text == "." or "\\" in text or ":" in name.parts[0]:
            raise ValueError(f"not a relative path inside an archive: {text!r}")
        folders = taken.intersection(name.parents)
        if folders:
            raise ValueError(f"a file and a folder at once in an archive: {str(folders.pop())!r}")


def _write_entry(archive: zipfile.ZipFile, name: PurePosixPath, content: Content) -> None:
    info = zipfile.ZipInfo(str(name), ZIP_EPOCH)
    info.create_system = UNIX
    info.external_attr = (LINK if isinstance(content, Link) else REGULAR_FILE) << 16
    # Known beforehand, the size decides between the plain and the 64-bit header, whatever the Python version.
    content = content.target.encode() if isinstance(content, Link) else content
    info.file_size = content.stat().st_size if isinstance(content, Path) else len(content)
    with archive.open(info, "w") as entry, _reader(content) as source:
        shutil.copyfileobj(source, entry, CHUNK_BYTES)


def is_link(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry that `write_zip` wrote is a link: its content is where it points."""
    return entry.external_attr >> 16 == LINK


def _reader(content: bytes | Path) -> IO[bytes]:
    return content.open("rb") if isinstance(content, Path) else BytesIO(content)
