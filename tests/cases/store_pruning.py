"""A store whose results were used at known times."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.files.store import Step, Store
from packager.files.store.index import INDEX

ONE, TWO = (Step(name=name, caller="packager.core.errors") for name in ("one", "two"))

HOUR_S = 60 * 60


def of_size(count: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "file").write_bytes(b"x" * count)

    return make


def used(made: Path, hours_ago: float) -> None:
    index = made.with_name(INDEX)
    os.utime(index, (time.time() - hours_ago * HOUR_S,) * 2)


def kept(store: Store, step: Step = ONE) -> list[int]:
    """Which of ten results exist; the question does not count as a use."""
    return [number for number in range(10) if (store.root / step.name / step.key(number)).exists()]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four results of 10 kB, used 5, 4, 3 and 2 hours ago."""
    store = Store(tmp_path)
    for number in range(4):
        used(store.results(ONE, number, of_size(10_000)), 5 - number)
    return store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache with the results of `store`, one of them damaged."""
    store = Store(tmp_path / "mobpack" / "store")
    for number in range(4):
        used(store.results(ONE, number, of_size(10_000)), 5 - number)
    (store.root / ONE.name / ONE.key(3) / "files" / "file").unlink()
    return tmp_path
