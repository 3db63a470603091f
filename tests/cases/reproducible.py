"""Builds in another folder, with another hash seed, time zone or system, and their files."""

from collections.abc import Mapping
from pathlib import Path

from packager.files.hashes import sha256_of
from tests.toolchain import command


def run(*arguments: str, folder: Path, environment: Mapping[str, str]) -> None:
    done = command.run(*arguments, folder=folder, environment=environment)
    assert done.returncode == 0, done.stderr


def contents(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}
