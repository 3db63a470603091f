"""Runs a graph on a cluster: every task ends with an outcome, whatever happens to workers and scheduler."""

import queue
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from packager.core.errors import ToolError
from packager.measuring.fleet.cluster import RETURN_S, Cluster, annotated, library
from packager.measuring.fleet.graph import Task, TaskGraph, TaskKind
from packager.measuring.fleet.outcome import TaskOutcome, TaskState, Trouble, blocked
from packager.measuring.fleet.resources import Worker, able, largest, why_none

TICK_S = 0.5
ABSENT_S = 60
"""Time in which nothing runs after which a run gives up."""
GATHER_S = 5
"""Time in which a worker hands over the few words of an outcome."""
CRASH_HINT = "the worker's process ended each time: build that project alone to see why"

Run = Callable[..., TaskOutcome]
"""A function of a task, more arguments, and the outcomes of the tasks before it; it runs on a worker."""


class Progress(Protocol):
    def ended(self, task: Task, outcome: TaskOutcome) -> None: ...

    def tick(self, running: Sequence[str]) -> None:
        """Is called now and then, with the keys of the tasks that run."""
        ...


@dataclass(kw_only=True)
class GraphRuns:
    """One run of a graph."""

    cluster: Cluster
    workers: Sequence[Worker]
    run: Run
    progress: Progress
    arguments: Callable[[Task], tuple[object, ...]]
    """more arguments of `run` for a task"""
    say: Callable[[str], None] = lambda text: None
    refresh: Callable[[], Sequence[Worker]] = tuple
    """the workers that are there now; none if that is not known"""
    idle: Callable[[Collection[str], Collection[str]], None] = lambda running, idle: None
    """gets the keys of the tasks that run, and the addresses of workers that have nothing to do"""
    outcomes: dict[str, TaskOutcome] = field(default_factory=dict)
    """of tasks that have ended, by key"""
    restarts: int = 0
    """how often the scheduler was lost"""
    _futures: dict[str, Any] = field(default_factory=dict)
    """by the key of their task"""
    _places: dict[str, frozenset[str]] = field(default_factory=dict)
    """addresses of the workers that a task may run on, by its key; others may run anywhere"""
    _names: dict[str, str] = field(default_factory=dict)
    """Dask's key of a future -> that of its task; a task that is submitted again gets another one there"""
    _unsure: dict[str, Any] = field(default_factory=dict)
    """futures whose results were lost with a worker, by the key of their task; Dask runs those tasks again"""
    _ended: Any = None
    """distributed.as_completed of the futures; None before any is submitted"""

    def all(self, graph: TaskGraph, *, only: Worker | None = None) -> Mapping[str, TaskOutcome]:
        """The outcomes of all tasks of `graph`, on the worker `only` if one is named.

        Raises ToolError if scheduler or workers are gone and do not come back.
        """
        self._skip(graph)
        self._submit(graph, only)
        last = time.monotonic()
        while not all(task.key in self.outcomes for task in graph):
            if ended := self._next():
                self._take(graph, ended, only)
            else:
                last = self._look(graph, last, only)
        return self.outcomes

    def forget(self, key: str) -> None:
        """Lets a task run again."""
        self.outcomes.pop(key, None)
        self._futures.pop(key, None)

    def block(self, task: Task, before: TaskOutcome) -> None:
        """Ends a task because one before it has not succeeded."""
        self._end(task, blocked(task.key, before))

    def _skip(self, graph: TaskGraph) -> None:
        for task in graph:
            if task.key in self.outcomes:
                continue
            before = [self.outcomes[key] for key in task.after if key in self.outcomes]
            bad = next((each for each in before if not each.is_good), None)
            if bad:
                self._end(task, blocked(task.key, bad))
            elif task.needs and not able(self.workers, task.needs):
                why = why_none(self.workers, task.needs)
                hint = "start a worker that has it, and run again"
                trouble = Trouble(message=why, hint=hint, exit_code=ToolError.EXIT_CODE)
                self._end(task, TaskOutcome(key=task.key, state=TaskState.SKIPPED, trouble=trouble))

    def _submit(self, graph: TaskGraph, only: Worker | None) -> None:
        """Hands all tasks that have not begun to the scheduler, as one graph: single ones cost it more than they do."""
        names: dict[str, str] = {}
        tasks: dict[str, Any] = {}
        priorities: dict[str, float] = {}
        places: dict[str, list[str]] = {}
        for number, task in enumerate(graph):
            if task.key in self.outcomes or task.key in self._futures:
                continue
            name = names[task.key] = f"{task.key}-{time.monotonic_ns():x}"
            known = [self.outcomes[key] for key in task.after if key not in names and key not in self._futures]
            waits = [names.get(key) or self._futures[key] for key in task.after if key in names or key in self._futures]
            tasks[name] = (partial(_call, self.run, task, self.arguments(task), known), *waits)
            # Builds first: a project that is finished is worth more than ten that have begun.
            priorities[name] = 10 if task.work.kind is TaskKind.BUILD else -number / 1e6
            places[name] = self._where(task, only)
        if not tasks:
            return
        more = {"workers": places.__getitem__, "allow_other_workers": False} if any(places.values()) else {}
        with annotated(priority=priorities.__getitem__, **more):
            futures = self.cluster.client.get(tasks, list(tasks), sync=False)
        self._futures.update(zip(names, futures, strict=True))
        self._names.update({name: key for key, name in names.items()})
        if self._ended is None:
            self._ended = library().as_completed(loop=self.cluster.client.loop)
        self._ended.update(futures)

    def _where(self, task: Task, only: Worker | None) -> list[str]:
        """Addresses of the workers that a task is limited to; empty for any."""
        found = [only] if only else able(self.workers, task.needs)
        if self.cluster.local is not None or len(found) == len(self.workers):
            return []  # workers of one machine are alike
        self._places[task.key] = frozenset(each.address for each in found)
        return sorted(self._places[task.key])

    def _next(self) -> list[Any]:
        """Futures that have ended; waits for the first one, and returns none if nothing ends for a while."""
        if self._ended is None:
            return []
        try:
            first = self._ended.queue.get(timeout=TICK_S)
        except queue.Empty:
            return []
        return [first, *self._ended.next_batch(block=False)]

    def _take(self, graph: TaskGraph, ended: Sequence[Any], only: Worker | None) -> None:
        """Takes the results of tasks that have ended."""
        futures: dict[str, Any] = {}
        for future in ended:
            key = self._names.get(str(future.key), "")
            if str(getattr(self._futures.get(key), "key", "")) == str(future.key) and key not in self.outcomes:
                futures[key] = future  # others are of an earlier connection
        found = self._gathered([each for each in futures.values() if each.status == "finished"])
        for key, future in futures.items():
            outcome = found.get(str(future.key)) or self._outcome(graph[key], future)
            if outcome:
                self._unsure.pop(key, None)
                self._end(graph[key], outcome)
            elif future.status != "cancelled" and self._is_connected():
                self._unsure[key] = future
            else:
                self._lost(graph, only)
                return

    def _gathered(self, futures: Sequence[Any]) -> dict[str, TaskOutcome]:
        """Outcomes by Dask's keys, in one request for all; those that are not available so are missing."""
        if len(futures) < 2:
            return {}
        client = self.cluster.client
        request = partial(client.gather, futures, errors="skip", asynchronous=True)
        try:
            found = client.sync(request, callback_timeout=GATHER_S)
        except Exception:  # of Dask: each is asked for alone then
            return {}
        return (
            {str(each.key): one for each, one in zip(futures, found, strict=True)} if len(found) == len(futures) else {}
        )

    def _outcome(self, task: Task, future: Any) -> TaskOutcome | None:
        """The outcome of a task that has ended; None if it is not available: it was lost with its worker, which Dask
        makes up for, or with the scheduler."""
        try:
            if future.status == "finished":
                found: TaskOutcome = future.result(timeout=GATHER_S)
                return found
            if future.status == "error":
                return self._failed(task, future.exception(timeout=GATHER_S))
        except Exception:  # of Dask: tasks raise none
            return None
        return None

    def _is_connected(self) -> bool:
        client = self.cluster.client
        return client.status == "running" and not (client.scheduler_comm and client.scheduler_comm.comm.closed())

    def _failed(self, task: Task, error: BaseException) -> TaskOutcome:
        bad = next(
            (self.outcomes[key] for key in task.after if key in self.outcomes and not self.outcomes[key].is_good), None
        )
        if bad:
            return blocked(task.key, bad)
        if type(error).__name__ == "KilledWorker":
            message = f"{task.words}: the worker's process ended each time that it was tried"
            return TaskOutcome(
                key=task.key,
                state=TaskState.FAILED,
                trouble=Trouble(message=message, hint=CRASH_HINT),
                is_over_memory=True,
            )
        message = f"{task.words}: {type(error).__name__}: {str(error)[:300]}"
        return TaskOutcome(key=task.key, state=TaskState.FAILED, trouble=Trouble(message=message))

    def _end(self, task: Task, outcome: TaskOutcome) -> None:
        self.outcomes[task.key] = outcome
        self.progress.ended(task, outcome)

    def _lost(self, graph: TaskGraph, only: Worker | None) -> None:
        """Begins again what has not ended, once the scheduler is back: what was stored is found."""
        self.restarts += 1
        self.say(f"  the scheduler at {self.cluster.address} is gone: waiting for it, up to {RETURN_S} s")
        if self.cluster.local is not None or not self.cluster.again():
            raise ToolError(
                f"the scheduler at {self.cluster.address} is gone and does not come back",
                hint="start it and run again: what was finished is in the store",
            )
        self._futures.clear()
        self._unsure.clear()
        self._ended = None
        self._submit(graph, only)

    def _move(self, graph: TaskGraph, addresses: frozenset[str], only: Worker | None) -> None:
        """Sends tasks to other workers whose own are gone: one that is started again has another address."""
        left = [key for key in self._places if key not in self.outcomes and key in self._futures]
        gone = [key for key in left if addresses and addresses.isdisjoint(self._places[key])]
        if not gone:
            return
        self.workers = self.refresh() or self.workers
        if only is not None:
            only = next((each for each in self.workers if each.alias == only.alias), largest(self.workers))
        for key in _after(graph, gone):
            self._places.pop(key, None)
            if future := self._futures.pop(key, None):
                future.cancel()
        self._skip(graph)
        self._submit(graph, only)

    def _look(self, graph: TaskGraph, last: float, only: Worker | None) -> float:
        """Looks after scheduler and workers; returns the last time at which a worker had something to do."""
        client = self.cluster.client
        if not self._is_connected():
            self._lost(graph, only)
            return time.monotonic()
        self.cluster.keep()
        try:
            found = client.scheduler_info(n_workers=-1)["workers"]
            processing = client.processing() if found else {}
        except (OSError, TimeoutError):
            self._lost(graph, only)
            return time.monotonic()
        self._move(graph, frozenset(found), only)
        if sure := [each for each in self._unsure.values() if each.status in ("finished", "error")]:
            self._take(graph, sure, only)
        known = {str(future.key): key for key, future in self._futures.items()}
        running = [known[each] for keys in processing.values() for each in _first(keys) if each in known]
        self.progress.tick(running)
        self.idle(running, [address for address, keys in processing.items() if not keys])
        now = time.monotonic()
        if any(processing.values()):
            return now
        if now - last > ABSENT_S:
            raise ToolError(
                f"nothing has run for {ABSENT_S} s: no worker can run the remaining tasks",
                hint="start workers and run again: what was finished is in the store",
            )
        return last


def _after(graph: TaskGraph, keys: Collection[str]) -> set[str]:
    """`keys`, and those of all tasks that wait for them."""
    found = set(keys)
    for task in graph:
        if not found.isdisjoint(task.after):
            found.add(task.key)
    return found


def _call(
    run: Run, task: Task, more: tuple[Any, ...], known: Sequence[TaskOutcome], *before: TaskOutcome
) -> TaskOutcome:
    """Runs on a worker: `known` are outcomes of tasks that had ended when this one was submitted."""
    return run(task, *more, *known, *before)


def _first(keys: Sequence[Any]) -> Iterator[str]:
    """The task that a worker with one thread runs; others wait there."""
    yield from (str(key) for key in keys[:1])
