"""Draws a distribution of errors: one bar per decade, as high as the logarithm of its count."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from packager.core.findings import DECADES
from packager.render.pages.bars import BarView, Canvas
from packager.render.pages.numbers import percent
from packager.reporting.views import DistributionView, TickView
from packager.reporting.words import amount

BINS = DECADES + 2
"""no error; below the smallest decade; one bin per decade up to 1; above"""
CANVAS = Canvas(width=600, height=100, slots=BINS, gap=0.12, least=3.0)
MARKED = (-9, -6, -3, 0)
"""powers of ten with a tick"""
SHARES = (0.5, 0.99, 1.0)
"""shares of the values whose error bounds the page lists"""


def distribution(counts: Sequence[int], tolerance: float | None, *, has_failed: bool) -> DistributionView | None:
    """The view of `counts`; None if nothing was counted. `tolerance` is a share of the scale, or None for another kind
    of limit."""
    if len(counts) != BINS or not any(counts):
        return None
    return DistributionView(
        width=CANVAS.width,
        height=CANVAS.height,
        bars=tuple(_bars(counts, tolerance if has_failed else None)),
        ticks=(_tick(CANVAS.room / 2, "none"), *(_tick(_place(power), amount(10.0**power)) for power in MARKED)),
        limit="" if tolerance is None else f"{min(max(_place(math.log10(tolerance)), 0), CANVAS.width):.2f}",
        description="Numbers by their error as a share of the scale: "
        + ", ".join(f"{count:,} {_range(index)}" for index, count in enumerate(counts) if count),
        summary=_summary(counts),
    )


def _bars(counts: Sequence[int], tolerance: float | None) -> Iterator[BarView]:
    largest = math.log10(1 + max(counts))
    for index, count in enumerate(counts):
        if count:
            yield CANVAS.bar(
                index,
                math.log10(1 + count) / largest,
                tone="exact" if index == 0 else "poor" if tolerance and bound(index) > tolerance else "good",
                title=f"{count:,} {_range(index)}",
            )


def bound(index: int) -> float:
    """Upper bound of the errors in a bin."""
    return 0.0 if index == 0 else math.inf if index == BINS - 1 else 10.0 ** (index - DECADES)


def _range(index: int) -> str:
    if index == 0:
        return "without any"
    if index == 1:
        return f"below {amount(bound(1))}"
    low = amount(bound(index - 1))
    return f"of {low} and more" if index == BINS - 1 else f"from {low} to {amount(bound(index))}"


def _place(power: float) -> float:
    """x coordinate of 10 to that power, the left border of its decade."""
    return (power + DECADES + 1) * CANVAS.room


def _tick(x: float, label: str) -> TickView:
    return TickView(percent=f"{100 * x / CANVAS.width:.2f}", label=label)


def _summary(counts: Sequence[int]) -> str:
    """`half of 1,000 numbers are below 1e-7, 99% below 1e-6, all below 1e-5`"""
    total = sum(counts)
    reached = list(accumulate(counts))
    parts: dict[str, str] = {}
    for share in SHARES:
        index = next(index for index, count in enumerate(reached) if count >= share * total)
        how = "exact" if index == 0 else "1 and more" if index == BINS - 1 else f"below {amount(bound(index))}"
        parts[how] = {0.5: "half", 1.0: "all"}.get(share, percent(share))
    return f"Of {total:,} numbers, " + ", ".join(f"{who} are {how}" for how, who in parts.items()) + "."
