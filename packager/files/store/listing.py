"""The list of a result's files, as it travels between machines: names, sizes and sha256, and small files themselves.

A list is untrusted when it arrives: `parsed` accepts only what names plain files inside one folder, below fixed limits.
"""

import base64
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

from packager.core import parsing, user_files
from packager.files.hashes import known_sha256

FORMAT = "mobpack-cache-1"
MAX_LISTING_BYTES = 8 << 20
MAX_RESULT_BYTES = 8 << 30
"""Largest result that travels: twice the largest model that an Android app can have."""
MAX_FILES = 20_000
MAX_PATH_BYTES, MAX_NAME_BYTES, MAX_FOLDERS = 1000, 240, 32
"""Longest path in a result, longest name in it, and most folders in each other: all systems have such files."""
SMALL_BYTES = 256 << 10
"""Files up to this size travel together, as one object."""
MAX_PACK_BYTES = 64 << 20
INLINE_BYTES = 64 << 10
"""Small files that are together up to this size travel in the list itself."""
HEX = frozenset("0123456789abcdef")


class UnusableError(Exception):
    """A result that arrived is not what it should be. The message says why."""


@dataclass(frozen=True, kw_only=True)
class StoredResultFile:
    """One file of a result."""

    name: str
    """its path in the result, with slashes"""
    size_bytes: int
    sha256: str
    is_program: bool = False
    """whether the file's owner may execute it"""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The files of a result, by name."""

    step: str
    key: str
    files: tuple[StoredResultFile, ...]
    pack: str = ""
    """sha256 of the small files one after the other, if they are an object of their own"""
    inline: bytes | None = None
    """the small files one after the other, if they are in the list"""

    def small(self) -> tuple[StoredResultFile, ...]:
        return tuple(each for each in self.files if each.size_bytes <= SMALL_BYTES)

    def large(self) -> tuple[StoredResultFile, ...]:
        return tuple(each for each in self.files if each.size_bytes > SMALL_BYTES)

    def pack_bytes(self) -> int:
        return sum(each.size_bytes for each in self.small())

    def size_bytes(self) -> int:
        return sum(each.size_bytes for each in self.files)


def listing_of(step: str, key: str, folder: Path) -> Listing | None:
    """The list of the files in `folder`; None for a result that does not travel: one with links, with empty folders,
    with names that another system refuses, or a very large one."""
    files = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not _is_plain(name):
            return None
        if path.is_dir():
            if not any(path.iterdir()):
                return None
            continue
        status = path.stat()
        is_program = bool(status.st_mode & stat.S_IXUSR)
        files.append(
            StoredResultFile(name=name, size_bytes=status.st_size, sha256=known_sha256(path), is_program=is_program)
        )
    listing = Listing(step=step, key=key, files=tuple(files))
    pack = packed(listing, folder) if listing.pack_bytes() <= MAX_PACK_BYTES else b""
    if len(pack) <= INLINE_BYTES:
        listing = replace(listing, inline=pack)
    else:
        listing = replace(listing, pack=hashlib.sha256(pack).hexdigest())
    try:
        _refuse_impossible(listing)
    except UnusableError:
        return None
    return listing


def packed(listing: Listing, folder: Path) -> bytes:
    """The small files of `folder`, one after the other."""
    limits = ((folder / each.name, each.size_bytes) for each in listing.small())
    return b"".join(user_files.read(path, limit_bytes=size_bytes) for path, size_bytes in limits)


def unpacked(listing: Listing, pack: bytes) -> Iterator[tuple[StoredResultFile, bytes]]:
    """The small files in `pack`. Raises UnusableError if one is not what the list says."""
    files = listing.small()
    if len(pack) != listing.pack_bytes():
        raise UnusableError(f"its small files have {len(pack)} bytes of {listing.pack_bytes()}")
    for each, end in zip(files, accumulate(each.size_bytes for each in files), strict=True):
        content = pack[end - each.size_bytes : end]
        if hashlib.sha256(content).hexdigest() != each.sha256:
            raise UnusableError(f"{each.name} has another sha256 than is listed")
        yield each, content


def written(listing: Listing) -> bytes:
    """The list as canonical JSON."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "step": listing.step,
        "key": listing.key,
        "files": [
            [each.name, each.size_bytes, each.sha256, *(["x"] if each.is_program else [])] for each in listing.files
        ],
    }
    if listing.inline is not None:
        document["inline"] = base64.b64encode(listing.inline).decode("ascii")
    elif listing.pack:
        document["pack"] = listing.pack
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def parsed(content: bytes, step: str, key: str) -> Listing:
    """The list in `content`, which must be of the result `key` of `step`. Raises UnusableError for anything else."""
    try:
        document = parsing.json_of(content)
        if document["format"] != FORMAT:
            raise UnusableError(f"it has the format {str(document['format'])[:40]!r}, not {FORMAT}")
        if (document["step"], document["key"]) != (step, key):
            raise UnusableError("it is the result of something else")
        inline = document.get("inline")
        listing = Listing(
            step=step,
            key=key,
            files=tuple(_listed(each) for each in document["files"]),
            pack=_sha256(document["pack"]) if "pack" in document else "",
            inline=None if inline is None else base64.b64decode(inline, validate=True),
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise UnusableError("its list of files is damaged") from error
    _refuse_impossible(listing)
    return listing


def _refuse_impossible(listing: Listing) -> None:
    names = [each.name for each in listing.files]
    if len(names) > MAX_FILES or listing.size_bytes() > MAX_RESULT_BYTES:
        raise UnusableError(f"it has {len(names)} files with {listing.size_bytes()} bytes, which is too large")
    if listing.pack_bytes() > MAX_PACK_BYTES:
        raise UnusableError(f"it has {listing.pack_bytes()} bytes in small files, which is too large")
    folders = {parent.as_posix() for name in names for parent in PurePosixPath(name).parents}
    if len({name.casefold() for name in names}) < len(names) or folders & set(names):
        raise UnusableError("it lists two files at the same place")
    if not listing.pack and listing.inline is None and listing.small():
        raise UnusableError("its small files are missing")


def _listed(entry: Sequence[Any]) -> StoredResultFile:
    name, size_bytes, sha256, *rest = entry
    if not isinstance(name, str) or not _is_plain(name):
        raise UnusableError(f"it names the file {str(name)[:100]!r}, which would lie outside of it, or too deep in it")
    if not isinstance(size_bytes, int) or isinstance(size_bytes, bool) or size_bytes < 0 or rest not in ([], ["x"]):
        raise ValueError("size")
    return StoredResultFile(name=name, size_bytes=size_bytes, sha256=_sha256(sha256), is_program=bool(rest))


def _sha256(text: Any) -> str:
    if not isinstance(text, str) or len(text) != 64 or not set(text) <= HEX:
        raise ValueError("sha256")
    return text


def _is_plain(name: str) -> bool:
    """Whether a path stays in its folder, on every system."""
    path = PurePosixPath(name)
    parts = name.split("/")
    is_inside = bool(name) and not path.is_absolute() and not {"..", "."} & set(parts)
    is_one = path.as_posix() == name and not any(each in name for each in "\\:\0") and name.isprintable()
    return is_inside and is_one and _is_short(parts)


def _is_short(parts: Sequence[str]) -> bool:
    sizes = [len(each.encode()) for each in parts]
    return max(sizes) <= MAX_NAME_BYTES and sum(sizes) + len(sizes) <= MAX_PATH_BYTES and len(sizes) <= MAX_FOLDERS


def put(folder: Path, file: StoredResultFile, content: bytes) -> None:
    """Writes a small file that has arrived."""
    path = folder / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    allow(path, file)


def allow(path: Path, file: StoredResultFile) -> None:
    """Lets the owner of a file that has arrived execute it, if it is listed so."""
    if file.is_program and os.name == "posix":
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
