"""Caches and folders that others can write to: unfinished files, releases that were changed, servers that lie."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.abuse.command import Place
from benchmarks.abuse.result import Result
from packager.core.errors import MobpackError
from packager.files.atomic import atomic_file, atomic_files

Case = Callable[[Path], str]
"""Gets an empty folder, and returns the fault; empty if there is none."""


def attack(place: Place) -> Iterator[Result]:
    yield held("unfinished files", place, UNFINISHED)


def held(title: str, place: Place, cases: dict[str, Case]) -> Result:
    """Runs every case in a folder of its own."""
    exceptions = []
    for number, (name, case) in enumerate(cases.items()):
        folder = place.folder / f"{title.split()[0]}-{number}"
        folder.mkdir()
        try:
            fault = case(folder)
        except MobpackError as error:
            fault = error.message
        if fault:
            exceptions.append(f"{name}: {fault}")
    return Result(attack=title, tries=len(cases), exceptions=tuple(exceptions))


def _write(folder: Path) -> None:
    with atomic_file(folder / "out") as file:
        file.write(b"whole")


def _write_files(folder: Path) -> None:
    with atomic_files(folder) as unfinished:
        (unfinished / "out").write_bytes(b"whole")


def _planted(write: Callable[[Path], None]) -> Case:
    """Links under every name that the process could be expected to take, and one under the final name."""

    def case(folder: Path) -> str:
        victim = folder / "victim"
        victim.write_bytes(b"precious")
        for name in (f".out.{os.getpid()}.unfinished", ".out.unfinished", "out.part", ".mobpack-0.unfinished", "out"):
            (folder / name).symlink_to(victim)
        write(folder)
        is_safe = victim.read_bytes() == b"precious" and (folder / "out").read_bytes() == b"whole"
        return "" if is_safe else "a link was followed"

    return case


def _killed(write: Callable[[Path], None]) -> Case:
    """A fork that is killed while it writes, and then another write."""

    def case(folder: Path) -> str:
        process = os.fork()
        if process == 0:
            with atomic_file(folder / "out") as file, atomic_files(folder) as unfinished:
                file.write(b"half")
                (unfinished / "out").write_bytes(b"half")
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(process, 0)
        if (folder / "out").exists():
            return "half a file has its name"
        write(folder)
        left = [path.name for path in folder.iterdir() if path.name != "out"]
        return f"left {', '.join(left)}" if left else ""

    return case


UNFINISHED: dict[str, Case] = {
    "links where a file is written": _planted(_write),
    "links where files are written": _planted(_write_files),
    "killed, then a file": _killed(_write),
    "killed, then files": _killed(_write_files),
}
