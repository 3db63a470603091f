"""Runs a program on many folders, a few processes for all of them: one that dies takes nothing but its own case along.

The program prints a line of JSON with the `case` for each folder it is given, in order. Where it dies before it has
said something of a folder, that folder is tried once more alone, and the rest goes on in a new process. Each answer is
kept in a file as it comes: a run that was stopped goes on where it was.
"""

import json
import random
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

PER_PROCESS = 192
"""Starting a process takes as long as dozens of cases."""
Answer = dict[str, Any]


def answers(
    command: Sequence[object],
    folders: Sequence[Path],
    kept: Path,
    *,
    environment: Mapping[str, str],
    jobs: int,
    judge: Callable[[Answer], Answer] = dict,
) -> dict[str, Answer]:
    """Name of a folder -> what `judge` makes of the program's answer for it, or of `{"crashed": how}`. Those in the
    file `kept` are not asked for again; without `jobs`, they are all that there is. The order is random, so that those
    of a run that was stopped are a fair sample."""
    known = _read(kept)
    waiting = [each for each in folders if each.name not in known] if jobs else []
    random.Random(len(waiting)).shuffle(waiting)
    pieces = [waiting[start : start + PER_PROCESS] for start in range(0, len(waiting), PER_PROCESS)]
    lock = Lock()

    def run(piece: Sequence[Path]) -> None:
        for answer in _survived(command, piece, environment):
            judged = judge(answer)
            with lock, kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(judged) + "\n")

    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        list(pool.map(run, pieces))
    found = _read(kept)
    return {each.name: found[each.name] for each in folders if each.name in found}


def _read(kept: Path) -> dict[str, Answer]:
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.is_file() else []
    return {answer["case"]: answer for answer in map(json.loads, lines)}


def _survived(command: Sequence[object], folders: Sequence[Path], environment: Mapping[str, str]) -> Iterator[Answer]:
    waiting = list(folders)
    while waiting:
        for answer in _Started(command, waiting, environment):
            waiting = waiting[1:]
            yield answer
        if waiting:
            suspect, *waiting = waiting
            alone = _Started(command, [suspect], environment)
            yield next(iter(list(alone)), {"case": suspect.name, "crashed": alone.death})


class _Started:
    """The answers of a process as they come; then how it died, empty if it did not."""

    def __init__(self, command: Sequence[object], folders: Sequence[Path], environment: Mapping[str, str]) -> None:
        self._command = [*map(str, command), *map(str, folders)]
        self._environment = dict(environment)
        self.death = ""

    def __iter__(self) -> Iterator[Answer]:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
            with subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                encoding="utf-8",
                env=self._environment,
            ) as process:
                assert process.stdout
                for line in process.stdout:
                    if line.startswith('{"case"'):
                        yield json.loads(line)
            complaints.seek(0)
            self.death = _death(process.returncode, complaints.read())


def _death(code: int, complaints: str) -> str:
    if code < 0:
        name = signal.Signals(-code).name
        return "it took too long" if name == "SIGALRM" else name
    lines = [line for line in complaints.splitlines() if line.strip()]
    return lines[-1] if lines else f"it ended with {code}"
