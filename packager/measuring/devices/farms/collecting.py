"""Finds results in what a device farm gives back: files, archives and logs, however it nests and names them."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from packager.core import parsing
from packager.core.errors import ToolError
from packager.core.parsing import Json
from packager.files.zips import DAMAGE, RUNTIME, opened_zip
from packager.measuring.devices.farms.carrier import LARGEST, MARK, documents_in

FILE = "mobpack-results.json"
"""the name under which the app leaves its results in its own folder"""
ARCHIVE = ".zip"
DEEPEST = 3
"""archives in archives: a farm zips what a test has zipped"""
LOG_BYTES = 2**30
"""longest log that is read"""
LONGEST_LINE = 2**20
"""characters; a longer line is read in parts"""


@dataclass(frozen=True, kw_only=True)
class CollectedDocument:
    """One document of results."""

    place: str
    """file that had it, in archives as `a.zip/b/c.txt`"""
    document: Json


@dataclass
class Collected:
    results: list[CollectedDocument] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """what was there, and could not be used, in sentences"""
    files: int = 0
    """that were read"""


def collect(path: Path) -> Collected:
    """The results in a file, an archive or a folder. The same document counts once, where it was found first.

    Raises ToolError if there is no such file, or if nothing in it is a result.
    """
    if not path.exists():
        raise ToolError(f"{path} does not exist", hint="give the folder or archive that the farm has given back")
    collected = Collected()
    with tempfile.TemporaryDirectory() as scratch:
        seen: set[str] = set()
        for place, file in _files(path, Path(scratch), collected):
            collected.files += 1
            for document in _documents(place, file, collected):
                text = json.dumps(document, sort_keys=True)
                if text not in seen:
                    seen.add(text)
                    collected.results.append(CollectedDocument(place=place, document=document))
    if not collected.results:
        found = "; ".join((f"{collected.files} files were read", *collected.problems))
        raise ToolError(
            f"{path} has no results of mobpack: {found}",
            hint=f"have the farm pull {FILE} from the app's folder, or give its log, in which lines contain {MARK}",
        )
    return collected


def _files(path: Path, scratch: Path, collected: Collected) -> Iterator[tuple[str, Path]]:
    """Files that may hold results, those in archives unpacked into `scratch`, one at a time."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            place = file.relative_to(path).as_posix() if path.is_dir() else file.name
            yield from _unpacked(place, file, scratch, collected, DEEPEST)


def _unpacked(place: str, file: Path, scratch: Path, collected: Collected, depth: int) -> Iterator[tuple[str, Path]]:
    if PurePosixPath(place).suffix.lower() != ARCHIVE:
        yield place, file
        return
    if not depth:
        collected.problems.append(f"{place} is an archive in {DEEPEST} others")
        return
    try:
        with file.open("rb") as opened, opened_zip(opened, RUNTIME) as archive:
            for number, entry in enumerate(archive.infolist()):
                if entry.is_dir() or entry.file_size > LOG_BYTES:
                    continue
                copy = scratch / f"{depth}-{number}"
                with archive.open(entry) as source, copy.open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
                yield from _unpacked(f"{place}/{entry.filename}", copy, scratch, collected, depth - 1)
                copy.unlink()
    except DAMAGE as error:
        collected.problems.append(f"{place} is damaged: {error}")


def _documents(place: str, file: Path, collected: Collected) -> list[Json]:
    """The documents of one file: it is one, or has lines that carry some."""
    if PurePosixPath(place).name == FILE:
        content = file.read_bytes() if file.stat().st_size <= LARGEST else b""
        return [] if (document := _parsed(place, content, collected)) is None else [document]
    with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        complete, incomplete = documents_in(iter(lambda: lines.readline(LONGEST_LINE), ""))
    collected.problems += [f"{place}: results {each.crc} are incomplete, {each.reason}" for each in incomplete]
    parsed = (_parsed(place, content, collected) for content in complete)
    return [document for document in parsed if document is not None]


def _parsed(place: str, content: bytes, collected: Collected) -> Json | None:
    try:
        document = parsing.json_of(content)
    except (ValueError, RecursionError) as error:
        collected.problems.append(f"{place} is not JSON: {error}")
        return None
    if not isinstance(document, dict):
        collected.problems.append(f"{place} is not a document of results")
        return None
    return document
