"""Functions that simulate tasks of a fleet: workers import this module."""

import os
import signal
import sys
import time
from pathlib import Path

from packager.measuring.fleet.graph import Task
from packager.measuring.fleet.idle import is_idle
from packager.measuring.fleet.outcome import TaskOutcome, TaskState, Trouble, blocked

LARGE = 1000
"""A worker with this much memory is large enough."""


def run(task: Task, folder: str, memory: int, *before: TaskOutcome | tuple[int, int]) -> TaskOutcome:
    """Counts itself in `folder`, then does as the name of its model says."""
    for each in before:
        if isinstance(each, TaskOutcome) and not each.is_good:
            return blocked(task.key, each)
    what = task.work.model
    with Path(folder, f"{task.key}.txt").open("a") as file:
        file.write(f"{os.getpid()}\n")
    if what == "poison":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "slow":
        time.sleep(0.3)
    made: tuple[str, ...] = ()
    while what == "idle" and is_idle():
        made = ("score/made",)
        time.sleep(0.1)
    if what == "large" and memory < LARGE:
        return TaskOutcome(key=task.key, state=TaskState.FAILED, trouble=Trouble(message="memory"), is_over_memory=True)
    return TaskOutcome(key=task.key, state=TaskState.DONE, seconds=0.1, worker=str(os.getpid()), made=made)


def times(folder: Path, key: str) -> int:
    """How often a task ran."""
    path = folder / f"{key}.txt"
    return len(path.read_text().split()) if path.exists() else 0


def has_modules() -> bool:
    """Whether this process has what tasks of a fleet need, before it has run any."""
    return "packager.workflows.fleet.steps" in sys.modules
