"""Shows how far a fleet is: a live table on a terminal, a line for each project elsewhere."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from packager.core.console import Console, escape, rich_console
from packager.measuring.fleet.graph import Task, TaskGraph, TaskKind
from packager.measuring.fleet.outcome import TaskOutcome, TaskState

ROWS = 20
"""Projects that the live table shows at once."""
TONES = {
    TaskState.DONE: "green",
    TaskState.KNOWN: "green",
    TaskState.FAILED: "red",
    TaskState.SKIPPED: "yellow",
    TaskState.BLOCKED: "red",
}


@dataclass(kw_only=True)
class Board:
    """The states of all tasks, by project."""

    graph: TaskGraph
    worker_count: int
    outcomes: dict[str, TaskOutcome] = field(default_factory=dict)
    running: frozenset[str] = frozenset()
    began: float = field(default_factory=time.monotonic)

    def cells(self, project: str, targets: Sequence[str]) -> list[tuple[str, str]]:
        """The words and tones in the row of a project, by column; the last column is the build."""
        tasks = self.graph.of(project)
        cells = []
        for target in targets:
            own = [task for task in tasks if task.work.target == target]
            build = [task for task in tasks if task.work.kind is TaskKind.BUILD and target in task.work.targets]
            cells.append(self._cell(own or build) if build else ("", ""))
        return [*cells, self._cell([task for task in tasks if task.work.kind is TaskKind.BUILD])]

    def _cell(self, tasks: Sequence[Task]) -> tuple[str, str]:
        ended = [self.outcomes[task.key] for task in tasks if task.key in self.outcomes]
        bad = next((each for each in ended if not each.is_good), None)
        if bad:
            return ("failed" if bad.state is TaskState.BLOCKED else str(bad.state)), TONES[bad.state]
        if len(ended) == len(tasks):
            return "done", "green"
        return ("running", "cyan") if any(task.key in self.running for task in tasks) else ("waits", "dim")

    def is_over(self, project: str) -> bool:
        return all(task.key in self.outcomes for task in self.graph.of(project))

    def eta_s(self) -> float | None:
        """Time that the tasks which have not ended will take, from those of their kind that have; None if unknown."""
        took: dict[TaskKind, list[float]] = {}
        left: list[TaskKind] = []
        for task in self.graph:
            outcome = self.outcomes.get(task.key)
            if outcome is None:
                left.append(task.work.kind)
            elif outcome.state is TaskState.DONE:
                took.setdefault(task.work.kind, []).append(outcome.seconds)
        every = [seconds for times in took.values() for seconds in times]
        if not every:
            return None
        mean = {kind: sum(times) / len(times) for kind, times in took.items()}
        usual = sum(every) / len(every)
        return sum(mean.get(kind, usual) for kind in left) / max(self.worker_count, 1)


def duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 5 min`"""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@dataclass(kw_only=True)
class Lines:
    """A line for each project that has ended: for logs."""

    board: Board
    console: Console
    projects: Sequence[str]
    _told: set[str] = field(default_factory=set)

    def ended(self, task: Task, outcome: TaskOutcome) -> None:
        self.board.outcomes[task.key] = outcome
        for project in task.projects:
            if project not in self._told and self.board.is_over(project):
                self._told.add(project)
                self.console.say(f"  [{len(self._told)}/{len(self.projects)}] {self._line(project)}")

    def _line(self, project: str) -> str:
        outcomes = [self.board.outcomes[task.key] for task in self.board.graph.of(project)]
        bad = next((each for each in outcomes if not each.is_good), None)
        seconds = sum(each.seconds for each in outcomes)
        if bad is None:
            left = self.board.eta_s()
            more = f"; {duration(left)} left" if left else ""
            return f"{project}: built in {duration(seconds)} of work{more}"
        word = "skipped" if bad.state is TaskState.SKIPPED else "failed"
        return f"{project}: {word}: {bad.trouble.message if bad.trouble else bad.state}"

    def tick(self, running: Sequence[str]) -> None:
        """Lines are written when something has ended."""


@dataclass(kw_only=True)
class LiveTable:
    """A table that is drawn anew: a row for each project, a column for each target."""

    board: Board
    projects: Sequence[str]
    targets: Sequence[str]
    live: Any
    """rich.live.Live"""

    def ended(self, task: Task, outcome: TaskOutcome) -> None:
        self.board.outcomes[task.key] = outcome
        self.live.update(self.table())

    def tick(self, running: Sequence[str]) -> None:
        self.board.running = frozenset(running)
        self.live.update(self.table())

    def table(self) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, pad_edge=False, caption=self._caption(), caption_justify="left")
        for column in ("project", *self.targets, "package"):
            table.add_column(column, no_wrap=True)
        for project in self._shown():
            cells = self.board.cells(project, self.targets)
            table.add_row(escape(project), *(f"[{tone}]{word}[/{tone}]" if tone else word for word, tone in cells))
        return table

    def _shown(self) -> list[str]:
        """Tasks that are not over, then the last ones that are."""
        open_ones = [each for each in self.projects if not self.board.is_over(each)]
        over = [each for each in self.projects if self.board.is_over(each)]
        rows = open_ones[:ROWS]
        return [*over[-max(0, ROWS - len(rows)) :], *rows] if len(rows) < ROWS else rows

    def _caption(self) -> str:
        board = self.board
        over = sum(map(board.is_over, self.projects))
        left = board.eta_s()
        eta = f", about {duration(left)} left" if left else ""
        return (
            f"{over} of {len(self.projects)} projects, {len(board.outcomes)} of {len(board.graph)} tasks, "
            f"{duration(time.monotonic() - board.began)}{eta}"
        )


def is_live() -> bool:
    return rich_console(stderr=True).is_terminal
