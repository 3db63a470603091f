"""How a task ended."""

from dataclasses import dataclass
from enum import StrEnum


class TaskState(StrEnum):
    DONE = "done"
    KNOWN = "known"
    """its result was there already"""
    FAILED = "failed"
    SKIPPED = "skipped"
    """no worker can do it"""
    BLOCKED = "blocked"
    """a task before it has not succeeded"""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Why a task failed, as `mobpack build` would have said it."""

    message: str
    hint: str = ""
    exit_code: int = 70


@dataclass(frozen=True, kw_only=True)
class TaskOutcome:
    key: str
    state: TaskState
    seconds: float = 0.0
    """on the worker"""
    worker: str = ""
    made: tuple[str, ...] = ()
    """`step/key` of the results that it computed; others were in the store"""
    asked: tuple[str, ...] = ()
    """`score/key` of the evaluations that a search asked for"""
    warnings: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    """warnings about its machine and the cache"""
    trouble: Trouble | None = None
    is_over_memory: bool = False
    """whether it was ended because it took more memory than its worker has"""
    peak_bytes: int = 0
    """largest memory of the worker and its programs while it ran; 0 if unknown"""

    @property
    def is_good(self) -> bool:
        return self.state in (TaskState.DONE, TaskState.KNOWN)


def blocked(key: str, before: TaskOutcome) -> TaskOutcome:
    """The outcome of a task that cannot begin: for the same reason as the one before it."""
    state = TaskState.SKIPPED if before.state is TaskState.SKIPPED else TaskState.BLOCKED
    return TaskOutcome(key=key, state=state, trouble=before.trouble, is_over_memory=before.is_over_memory)
