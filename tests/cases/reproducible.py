"""Builds in another folder, with another hash seed, time zone or system, and their files."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from packager.files.hashes import sha256_of
from tests.toolchain import command

Row = TypeVar("Row")
Built = TypeVar("Built")


def beside_each_other(build: Callable[[Row], Built], rows: Sequence[Row]) -> list[Built]:
    """`build` of each row, all at the same time: the programs that they start need more than one core."""
    with ThreadPoolExecutor(len(rows)) as pool:
        return list(pool.map(build, rows))


def run(*arguments: str, folder: Path, environment: Mapping[str, str]) -> None:
    done = command.run(*arguments, folder=folder, environment=environment)
    assert done.returncode == 0, done.stderr


def contents(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}
