"""Gives workers that have nothing to do evaluations which a search that runs on another worker may need next."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from packager.measuring.fleet.cluster import Cluster
from packager.measuring.fleet.graph import Task
from packager.measuring.fleet.idle import EVALUATION
from packager.measuring.fleet.outcome import TaskOutcome
from packager.measuring.fleet.running import GATHER_S

MOST = 14
"""Workers that evaluate ahead of one search: four halvings, with both outcomes of each."""
LEAVING_S = 60
"""Time in which a worker finishes an evaluation after the search has ended."""


@dataclass(frozen=True, kw_only=True)
class _Helper:
    search: str
    """key of its task"""
    future: Any


@dataclass(kw_only=True)
class Ahead:
    """The workers that evaluate ahead of searches."""

    cluster: Cluster
    run: Callable[..., TaskOutcome]
    """a function of the task of a search, of `arguments`, and of a share: (number, of how many)"""
    arguments: tuple[Any, ...]
    searches: Mapping[str, Task]
    """by their key; all of its workers must be able to do them"""
    made: set[str] = field(default_factory=set)
    """`score/key` of the evaluations"""
    _helpers: dict[str, _Helper] = field(default_factory=dict)
    """by the address of their worker"""
    _unfit: set[str] = field(default_factory=set)
    """searches for which an evaluation ahead has failed"""
    _ended_s: dict[str, float] = field(default_factory=dict)
    """search -> when it was seen to run no more"""

    def offer(self, running: Collection[str], idle: Collection[str]) -> None:
        """Sends a share of the next evaluations of a search that runs to each idle worker."""
        self._gather()
        self._leave(running)
        left = [key for key in running if key in self.searches and key not in self._unfit]
        free = [address for address in sorted(idle) if address not in self._helpers]
        for place, key in enumerate(left):
            known = sum(each.search == key for each in self._helpers.values())
            own = free[place :: len(left)][: MOST - known]
            for number, address in enumerate(own, known):
                self._send(self.searches[key], address, (number, known + len(own)))

    def close(self) -> None:
        """Waits a moment for the words of those that still evaluate, and releases them."""
        end = time.monotonic() + GATHER_S
        while self._helpers and time.monotonic() < end:
            self._gather()
            time.sleep(0.05)
        for each in self._helpers.values():
            with contextlib.suppress(Exception):  # the scheduler may be gone
                each.future.cancel()
        self._helpers.clear()

    def _send(self, task: Task, address: str, share: tuple[int, int]) -> None:
        future = self.cluster.client.submit(
            self.run,
            task,
            *self.arguments,
            share,
            key=f"ahead-{task.key}-{time.monotonic_ns():x}",
            pure=False,
            priority=-100,
            retries=0,
            workers=[address],
            allow_other_workers=False,
        )
        self._helpers[address] = _Helper(search=task.key, future=future)

    def _gather(self) -> None:
        for address, each in list(self._helpers.items()):
            if each.future.status == "pending":
                continue
            del self._helpers[address]
            try:
                outcome: TaskOutcome = each.future.result(timeout=GATHER_S)
            except Exception:  # of Dask, for a worker or a scheduler that was lost: the search itself goes on
                self._unfit.add(each.search)
                continue
            self.made.update(name for name in outcome.made if name.startswith(EVALUATION))
            if not outcome.is_good:
                self._unfit.add(each.search)

    def _leave(self, running: Collection[str]) -> None:
        """Lets go of workers that evaluate for a search which has ended some time ago, and does not say so."""
        now = time.monotonic()
        for address, each in list(self._helpers.items()):
            if each.search in running:
                self._ended_s.pop(each.search, None)
            elif now - self._ended_s.setdefault(each.search, now) > LEAVING_S:
                with contextlib.suppress(Exception):
                    each.future.cancel()
                del self._helpers[address]


@dataclass(frozen=True, kw_only=True)
class Evaluations:
    """Counts of the evaluations of all searches of a run."""

    all: int
    ahead: int
    """of these, by workers that had nothing else to do"""
    unneeded: int
    """of those, evaluations that no search asked for"""


def evaluations(made: Iterable[str], ahead: Collection[str], outcomes: Iterable[TaskOutcome]) -> Evaluations:
    """Counts the evaluations among all results that were `made` on this machine, in `outcomes`, and `ahead`."""
    asked: set[str] = set()
    known = {*_scores(made), *ahead}
    for each in outcomes:
        asked.update(each.asked)
        known.update(_scores(each.made))
    return Evaluations(all=len(known), ahead=len(ahead), unneeded=len({*ahead} - asked))


def _scores(names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name.startswith(EVALUATION))
