"""The graph of a fleet's tasks: what is done, after which others, and for which projects."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from packager.measuring.fleet.projects import FleetProject


class TaskKind(StrEnum):
    """A kind of task. Every one but the last puts results into the store that those after it find there."""

    PREPARE = "prepare"
    CALIBRATE = "calibrate"
    SCORE = "score"
    QUANTIZE = "quantize"
    PLAN = "plan"
    COMPARE = "compare"
    BUILD = "build"


@dataclass(frozen=True, kw_only=True)
class TaskWork:
    """The work of a task, as it travels to a worker: names, and nothing that is large."""

    kind: TaskKind
    project: FleetProject
    targets: tuple[str, ...] = ()
    """of the project"""
    model: str = ""
    variant: str = ""
    target: str = ""
    runner: str = ""
    method: str = ""
    """calibration method of a score"""
    share: tuple[int, int] | None = None
    """the layers of a score: share number, of how many"""
    shared: str = ""
    """key of a build in the store of several machines; empty if the build is not shared"""


@dataclass(frozen=True, kw_only=True)
class Task:
    key: str
    """the same for the same work, so that projects share it"""
    work: TaskWork
    after: tuple[str, ...] = ()
    """keys of tasks that must end first"""
    projects: tuple[str, ...] = ()
    """names of those that need it"""
    needs: Mapping[str, float] = field(default_factory=dict)
    """resource -> how much of it a worker must have"""

    @property
    def words(self) -> str:
        """`plan digits for android`"""
        work = self.work
        about = {
            TaskKind.PREPARE: work.model,
            TaskKind.CALIBRATE: f"{work.model} for {work.variant}",
            TaskKind.SCORE: f"{work.model} ({work.method or f'layers, share {(work.share or (0, 0))[0] + 1}'})",
            TaskKind.QUANTIZE: f"{work.model} as {work.variant}",
            TaskKind.PLAN: f"{work.model} for {work.target}",
            TaskKind.COMPARE: f"{work.model} on {work.runner}",
            TaskKind.BUILD: work.project.name,
        }
        return f"{work.kind} {about[work.kind]}"


class TaskGraph:
    """Tasks by key, in an order in which they can run."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def add(self, task: Task) -> str:
        """Adds a task, or its projects and needs to the same task of another project. Returns its key."""
        known = self._tasks.get(task.key)
        if known:
            needs = dict(known.needs)
            for name, amount in task.needs.items():
                needs[name] = max(needs.get(name, 0), amount)
            projects = tuple(dict.fromkeys((*known.projects, *task.projects)))
            self._tasks[task.key] = replace(known, projects=projects, needs=needs)
        else:
            missing = [key for key in task.after if key not in self._tasks]
            assert not missing, f"{task.key} runs after unknown tasks: {missing}"
            self._tasks[task.key] = task
        return task.key

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, key: str) -> Task:
        return self._tasks[key]

    def of(self, project: str) -> tuple[Task, ...]:
        return tuple(task for task in self if project in task.projects)

    def without(self, keys: Iterable[str]) -> "TaskGraph":
        """The graph without tasks whose results are known, and without those of no project that is left."""
        known = set(keys)
        left = TaskGraph()
        for task in self:
            if task.key not in known:
                left.add(replace(task, after=tuple(key for key in task.after if key not in known)))
        return left
