"""Successive halving: all candidates for a short time, the better ones for longer, the best against what ships today.

Jamieson and Talwalkar, Non-stochastic Best Arm Identification and Hyperparameter Optimization (AISTATS 2016). The last
comparison is of paired rounds, by the test of `packager.measuring.bench.statistics`: a candidate wins
only if it is faster.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Protocol

from packager.core.tuned import Tuned
from packager.measuring.bench import statistics
from packager.measuring.tuning.candidates import Candidate
from packager.providers import CPU

SHARE = 3
"""Number of candidates of which one goes on."""
FINAL_ROUNDS = 5
"""of the best candidate and the one that ships today, in turn"""
NO_VARIANTS: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class SearchRound:
    """One round of a candidate on a device."""

    times_ns: tuple[int, ...] = ()
    error: str = ""
    """why there are no times: the provider did not start, took no node, or its numbers are off by too much"""
    error_share: float | None = None
    """the largest error of the package's self-test, as a share of what it allows; None where it was not run"""
    falls_back: bool = False
    """whether the provider did not start, and the package tries its next one"""


class Measure(Protocol):
    def __call__(self, candidate: Candidate, number: int) -> SearchRound:
        """Round `number` of a candidate, from 0, of the journal if it is there."""
        ...


@dataclass(kw_only=True)
class Trial:
    """Facts about a candidate."""

    candidate: Candidate
    rounds: list[tuple[int, ...]] = field(default_factory=list)
    error: str = ""
    error_share: float | None = None
    """of its first round, as in Round"""
    left: str = ""
    """why it was measured no further; empty for those of the last comparison, and for those that failed"""

    @property
    def median_ns(self) -> float:
        return statistics.median(statistics.all_of(self.rounds)) if self.rounds else math.inf


@dataclass(frozen=True, kw_only=True)
class SearchOutcome:
    """The end of a search for one model on one device."""

    trials: tuple[Trial, ...]
    """the fastest first, those that failed last"""
    today: Trial
    """what ships without tuned settings"""
    best: Trial
    """`today` where nothing is faster"""
    rival: Trial | None
    """the fastest beside `today`, which was compared with it; None if there was no other"""
    ratio: statistics.Ratio | None
    """of the rival's time to today's; None if there was no other"""
    is_complete: bool
    """False if the time was over before the end"""
    variants: Mapping[str, str] = field(default_factory=dict)
    """package -> the variant in it, for packages whose variant settings can name"""

    @property
    def is_elsewhere(self) -> bool:
        """Whether the fastest is in another package than what ships."""
        return self.best.candidate.package != self.today.candidate.package

    @property
    def tuned(self) -> Tuned:
        """Settings to write; empty where nothing is faster than what ships, or the fastest is in a package whose
        variant settings cannot name."""
        best = self.best.candidate
        variant = self.variants.get(best.package, "") if self.is_elsewhere else ""
        if best == self.today.candidate or (self.is_elsewhere and not variant):
            return Tuned()
        return Tuned(
            variant=variant,
            providers=self._order(best.provider),
            threads=best.threads,
            provider_options={best.provider: dict(best.options)} if best.options else {},
        )

    def _order(self, best: str) -> tuple[str, ...]:
        """`best`, then the others in its package that are faster than the CPU, which is always tried last; the CPU by
        name where it is the fastest."""
        package = self.best.candidate.package
        own = [trial for trial in self.trials if trial.candidate.package == package]
        faster = (trial.candidate.provider for trial in own if trial.rounds)
        order = [*dict.fromkeys((best, *faster))]
        return tuple(takewhile(lambda name: name != CPU.NAME, order)) or (CPU.NAME,)


def what_ships(providers: Sequence[Candidate], measure: Measure) -> Candidate:
    """The first of `providers` that starts, the last if none does: a package looks no further, whatever it computes."""
    return next((each for each in providers if not measure(each, 0).falls_back), providers[-1])


