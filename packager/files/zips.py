"""Writes zip archives whose bytes depend only on the names and bytes inside, and reads untrusted packages safely."""

import gzip
import lzma
import os
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from packager.files import host
from packager.files.atomic import atomic_file

# The earliest date a zip entry can have; Gradle and the Kotlin compiler write the same one.
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
UNIX = 3
REGULAR_FILE = 0o100644
CHUNK_BYTES = 1 << 20
MALFORMED = (
    ValueError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
)
"""Exceptions of zipfile, tarfile and numpy for truncated, encrypted and forged files."""
DAMAGE = (OSError, *MALFORMED)
"""The same, and those of files that cannot be read."""
TARBALLS = (".tgz", ".tar.gz")
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of entries in .npz, .aar and .xcframework.zip; others expand to thousands of times their size."""
UNSUSPICIOUS_BYTES = 1 << 30
"""Size that any archive may expand to, however small it is: masks of zeros compress to a thousandth."""
END_BYTES = 22 + 65535
"""Size of the record at the end of an archive, with the longest comment."""


@dataclass(frozen=True, kw_only=True)
class ZipLimits:
    """Limits on the expansion of an untrusted archive."""

    entries: int
    total_bytes: int
    ratio: int
    """maximum expanded bytes per byte of the file, beyond the unsuspicious size"""


ARRAYS = ZipLimits(entries=10_000, total_bytes=1 << 40, ratio=200)
"""Stacks of samples, of which one is in memory at a time."""
ONE_SAMPLE = ZipLimits(entries=10_000, total_bytes=4 << 30, ratio=200)
RUNTIME = ZipLimits(entries=20_000, total_bytes=4 << 30, ratio=20)
PACKAGE = ZipLimits(entries=20_000, total_bytes=16 << 30, ratio=200)

LINK = 0o120777


@dataclass(frozen=True)
class ZipLink:
    """A symbolic link."""

    target: str
    """relative to the folder of the link"""


Content = bytes | Path | ZipLink
"""Content of one entry: bytes, a file that is copied in chunks, or a link."""


def write_zip(path: Path, entries: Mapping[PurePosixPath, Content]) -> Path:
    """Writes `entries` to `path`, sorted by name; the file appears complete or not at all. Returns `path`.

    Entries are stored, not deflated. DEFLATE only promises that its output unpacks: zlib, zlib-ng and the copies in
    systems and Java runtimes write different bytes for the same input and level, so a deflated archive would depend on
    the machine. Weights, nearly all of a package, shrink little, and an app's own build compresses what it includes.
    Dates, permissions and the creating system are fixed too.

    Raises ValueError for a name that is absolute, climbs out, or is a file and a folder at once, and ToolError when
    `path` cannot be written.
    """
    _check_names(entries)
    with atomic_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries, key=str):
            _write_entry(archive, name, entries[name])
    return path


def package_entries(file: IO[bytes], name: str) -> Iterator[tuple[str, int, IO[bytes] | ZipLink]]:
    """Path, size in bytes and content of each file or link in the package in `file`: a tarball if its `name` says so,
    otherwise a zip. Raises DAMAGE if it is damaged, or would unpack to too much."""
    yield from _tarred(file) if name.endswith(TARBALLS) else _zipped(file)


def _zipped(file: IO[bytes]) -> Iterator[tuple[str, int, IO[bytes] | ZipLink]]:
    with opened_zip(file, PACKAGE) as archive:
        for entry in archive.infolist():
            if is_link(entry):
                yield entry.filename, entry.file_size, ZipLink(read_entry(archive, entry).decode())
            elif not entry.is_dir():
                with archive.open(entry) as content:
                    yield entry.filename, entry.file_size, content


def _tarred(file: IO[bytes]) -> Iterator[tuple[str, int, IO[bytes] | ZipLink]]:
    size_bytes, total = os.fstat(file.fileno()).st_size, 0
    with tarfile.open(fileobj=file, mode="r:gz") as archive:
        for number, entry in enumerate(archive):
            total += entry.size
            if number >= PACKAGE.entries or is_bomb(total, size_bytes, PACKAGE):
                raise tarfile.TarError("it would unpack to too many or too large files")
            content = archive.extractfile(entry) if entry.isfile() else None
            if content is not None:
                yield entry.name, entry.size, content
        while archive.fileobj is not None and archive.fileobj.read(CHUNK_BYTES):
            pass  # a file that was cut is noticed at its end


@contextmanager
def opened_zip(file: IO[bytes], limits: ZipLimits) -> Iterator[zipfile.ZipFile]:
    """The archive in `file`. Raises BadZipFile, before anything is unpacked, if its directory exceeds `limits`, and
    OSError or BadZipFile if it is not an archive."""
    size_bytes = os.fstat(file.fileno()).st_size
    if _directory_bytes(file, size_bytes) > limits.entries * 1024:
        raise zipfile.BadZipFile(f"it lists more than {limits.entries:,} entries")
    with zipfile.ZipFile(file) as archive:
        refuse_bomb(archive.infolist(), size_bytes, limits)
        file.seek(0)  # callers that read the file themselves expect to be at its start
        yield archive


def refuse_bomb(entries: Sequence[zipfile.ZipInfo], size_bytes: int, limits: ZipLimits) -> None:
    """Raises BadZipFile if the `entries` of an archive of `size_bytes` exceed `limits`, overlap, lack a name, or use an
    unusual compression method."""
    total = sum(entry.file_size for entry in entries)
    if len(entries) > limits.entries:
        raise zipfile.BadZipFile(f"it lists {len(entries):,} entries, more than {limits.entries:,}")
    if is_bomb(total, size_bytes, limits):
        raise zipfile.BadZipFile(f"it would unpack to {total:,} bytes, from {size_bytes:,}")
    if sum(entry.compress_size for entry in entries) > size_bytes:
        raise zipfile.BadZipFile("its entries overlap")
    if not all(entry.filename for entry in entries):
        raise zipfile.BadZipFile("an entry has no name")
    if odd := next((entry for entry in entries if entry.compress_type not in PLAIN), None):
        raise zipfile.BadZipFile(f"'{odd.filename}' uses compression method {odd.compress_type}")


def is_bomb(total: int, size_bytes: int, limits: ZipLimits) -> bool:
    """Whether an archive of `size_bytes` that unpacks to `total` bytes exceeds `limits`."""
    return total > limits.total_bytes or (total > UNSUSPICIOUS_BYTES and total > limits.ratio * size_bytes)


def _directory_bytes(file: IO[bytes], size_bytes: int) -> int:
    """Length of the list of entries (APPNOTE.TXT 4.3.14 and 4.3.16); Python reads all of it at once."""
    file.seek(max(0, size_bytes - END_BYTES))
    end = file.read()
    file.seek(0)
    found = end.rfind(b"PK\5\6")
    if found < 0 or len(end) - found < 22:
        return 0  # not an archive: zipfile reports it
    (length,) = struct.unpack_from("<I", end, found + 12)
    large = end.rfind(b"PK\6\6", 0, found)
    if large >= 0 and found - large >= 48:
        (length,) = struct.unpack_from("<Q", end, large + 40)
    return int(length)


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo | str) -> bytes:
    """The content of `entry`: never more than its header says, whatever the data expand to. Raises DAMAGE."""
    info = archive.getinfo(entry) if isinstance(entry, str) else entry
    content = bytearray()
    with archive.open(info) as stream:
        while chunk := stream.read(min(CHUNK_BYTES, info.file_size + 1 - len(content))):
            content += chunk
    if len(content) != info.file_size:
        raise zipfile.BadZipFile(f"the size of '{info.filename}' differs from its header")
    return bytes(content)


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
    info.external_attr = (LINK if isinstance(content, ZipLink) else REGULAR_FILE) << 16
    # With the size known in advance, the choice between the plain and the 64-bit header does not depend on the Python
    # version.
    content = content.target.encode() if isinstance(content, ZipLink) else content
    info.file_size = content.stat().st_size if isinstance(content, Path) else len(content)
    with archive.open(info, "w") as entry, _reader(content) as source:
        shutil.copyfileobj(source, entry, CHUNK_BYTES)


def is_link(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry that `write_zip` wrote is a link: its content is the link's target."""
    return entry.external_attr >> 16 == LINK


def unpack(archive: Path, folder: Path) -> None:
    """Extracts an archive with a single top-level folder to `folder`."""
    with zipfile.ZipFile(archive) as content:
        for entry in content.infolist():
            _, _, inside = entry.filename.partition("/")
            path = folder / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            if is_link(entry):
                host.link(path, content.read(entry).decode())
                continue
            with content.open(entry) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target, CHUNK_BYTES)


def _reader(content: bytes | Path) -> IO[bytes]:
    return content.open("rb") if isinstance(content, Path) else BytesIO(content)
