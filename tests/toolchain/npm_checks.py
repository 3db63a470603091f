"""Compilers and checkers of npm projects: what they say of a folder is kept by content, as compilations are.

For programs whose output is a function of the folder, of the locked packages that it links, and of their options.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

from packager.files.hashes import sha256_of
from tests.toolchain import node
from tests.toolchain.kept import FRESH, keep, place
from tests.toolchain.node import Finished

SAID = "said.json"
TSC = Path(__file__).with_name("tsc.cjs")
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


def compile_all(project: str, configs: Sequence[Path], made: str = "lib") -> list[Finished]:
    """Runs TypeScript's compiler of a locked project on each of `configs`, as `tsc -p CONFIG` does, all in one process.

    `made` is the folder beside each that it fills, where it emits anything. What is kept is not compiled again.
    """
    root = node.project(project)
    script = TSC.read_text(encoding="utf-8")
    places = [place("npm-tsc", str(root), script, each.name, *contents(each.parent)) for each in configs]
    is_fresh = bool(os.environ.get(FRESH))
    missing = [each for each, known in zip(configs, places, strict=True) if is_fresh or not known.is_dir()]
    compiled = cache(lambda: dict(zip(missing, _compiled(root, missing), strict=True)))
    return [
        _known(known, partial(_of_one, compiled, each), folder=each.parent, made=made)
        for each, known in zip(configs, places, strict=True)
    ]


def _of_one(compiled: Callable[[], Mapping[Path, Finished]], config: Path) -> Finished:
    return compiled()[config]


def _compiled(root: Path, configs: Sequence[Path]) -> list[Finished]:
    done = node.run([TSC, root / "node_modules" / "typescript", *(each.resolve() for each in configs)], cwd=root)
    assert done.returncode == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [Finished(each["status"], each["output"], "") for each in found]


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
