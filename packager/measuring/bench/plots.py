"""Plots of times: medians with their ranges, distributions, and memory beside latency. All are drawn of rows."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packager.core.console import size
from packager.measuring.bench import statistics
from packager.measuring.bench.document import RowEntry
from packager.measuring.bench.words import between, duration, name_of
from packager.render.pages.bars import BarView, Canvas
from packager.render.pages.numbers import percent

WIDTH, LANE = 1000.0, 24.0
"""of the lane in which a row's median is drawn"""
CANVAS = Canvas(width=600, height=60, slots=60, gap=0.1, least=1.5)
NS_PER_MS = 1e6
PADDING = 0.08
"""Share of the plot of memory that stays empty on each side of the dots."""
LEAST_SPAN = 1.25
"""Smallest ratio of the ends of an axis: times that hardly differ stand close together."""


@dataclass(frozen=True, kw_only=True)
class TickView:
    percent: str
    """from the left"""
    label: str


@dataclass(frozen=True, kw_only=True)
class LaneView:
    """The median of a row as a bar, the interval of the median across its end, a thin line to the 90th percentile."""

    number: int
    name: str
    value: str
    tone: str
    width: str
    """of the bar"""
    low: str
    high: str
    p90: str
    description: str


@dataclass(frozen=True, kw_only=True)
class SpreadView:
    """Every run of a row."""

    number: int
    name: str
    bars: tuple[BarView, ...]
    summary: str


@dataclass(frozen=True, kw_only=True)
class DotView:
    number: int
    left: str
    """in percent"""
    top: str


@dataclass(frozen=True, kw_only=True)
class MemoryView:
    dots: tuple[DotView, ...]
    fastest: str
    slowest: str
    least: str
    most: str
    description: str


def lanes(rows: Sequence[RowEntry]) -> tuple[LaneView, ...]:
    longest = max(max(row.p90_ms, row.p50_high_ms) for row in rows)
    return tuple(_lane(row, longest) for row in rows)


def _lane(row: RowEntry, longest: float) -> LaneView:
    def place(milliseconds: float) -> str:
        return f"{WIDTH * milliseconds / longest:.2f}"

    ends = between(row.p50_low_ms, row.p50_high_ms)
    return LaneView(
        number=row.number,
        name=f"{name_of(row)} on {row.runner}",
        value=duration(row.p50_ms),
        tone="fair" if row.is_noisy else "exact" if row.is_original else "good",
        width=place(row.p50_ms),
        low=place(row.p50_low_ms),
        high=place(row.p50_high_ms),
        p90=place(row.p90_ms),
        description=f"median {duration(row.p50_ms)} ({ends}), 90th percentile {duration(row.p90_ms)}",
    )


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A logarithmic axis of times."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Place of `value`, from 0 to 1."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    def value(self, share: float) -> float:
        return float(self.low * (self.high / self.low) ** share)


def axis_of(values: Sequence[float]) -> Axis:
    low, high = min(values), max(values)
    if high / low < LEAST_SPAN:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(LEAST_SPAN), middle * math.sqrt(LEAST_SPAN)
    return Axis(low=low, high=high)


def times_ms(row: RowEntry) -> list[float]:
    return [max(each, 1) / NS_PER_MS for one in row.rounds for each in one.times_ns]


def spreads(rows: Sequence[RowEntry]) -> tuple[SpreadView, ...]:
    """Distributions over one axis, which `ticks` describes."""
    axis = axis_of([time for row in rows for time in times_ms(row)])
    return tuple(_spread(row, axis) for row in rows)


def ticks(rows: Sequence[RowEntry]) -> tuple[TickView, ...]:
    axis = axis_of([time for row in rows for time in times_ms(row)])
    return tuple(
        TickView(percent=f"{100 * share:.0f}", label=duration(axis.value(share)))
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )


def _spread(row: RowEntry, axis: Axis) -> SpreadView:
    times = times_ms(row)
    counts = [0] * CANVAS.slots
    for time in times:
        counts[min(int(axis.share(time) * CANVAS.slots), CANVAS.slots - 1)] += 1
    share = percent(row.outliers / row.runs)
    outliers = f"; {row.outliers:,} outliers ({share}), the slowest {duration(row.slowest_ms)}" if row.outliers else ""
    return SpreadView(
        number=row.number,
        name=f"{name_of(row)} on {row.runner}",
        bars=tuple(_bars(counts, axis, statistics.fence(times))),
        summary=f"{row.runs:,} runs, half of them within {duration(row.p50_ms)}{outliers}",
    )


def _bars(counts: Sequence[int], axis: Axis, fence: float) -> Iterator[BarView]:
    """Bars as high as the square root of their count, so that single runs can be seen."""
    most = max(counts)
    for slot, count in enumerate(counts):
        if count:
            start = axis.value(slot / CANVAS.slots)
            tone = "poor" if start > fence else "good"
            title = f"{count:,} from {duration(start)}"
            yield CANVAS.bar(slot, math.sqrt(count / most), tone=tone, title=title)


def memory(rows: Sequence[RowEntry]) -> MemoryView | None:
    """Memory beside latency, as numbered dots; None if fewer than two rows have both."""
    known = [(row, row.peak_bytes) for row in rows if row.peak_bytes]
    if len(known) < 2:
        return None
    axis = axis_of([row.p50_ms for row, _ in known])
    most = max(peak for _, peak in known)
    return MemoryView(
        dots=tuple(
            DotView(number=row.number, left=_inside(axis.share(row.p50_ms)), top=_inside(1 - peak / most))
            for row, peak in known
        ),
        fastest=duration(axis.low),
        slowest=duration(axis.high),
        least="0 B",
        most=size(most),
        description="; ".join(f"{row.number}: {duration(row.p50_ms)}, {size(peak)}" for row, peak in known),
    )


def _inside(share: float) -> str:
    return f"{100 * (PADDING + (1 - 2 * PADDING) * share):.2f}"