def without(left_out: Mapping[str, str], measure: Measure) -> Measure:
    """Measures, but for a provider that is left out: its candidates fail for the reason, and take no time."""

    def measured(candidate: Candidate, number: int) -> SearchRound:
        reason = left_out.get(candidate.provider)
        return SearchRound(error=reason) if reason else measure(candidate, number)

    return measured


def search(
    today: Candidate,
    others: Sequence[Candidate],
    measure: Measure,
    has_time: Callable[[], bool],
    variants: Mapping[str, str] = NO_VARIANTS,
) -> SearchOutcome:
    """Searches among `others` for a candidate that is faster than `today`, while `has_time` says so. `variants` are
    those of the other packages that settings can name.

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
        alive = _halved(alive, rounds)
        rounds += 1
    ours = trials[today.key]
    rival = next((each for each in alive if each is not ours), None)
    for each in alive:
        if rival and each is not ours and each is not rival:
            each.left = f"slower than {rival.candidate.name} when {len(alive)} were left"
    if rival and not ours.error:
        is_complete = _final(ours, rival, measure, has_time) and is_complete
    ratio, wins = _compared(rival, ours, is_paired=True)
    is_elsewhere = rival is not None and rival.candidate.package != today.package
    if rival and wins and is_elsewhere and (home := _home(trials.values(), ours)):
        is_complete = _final(home, rival, measure, has_time) and is_complete
        if not _compared(rival, home, is_paired=False)[1]:
            rival.left = f"no faster beyond chance than {home.candidate.key}, which adds no files"
            rival, home.left = home, ""
            ratio, wins = _compared(rival, ours, is_paired=False)
    return SearchOutcome(
        trials=tuple(sorted(trials.values(), key=lambda each: each.median_ns)),
        today=ours,
        best=rival if wins and rival else ours,
        rival=rival,
        ratio=ratio,
        is_complete=is_complete,
        variants=variants,
    )


def _compared(rival: Trial | None, other: Trial, *, is_paired: bool) -> tuple[statistics.Ratio | None, bool]:
    """The ratio of their times, None where one has none, and whether `rival` wins: it is faster beyond chance, or works
    where the other one fails."""
    if rival is None or rival.error or other.error or not (rival.rounds and other.rounds):
        return None, rival is not None and not rival.error and bool(other.error)
    ratio = statistics.ratio(rival.rounds, other.rounds, is_paired=is_paired)
    return ratio, ratio.verdict() == "faster"


def _home(trials: Iterable[Trial], ours: Trial) -> Trial | None:
    """The fastest in the package that ships today, beside what ships; None if there is no other."""
    own = [each for each in trials if each.candidate.package == ours.candidate.package]
    return min(
        (each for each in own if each.rounds and each is not ours), key=lambda each: each.median_ns, default=None
    )


def _halved(alive: Sequence[Trial], rounds: int) -> list[Trial]:
    """Trials of `alive` that go on; the others say why not."""
    kept = math.ceil(len(alive) / SHARE)
    for place, trial in enumerate(alive[kept:], kept + 1):
        trial.left = f"place {place} of {len(alive)} in round {rounds}"
    return [*alive[:kept]]


def _final(ours: Trial, rival: Trial, measure: Measure, has_time: Callable[[], bool]) -> bool:
    """Takes rounds of both in turn, equally many in the end; whether there was time for all."""
    while not (ours.error or rival.error):
        next_one = min((ours, rival), key=lambda each: len(each.rounds))
        if len(next_one.rounds) >= FINAL_ROUNDS:
            break
        if not has_time():
            return False
        _run(next_one, measure)
    return True


def _run(trial: Trial, measure: Measure) -> None:
    found = measure(trial.candidate, len(trial.rounds))
    if found.error_share is not None:
        trial.error_share = found.error_share
    if found.error or not found.times_ns:
        trial.error = found.error or "it gave no times"
        trial.rounds.clear()
    else:
        trial.rounds.append(found.times_ns)
