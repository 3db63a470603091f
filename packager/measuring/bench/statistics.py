"""Statistics of times: quantiles, intervals by bootstrap, outliers, and noise.

Runs of one round depend on each other (the same process, the same state of the machine), so the bootstrap draws whole
rounds first and runs inside of them second: a two-stage cluster bootstrap (Davison and Hinkley, Bootstrap Methods and
their Application, 3.8). Draws are seeded: the same times give the same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Rounds = Sequence[Sequence[float]]
"""times of a contender, round by round; no round is empty"""

Verdict = Literal["faster", "slower", "no difference"]

RESAMPLES = 1000
DRAWN = 500
"""Maximum number of runs in one resample, equally many from each round."""
CONFIDENCE = 0.95
"""of the interval of a median"""
TEST_CONFIDENCE = 0.99
"""of the interval of a ratio that decides between faster and slower"""
LEAST_DIFFERENCE = 0.02
"""Differences from another invocation that are smaller count as none: rounds do not show what varies between
invocations."""
NOISY = 0.10
"""Smallest spread of the rounds' medians, as a share of the median, that is called noise."""
FENCE = 3.0
"""A run is an outlier beyond the third quartile plus this many interquartile ranges (Tukey's outer fence)."""
P99_RUNS = 100
"""Smallest number of runs of which a 99th percentile is given."""
SEED = 0


@dataclass(frozen=True, kw_only=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Ratio of two medians, and its interval."""

    value: float
    interval: Interval

    def verdict(self, least: float = 0.0) -> Verdict:
        """`faster`, `slower`, or `no difference` if the interval holds a ratio within `least` of 1."""
        if self.interval.low > 1 + least:
            return "slower"
        return "faster" if self.interval.high < 1 - least else "no difference"


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile of `values` at `share`, from 0 to 1, linear between two values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values: Sequence[float]) -> float:
    return quantile(values, 0.5)


def all_of(rounds: Rounds) -> list[float]:
    return [each for times in rounds for each in times]


def median_interval(rounds: Rounds) -> Interval:
    """Interval of the median, at CONFIDENCE."""
    return _interval(_medians(rounds, _chosen(len(rounds))), CONFIDENCE)


def ratio(ours: Rounds, theirs: Rounds, *, is_paired: bool) -> Ratio:
    """The median of `ours` divided by that of `theirs`, with an interval at TEST_CONFIDENCE.

    Paired rounds were taken side by side: both are drawn together, so that what slowed the machine cancels out.
    """
    both = is_paired and len(ours) == len(theirs)
    mine = _chosen(len(ours))
    other = mine if both else _chosen(len(theirs), seed=SEED + 1)
    ratios = _medians(ours, mine, seed=2) / _medians(theirs, other, seed=3)
    return Ratio(
        value=median(all_of(ours)) / median(all_of(theirs)), interval=_interval(ratios.tolist(), TEST_CONFIDENCE)
    )


def outlier_count(values: Sequence[float]) -> int:
    """Number of values beyond the fence."""
    limit = fence(values)
    return sum(each > limit for each in values)


def fence(values: Sequence[float]) -> float:
    """Tukey's outer fence above: a larger value is an outlier."""
    first, third = quantile(values, 0.25), quantile(values, 0.75)
    return third + FENCE * (third - first)


def spread(rounds: Rounds) -> Interval:
    """The smallest and the largest median of a round."""
    medians = [median(times) for times in rounds]
    return Interval(low=min(medians), high=max(medians))


def is_noisy(rounds: Rounds) -> bool:
    """Whether medians of rounds differ by NOISY of the median, or more."""
    found = spread(rounds)
    return len(rounds) > 1 and found.high - found.low >= NOISY * median(all_of(rounds))


def _chosen(count: int, seed: int = SEED) -> "NDArray[Any]":
    """Numbers of the rounds of each resample."""
    import numpy

    return numpy.random.default_rng(seed).integers(0, count, (RESAMPLES, count))


def _medians(rounds: Rounds, chosen: "NDArray[Any]", seed: int = SEED) -> "NDArray[Any]":
    """The median of each resample, which has equally many runs of each of its rounds."""
    import numpy

    lengths = numpy.array([len(times) for times in rounds])
    padded = numpy.zeros((len(rounds), lengths.max()))
    for number, times in enumerate(rounds):
        padded[number, : len(times)] = times
    drawn = min(max(1, DRAWN // len(rounds)), int(lengths.max()))
    places = numpy.random.default_rng(seed).random((*chosen.shape, drawn)) * lengths[chosen][:, :, None]
    values = padded[chosen[:, :, None], places.astype(int)]
    medians: NDArray[Any] = numpy.median(values.reshape(len(chosen), -1), axis=1)
    return medians


def _interval(values: "Sequence[float] | NDArray[Any]", confidence: float) -> Interval:
    import numpy

    low, high = numpy.quantile(numpy.asarray(values), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(low=float(low), high=float(high))
