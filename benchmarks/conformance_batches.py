"""Runs a program on many folders, a few processes for all of them: one that dies takes nothing but its own case along.

The program prints a line of JSON with the `case` for each folder it is given, in order. Where it dies before it has
said something of a folder, that folder is tried once more alone, and the rest goes on in a new process.
"""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

PER_PROCESS = 192
"""Starting a process takes as long as dozens of cases."""
Answer = dict[str, Any]


def answers(
    command: Sequence[object], folders: Sequence[Path], *, environment: Mapping[str, str], jobs: int
) -> dict[str, Answer]:
    """Name of a folder -> the program's answer for it, or `{"crashed": how}`."""
    pieces = [folders[start : start + PER_PROCESS] for start in range(0, len(folders), PER_PROCESS)]

    def of_piece(piece: Sequence[Path]) -> dict[str, Answer]:
        return dict(_survived(lambda some: _started(command, some, environment), piece))

    with ThreadPoolExecutor(jobs) as pool:
        return {name: answer for found in pool.map(of_piece, pieces) for name, answer in found.items()}


Start = Callable[[Sequence[Path]], tuple[list[Answer], str]]
"""Runs a process on folders: its answers, and how it died; empty if it did not."""


def _survived(start: Start, folders: Sequence[Path]) -> Iterator[tuple[str, Answer]]:
    waiting = list(folders)
    while waiting:
        said, death = start(waiting)
        yield from ((answer["case"], answer) for answer in said)
        waiting = waiting[len(said) :]
        if waiting:
            suspect, *waiting = waiting
            yield suspect.name, _alone(start, suspect, death)


def _alone(start: Start, folder: Path, death: str) -> Answer:
    """The program's answer for `folder`, run in a process of its own; how it died if it dies again."""
    said, again = start([folder])
    return said[0] if said else {"case": folder.name, "crashed": again or death}


def _started(
    command: Sequence[object], folders: Sequence[Path], environment: Mapping[str, str]
) -> tuple[list[Answer], str]:
    done = subprocess.run(
        [*map(str, command), *map(str, folders)], capture_output=True, text=True, check=False, env=dict(environment)
    )
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
    return said, _death(done) if len(said) < len(folders) else ""


def _death(done: "subprocess.CompletedProcess[str]") -> str:
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return "it took too long" if name == "SIGALRM" else name
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"it ended with {done.returncode}"
