"""Lists the store's content, and removes the least recently used results when it is too large."""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packager.files.store.index import FILES, INDEX
from packager.files.store.store import GRACE_S, SCRATCH, Store

MAX_BYTES = 20_000_000_000
"""Size of the store after a build, unless the user sets another."""
EVERY_S = 600
"""Time between two looks at the whole store by `prune_at_times`: thousands of results take a quarter of a second."""
PRUNED = ".pruned"
"""Name of an empty file in the store: when `prune_at_times` looked last."""
NO_STEPS = (SCRATCH, "unfinished")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One stored result."""

    path: Path
    size_bytes: int
    """on the disk; a file shared with a more recently used entry counts only there"""
    used_s: float
    """time of the last use, in seconds since 1970"""

    @property
    def step(self) -> str:
        return self.path.parent.name

    @property
    def key(self) -> str:
        return self.path.name


def entries(store: Store) -> tuple[Entry, ...]:
    """Every result, the least recently used first."""
    folders = [each for each in _folders(store.root) if not each.name.startswith(".") and each.name not in NO_STEPS]
    found = [entry for step in folders for path in _folders(step) if (entry := _entry(path))]
    seen: set[tuple[int, int]] = set()
    newest_first = sorted(found, key=lambda each: (-each.used_s, each.path))
    return tuple(replace(each, size_bytes=_size(each.path, seen)) for each in newest_first)[::-1]


def prune(store: Store, *, max_bytes: int | None = MAX_BYTES, max_age_s: float | None = None) -> tuple[Entry, ...]:
    """Removes results that were not used for `max_age_s`, then the least recently used until `max_bytes` are left.

    Keeps results of the last hour, and those that a running build may have used. Returns the removed ones.
    """
    known = entries(store)
    now, left = time.time(), sum(each.size_bytes for each in known)
    removed = []
    for entry in known:
        is_old = max_age_s is not None and now - entry.used_s > max_age_s
        is_too_much = max_bytes is not None and left > max_bytes
        if (is_old or is_too_much) and store.remove(entry.path, unless_used_since=store.oldest_use() - GRACE_S):
            removed.append(entry)
            left -= entry.size_bytes
    return tuple(removed)


def prune_at_times(store: Store, *, max_bytes: int = MAX_BYTES) -> tuple[Entry, ...]:
    """Does what `prune` does, at the end of a command; nothing within EVERY_S of the last time."""
    last = store.root / PRUNED
    with contextlib.suppress(FileNotFoundError):
        if 0 <= time.time() - last.stat().st_mtime < EVERY_S:
            return ()
    last.touch()
    return prune(store, max_bytes=max_bytes)


def verify(store: Store) -> Iterator[tuple[Entry, str]]:
    """Compares every result with its index and removes damaged ones: yields each with a description of the damage.

    Results of earlier versions of mobpack have no index; nothing reads them, and `prune` removes them in time.
    """
    for entry in entries(store):
        has_index = (entry.path / INDEX).exists() or (entry.path / FILES).exists()
        if has_index and (damage := store.remove_if_damaged(entry.path)):
            yield entry, damage


def _folders(folder: Path) -> Sequence[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ()


def _entry(path: Path) -> Entry | None:
    """The entry at `path`; None if another process removes it in the meantime."""
    with contextlib.suppress(FileNotFoundError):
        index = path / INDEX
        return Entry(path=path, size_bytes=0, used_s=(index if index.exists() else path).stat().st_mtime)
    return None


def _size(path: Path, seen: set[tuple[int, int]]) -> int:
    """Size of the files below `path` that are not in `seen` yet: entries share files by hard links."""
    size = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(os.path.join(folder, name))  # noqa: PTH118 (os.walk gives strings)
                size += 0 if (status.st_dev, status.st_ino) in seen else status.st_size
                seen.add((status.st_dev, status.st_ino))
    return size
