"""Successive halving: all candidates for a short time, the better ones for longer, the best against what ships today.

Jamieson and Talwalkar, Non-stochastic Best Arm Identification and Hyperparameter Optimization (AISTATS 2016). The last
comparison is of paired rounds, by the test of `packager.bench.statistics`: a candidate wins only if it is faster.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from packager.bench import statistics
from packager.tuning.candidates import Candidate

SHARE = 3
"""Of so many candidates, one goes on."""
FINAL_ROUNDS = 5
"""of the best candidate and the one that ships today, in turn"""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of a candidate on a device."""

    times_ns: tuple[int, ...] = ()
    error: str = ""
    """why there are no times: the provider did not start, took no node, or its numbers are off by too much"""


class Measure(Protocol):
    def __call__(self, candidate: Candidate, number: int) -> Round:
        """Round `number` of a candidate, from 0, of the journal if it is there."""
        ...


@dataclass(kw_only=True)
class Trial:
    """All that is known of a candidate."""

    candidate: Candidate
    rounds: list[tuple[int, ...]] = field(default_factory=list)
    error: str = ""

    @property
    def median_ns(self) -> float:
        return statistics.median(statistics.all_of(self.rounds)) if self.rounds else math.inf


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a search for one model on one device."""

    trials: tuple[Trial, ...]
    """the fastest first, those that failed last"""
    today: Trial
    """what ships without tuned settings"""
    best: Trial
    """`today` where nothing is faster"""
    ratio: statistics.Ratio | None
    """of the best candidate's time to today's; None if there was no other"""
    is_complete: bool
    """False if the time was over before the end"""


def search(today: Candidate, others: Sequence[Candidate], measure: Measure, has_time: Callable[[], bool]) -> Outcome:
    """Searches among `others` for a candidate that is faster than `today`, while `has_time` says so.

    If `today` itself fails, whatever works is better.
    """
    trials = {each.key: Trial(candidate=each) for each in (today, *others)}
    alive = list(trials.values())
    rounds, is_complete = 1, True
    while True:
        for trial in alive:
            while len(trial.rounds) < rounds and not trial.error and (is_complete := is_complete and has_time()):
                _run(trial, measure)
        alive = sorted((each for each in alive if each.rounds), key=lambda each: each.median_ns)
        if len(alive) <= SHARE or not is_complete:
            break
        alive = alive[: math.ceil(len(alive) / SHARE)]
        rounds += 1
    ours = trials[today.key]
    rival = next((each for each in alive if each is not ours), None)
    ratio = None
    if rival and not ours.error:
        is_complete = _final(ours, rival, measure, has_time) and is_complete
        ratio = statistics.ratio(rival.rounds, ours.rounds, is_paired=True)
    wins = rival is not None and (bool(ours.error) or (ratio is not None and ratio.verdict() == "faster"))
    return Outcome(
        trials=tuple(sorted(trials.values(), key=lambda each: each.median_ns)),
        today=ours,
        best=rival if wins and rival else ours,
        ratio=ratio,
        is_complete=is_complete,
    )


def _final(ours: Trial, rival: Trial, measure: Measure, has_time: Callable[[], bool]) -> bool:
    """Takes rounds of both in turn; whether there was time for all."""
    while min(len(ours.rounds), len(rival.rounds)) < FINAL_ROUNDS and not (ours.error or rival.error):
        for trial in sorted((ours, rival), key=lambda each: len(each.rounds)):
            if not has_time():
                return False
            _run(trial, measure)
    return True


def _run(trial: Trial, measure: Measure) -> None:
    found = measure(trial.candidate, len(trial.rounds))
    if found.error or not found.times_ns:
        trial.error = found.error or "it gave no times"
        trial.rounds.clear()
    else:
        trial.rounds.append(found.times_ns)
