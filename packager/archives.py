"""Writes zip archives whose bytes depend on nothing but the names and bytes inside; what damaged ones raise."""

import lzma
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from packager.atomic import atomic_file

# The first date a zip entry can carry; Gradle and the Kotlin compiler write the same one.
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
UNIX = 3
REGULAR_FILE = 0o100644
PIECE_BYTES = 1 << 20
DAMAGE = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)
"""What torn, encrypted and made-up files make zipfile and numpy raise."""

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
        shutil.copyfileobj(source, entry, PIECE_BYTES)


def is_link(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry that `write_zip` wrote is a link: its content is where it points."""
    return entry.external_attr >> 16 == LINK


def _reader(content: bytes | Path) -> IO[bytes]:
    return content.open("rb") if isinstance(content, Path) else BytesIO(content)
