"""Finds the sample files in a folder."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packager.core import user_files
from packager.core.errors import ConfigError

Kind = Literal["arrays", "images", "sounds", "texts"]

KINDS: dict[str, Kind] = {
    ".npz": "arrays",
    ".npy": "arrays",
    ".png": "images",
    ".jpg": "images",
    ".jpeg": "images",
    ".webp": "images",
    ".bmp": "images",
    ".wav": "sounds",
}
"""file suffix in lower case -> kind of samples"""
TEXTS = ".txt"
"""suffix of files with texts; beside other files such a file is a note or a list of labels"""
CONVERSATION = ".json"
"""suffix of files with the messages of a conversation"""

HINT = (
    "give .npz files (numpy.savez), images (.png .jpg .webp .bmp), .wav files, or .txt files with a text in each line, "
    "or .json files with a conversation"
)


@dataclass(frozen=True, kw_only=True)
class SampleFiles:
    """Files of one kind, in order."""

    kind: Kind
    root: Path
    paths: tuple[Path, ...]

    def label(self, path: Path) -> str:
        """Name of a file in messages: its path within the folder."""
        return path.name if path == self.root else path.relative_to(self.root).as_posix()


def find(root: Path) -> SampleFiles:
    """The samples in a folder and its subfolders, or the single file. Raises ConfigError if there are none, or several
    kinds.

    Hidden files are ignored: other systems leave them beside images.
    """
    found = _below(root) if root.is_dir() else [root]
    usable = [path for path in found if path.suffix.lower() in KINDS]
    counts = Counter(KINDS[path.suffix.lower()] for path in usable)
    if found and all(path.suffix.lower() in (TEXTS, CONVERSATION) for path in found):
        return SampleFiles(kind="texts", root=root, paths=tuple(found))
    if not usable:
        raise ConfigError(f"no samples in {root}: it {_endings(found)}", hint=HINT)
    if len(counts) > 1:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        raise ConfigError(f"{root} holds samples of several kinds: {listed}", hint="keep one kind in a folder")
    return SampleFiles(kind=next(iter(counts)), root=root, paths=tuple(usable))


def _endings(paths: list[Path]) -> str:
    if not paths:
        return "is empty"
    counts = Counter(path.suffix.lower() or "without ending" for path in paths)
    return "holds " + ", ".join(f"{count} {ending}" for ending, count in counts.most_common(5))


def _below(root: Path) -> list[Path]:
    found: list[Path] = []
    known: set[tuple[int, int]] = set()
    waiting: list[tuple[Path, frozenset[tuple[int, int]]]] = [(root, frozenset())]
    while waiting:
        folder, above = waiting.pop()
        identity = _identity(folder)
        if identity in above:
            raise ConfigError(f"{folder} is a link to one of its parent folders", hint="remove the link")
        if identity in known:  # two links to one folder: count its files once
            continue
        known.add(identity)
        for path, is_folder in _entries(folder):
            if is_folder:
                waiting.append((path, above | {identity}))
            else:
                found.append(path)
    return sorted(found)


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _entries(folder: Path) -> Iterator[tuple[Path, bool]]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted((entry.name, _is_folder(entry)) for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be read ({error.strerror})", hint="check its permissions") from error
    return ((folder / name, is_folder) for name, is_folder in listed)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself counts as a file, whose reading will fail
        return False


def size_of(path: Path) -> int:
    """Size in bytes. Raises ConfigError unless the path is a regular file: reading a pipe could block forever."""
    try:
        return user_files.size_of(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})", hint="replace or remove it") from error
