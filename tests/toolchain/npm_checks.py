"""Compilers and checkers of npm projects: what they say of a folder is kept by content, as compilations are.

For programs whose output is a function of the folder, of the locked packages that it links, and of their options.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from packager.files.hashes import sha256_of
from tests.toolchain import node, npm_packages
from tests.toolchain.kept import keep, place
from tests.toolchain.node import Finished

SAID = "said.json"
COMPILER = "typescript"
"""the locked project that has it"""
PLAIN = ("--pretty", "false")
LITTLE_WORK = {"GOGC": "400"}
"""It looks for memory to use again a quarter as often."""
COMPLAINT = re.compile(r"^(\S[^(\n]*\(\d+),\d+\): error TS", re.MULTILINE)
UPWARDS = re.compile(r"^(\.\./)+")
MISTAKE = re.compile(r"^\S[^(\n]*\(\d+,\d+\): error TS\d+", re.MULTILINE)
"""A complaint of TypeScript's about a place in a source: any other failure may be the machine's."""


class _FailedError(Exception):
    """Ends what is not to be kept."""

    def __init__(self, done: Finished) -> None:
        super().__init__(done.output)
        self.done = done


def check(project: str, name: str, *arguments: str, folder: Path) -> Finished:
    """Runs the command `name` of a locked project in `folder`, unless it is kept what it says of the same content."""
    root = node.project(project)
    known = place(f"npm-{name}", str(root), *arguments, *contents(folder))
    return _known(known, lambda: node.run([node.tool(root, name), *arguments], cwd=folder))


def compile_all(configs: Sequence[Path], made: str = "lib") -> list[Finished]:
    """Runs TypeScript's compiler on each of `configs`, as `tsc -p CONFIG` does beside it, unless that is kept.

    `made` is the folder beside each that it fills, where it emits anything.
    """
    compiler = typescript()
    return [
        _known(
            place("npm-tsc", str(compiler), config.name, *contents(config.parent)),
            partial(
                node.execute,
                [compiler, "-p", config.name, *PLAIN, "--singleThreaded"],
                cwd=config.parent,
                environment=LITTLE_WORK,
            ),
            folder=config.parent,
            made=made,
        )
        for config in configs
    ]


def complaints_of_6(config: Path) -> set[str]:
    """As `complaints`, of the last compiler that is JavaScript; it emits nothing."""
    program = node.tool(node.project("react_native"), "tsc")
    done = node.run([program, "-p", config.name, "--noEmit", *PLAIN], cwd=config.parent)
    assert bool(done.returncode) == bool(complaints(done)), done.output
    return complaints(done)


def complaints(done: Finished) -> set[str]:
    """Files and lines that a compiler of TypeScript complains about; versions differ in codes and words.

    Places outside the folder are named from the root: how many `..` lead there depends on where the folder was when
    this was kept.
    """
    return {UPWARDS.sub("/", each) for each in COMPLAINT.findall(done.stdout)}


def typescript() -> Path:
    """TypeScript's compiler, which is a program of the machine since version 7, and takes a sixth of the work of 6."""
    packages = node.project(COMPILER) / "node_modules" / "@typescript"
    return packages / f"typescript-{sys.platform}-{npm_packages.MACHINE}" / "lib" / "tsc"


def _known(known: Path, run: Callable[[], Finished], *, folder: Path = Path(), made: str = "") -> Finished:
    """The end of `run`, now or when it was kept; restores the folder `made` of `folder` that it filled, if any."""

    def make(empty: Path) -> None:
        done = run()
        if done.returncode and not MISTAKE.search(done.stdout):
            raise _FailedError(done)
        (empty / SAID).write_text(json.dumps(asdict(done)), encoding="utf-8")
        if made and (folder / made).is_dir():
            shutil.copytree(folder / made, empty / made)

    try:
        keep(known, make)
    except _FailedError as failed:
        return failed.done
    if made and (known / made).is_dir():
        shutil.copytree(known / made, folder / made, dirs_exist_ok=True)
    return Finished(**json.loads((known / SAID).read_text(encoding="utf-8")))


def contents(folder: Path, without: Sequence[str] = ()) -> Iterator[str]:
    """Every file below a folder with its content, and every link with its end: a package of a locked project, whose
    path names the lock. `without`: folders that do not count."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if Path(at, name).relative_to(folder).as_posix() not in without)
        for name in (*folders, *sorted(files)):
            path = Path(at, name)
            if path.is_symlink():
                yield f"{path.relative_to(folder)} -> {path.readlink()}"
            elif path.is_file():
                yield f"{path.relative_to(folder)} {sha256_of(path)}"
