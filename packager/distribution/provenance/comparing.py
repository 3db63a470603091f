"""Compares two folders of a release byte by byte, and says where a file first differs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from packager.core import parsing, user_files
from packager.core.errors import ToolError
from packager.distribution.release import OF_ONE_MACHINE
from packager.distribution.release.contents import digest_of, files_in, inside

ARCHIVES = (".aar", ".jar", ".zip", ".tgz")
"""Ends of the names of archives in a release."""
TEXT_BYTES = 64 << 20
"""Largest file that is looked into as text or JSON."""
SHOWN = 60
"""Characters of a value in words."""
NAMED = 3
"""Number of files of an archive in words."""


@dataclass(frozen=True, kw_only=True)
class FileDifference:
    """A file that is not the same in both folders."""

    path: str
    kind: Literal["changed", "missing", "added"]
    """`missing` from the release, `added` to it"""
    sha256: str = ""
    """in the release"""
    rebuilt_sha256: str = ""
    inside: tuple[str, ...] = ()
    """files of an archive that differ"""
    where: str = ""
    """the first place that differs, in words"""

    @property
    def sentence(self) -> str:
        if self.kind == "missing":
            return f"{self.path}: the rebuilt release has it, this one does not"
        if self.kind == "added":
            return f"{self.path}: a rebuilt release does not have it"
        return f"{self.path}: {self.where}" if self.where else f"{self.path}: other bytes"


@dataclass(frozen=True, kw_only=True)
class ComparedFolders:
    """Result of a comparison."""

    same: tuple[str, ...]
    """paths of equal files"""
    differences: tuple[FileDifference, ...]


def compare_folders(release: Path, rebuilt: Path) -> ComparedFolders:
    """Compares every file by sha256, but for the evidence of the machines that built them. Raises ToolError for a file
    that cannot be read."""
    here, there = _files(release), _files(rebuilt)
    same = tuple(name for name in sorted(here.keys() & there.keys()) if here[name] == there[name])
    return ComparedFolders(same=same, differences=tuple(_differences(release, rebuilt, here, there)))


def _files(folder: Path) -> Mapping[str, str]:
    """Digest of every file below `folder` by path; of a link, that of its target."""
    try:
        return {name: digest_of(folder / name) for name in files_in(folder) if name not in OF_ONE_MACHINE}
    except OSError as error:
        raise ToolError(
            f"cannot read {error.filename or folder}: {error.strerror}", hint="get the release again"
        ) from error


def _differences(
    release: Path, rebuilt: Path, here: Mapping[str, str], there: Mapping[str, str]
) -> Iterator[FileDifference]:
    for name in sorted(here.keys() | there.keys()):
        mine, other = here.get(name, ""), there.get(name, "")
        if mine == other:
            continue
        if not mine or not other:
            yield FileDifference(path=name, kind="added" if mine else "missing", sha256=mine, rebuilt_sha256=other)
            continue
        members, where = _looked_into(release / name, rebuilt / name)
        yield FileDifference(path=name, kind="changed", sha256=mine, rebuilt_sha256=other, inside=members, where=where)


def _looked_into(mine: Path, other: Path) -> tuple[tuple[str, ...], str]:
    """The files of an archive that differ, and where the file differs first, in words."""
    if mine.is_symlink() or other.is_symlink():
        return (), "a link, or to another place"
    if mine.name.endswith(ARCHIVES):
        return _in_archive(mine, other)
    if max(mine.stat().st_size, other.stat().st_size) > TEXT_BYTES:
        return (), ""
    first, second = (user_files.read(path, limit_bytes=TEXT_BYTES) for path in (mine, other))
    if mine.suffix == ".json":
        return (), _in_json(first, second) or _in_bytes(first, second)
    return (), _in_bytes(first, second)


def _in_archive(mine: Path, other: Path) -> tuple[tuple[str, ...], str]:
    try:
        first, second = inside(mine), inside(other)
    except ToolError as error:
        return (), error.message
    other_ones = [name for name in sorted(first.keys() | second.keys()) if first.get(name) != second.get(name)]
    if not other_ones:
        return (), "the same files, packed in another way"
    notes = {name: "" if name in first and name in second else _only(name in first) for name in other_ones}
    named = ", ".join(f"{name}{notes[name]}" for name in other_ones[:NAMED])
    count = len(other_ones)
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return tuple(map(str, other_ones)), f"in it {named}{more} {'differs' if count == 1 else 'differ'}"


def _only(is_here: bool) -> str:
    return " (only in this release)" if is_here else " (only in the rebuilt one)"


def _in_json(first: bytes, second: bytes) -> str:
    try:
        return _first(parsing.json_of(first), parsing.json_of(second), ())
    except (ValueError, RecursionError):
        return ""


def _first(mine: Any, other: Any, where: tuple[str, ...]) -> str:
    """The first key, in order, whose values differ; empty if there is none."""
    if isinstance(mine, dict) and isinstance(other, dict):
        for key in (*mine, *(key for key in other if key not in mine)):
            if key not in mine or key not in other:
                return f"{'.'.join((*where, key))} is {_only(key in mine).strip(' ()')}"
            if found := _first(mine[key], other[key], (*where, key)):
                return found
        return ""
    if isinstance(mine, list) and isinstance(other, list):
        return _first_of(mine, other, where)
    return "" if mine == other else f"{'.'.join(where)} is {_short(mine)}, rebuilt {_short(other)}"


def _first_of(mine: list[Any], other: list[Any], where: tuple[str, ...]) -> str:
    """Says where two lists differ, whose entries are keys 0, 1, ..."""
    pairs = enumerate(zip(mine, other, strict=False))
    found = next(filter(None, (_first(one, two, (*where, str(index))) for index, (one, two) in pairs)), "")
    if found or len(mine) == len(other):
        return found
    return f"{'.'.join(where)} has {len(mine)} entries, {len(other)} rebuilt"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _in_bytes(first: bytes, second: bytes) -> str:
    offset = next((index for index, (one, two) in enumerate(zip(first, second, strict=False)) if one != two), None)
    if offset is None:
        return f"{len(first):,} bytes, {len(second):,} rebuilt"
    if b"\0" in first[:8192] or b"\0" in second[:8192]:
        return f"the first other byte is at {offset:,} of {len(first):,}"
    lines = first.count(b"\n", 0, offset)
    return f"line {lines + 1} differs"
