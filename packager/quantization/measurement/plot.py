"""The bars of the page: one for each layer, in the order of the graph."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from packager.quantization.measurement.layers import LayerError

WIDTH, HEIGHT = 1000, 200
"""Size of the drawing, which is stretched to the width of the page."""
GAP = 0.15
"""Share of a bar's slot that stays free."""
POOR_DB, FAIR_DB = 10, 20
"""Thresholds: noise is a tenth, or a hundredth, of the power."""
STEP_DB = 10
LOWEST_TOP_DB = 40


@dataclass(frozen=True, kw_only=True)
class BarView:
    x: str
    y: str
    width: str
    height: str
    tone: str
    """CSS class: `poor`, `fair`, `good`, `exact`"""
    title: str
    """tooltip"""


@dataclass(frozen=True, kw_only=True)
class LineView:
    """A line across the plot, with its meaning."""

    y: str
    percent: str
    """from the top"""
    label: str


@dataclass(frozen=True, kw_only=True)
class PlotView:
    width: int
    height: int
    bars: tuple[BarView, ...]
    lines: tuple[LineView, ...]


def plot(layers: Sequence[LayerError]) -> PlotView | None:
    """The plot of `layers`; None if there is nothing to show."""
    if not layers:
        return None
    finite = [each.output_sqnr_db for each in layers if math.isfinite(each.output_sqnr_db)]
    top = max(LOWEST_TOP_DB, math.ceil(max(finite, default=0) / STEP_DB) * STEP_DB)
    room = WIDTH / len(layers)
    return PlotView(
        width=WIDTH,
        height=HEIGHT,
        bars=tuple(_bar(number, each, room, top) for number, each in enumerate(layers)),
        lines=tuple(_line(value, top) for value in range(0, top + 1, STEP_DB * max(1, top // 50))),
    )


def _bar(number: int, layer: LayerError, room: float, top: int) -> BarView:
    value = layer.output_sqnr_db
    height = HEIGHT * min(max(value, 0.0), top) / top
    return BarView(
        x=f"{(number + GAP / 2) * room:.2f}",
        y=f"{HEIGHT - max(height, 1):.2f}",
        width=f"{room * (1 - GAP):.2f}",
        height=f"{max(height, 1):.2f}",
        tone=tone(value),
        title=f"{number + 1}. {layer.name} ({layer.operator}): {decibels(value)}",
    )


def _line(value: int, top: int) -> LineView:
    y = HEIGHT * (1 - value / top)
    return LineView(y=f"{y:.2f}", percent=f"{100 * y / HEIGHT:.2f}", label=str(value))


def tone(value: float) -> str:
    if value == math.inf:
        return "exact"
    return "poor" if value < POOR_DB else "fair" if value < FAIR_DB else "good"


def decibels(value: float | None) -> str:
    """`23.4 dB`, or words if there is no such number."""
    if value is None:
        return ""
    if math.isinf(value):
        return "exact" if value > 0 else "nothing left"
    return f"{value:.1f} dB"
