"""The index of a stored result: size and sha256 of each of its files, to detect damage."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packager.core import parsing, user_files
from packager.files import host
from packager.files.hashes import known_sha256

FILES = "files"
"""Folder of an entry with the result."""
MAX_INDEX_BYTES = 64 << 20
INDEX = "index.json"
"""File of an entry, beside that folder."""


def write_index(entry: Path) -> None:
    """Writes the index of the files in `entry`, and syncs all of `entry` to the disk."""
    found: dict[str, Any] = {"files": {}, "links": {}}
    for child in sorted(_below(entry / FILES), key=lambda each: each.path):
        path = Path(child.path)
        name = path.relative_to(entry / FILES).as_posix()
        if child.is_symlink():
            found["links"][name] = str(path.readlink())
        elif child.is_dir():
            host.sync(path)
        else:
            found["files"][name] = [path.stat().st_size, known_sha256(path)]
            host.sync(path)
    (entry / INDEX).write_text(json.dumps(found), encoding="utf-8", newline="\n")
    for path in (entry / INDEX, entry / FILES, entry):
        host.sync(path)


def damage_of(entry: Path) -> str:
    """Difference between an entry and its index, in words; empty if there is none.

    Files are read once per process, unless they look different later.
    """
    try:
        index = parsing.json_of(user_files.read(entry / INDEX, limit_bytes=MAX_INDEX_BYTES))
        known = {**index["files"], **index["links"]}
        found = {Path(child.path).relative_to(entry / FILES).as_posix(): child for child in _below(entry / FILES)}
        for name, child in found.items():
            if name not in known and not (child.is_dir() and not child.is_symlink()):
                return f"{name} does not belong there"
        return next((f"{name} {words}" for name in known if (words := _difference(entry, name, index))), "")
    except FileNotFoundError as error:
        return f"{Path(error.filename).name} is missing"
    except OSError as error:
        return f"{Path(error.filename or entry).name} cannot be read: {error.strerror}"
    except parsing.DAMAGE:
        return f"{INDEX} is not what was written"


def _difference(entry: Path, name: str, index: dict[str, Any]) -> str:
    """Difference between the file or link `name` and `index`, in words; empty if there is none."""
    path = entry / FILES / name
    if name in index["links"]:
        is_same = path.is_symlink() and str(path.readlink()) == index["links"][name]
        return "" if is_same else "is a different link"
    size_bytes, sha256 = index["files"][name]
    if path.is_symlink() or not path.is_file():
        return "is not a file" if os.path.lexists(path) else "is missing"
    if path.stat().st_size != size_bytes:
        return f"has {path.stat().st_size} bytes of {size_bytes}"
    return "" if known_sha256(path) == sha256 else "has changed"


def _below(folder: Path) -> "Iterator[os.DirEntry[str]]":
    """Everything below `folder`; links are not followed."""
    with os.scandir(folder) as children:
        for child in children:
            yield child
            if child.is_dir(follow_symlinks=False):
                yield from _below(Path(child.path))
