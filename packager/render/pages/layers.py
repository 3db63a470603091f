"""Signal to noise of every layer, in the order of the graph: a drawing, a sentence and a table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from packager.render.pages.bars import BarView, Canvas
from packager.render.pages.numbers import decibels, plural

WIDTH, HEIGHT = 1000, 200
GAP = 0.15
LEAST = 1.0
POOR_DB, FAIR_DB = 10, 20
"""thresholds: noise is a tenth, or a hundredth, of the power"""
STEP_DB = 10
LOWEST_TOP_DB = 40


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer of a variant, compared with the same layer in float."""

    name: str
    operator: str
    form: str
    """`integers` or `float`: the precision of its output"""
    output_db: float
    """infinite for equal outputs"""
    weight_db: float | None
    """None for a layer without weights"""


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


@dataclass(frozen=True, kw_only=True)
class LayerView:
    number: int
    name: str
    operator: str
    form: str
    output: str
    tone: str
    weight: str


@dataclass(frozen=True, kw_only=True)
class LayersView:
    """The layers of one variant."""

    title: str
    """empty if the page is about this variant alone"""
    summary: str
    plot: PlotView
    rows: tuple[LayerView, ...]
    is_open: bool
    """whether the table is unfolded"""


def layers_view(layers: Sequence[Layer], *, samples: int, title: str = "", is_open: bool = False) -> LayersView:
    """The view of `layers`, of which there is at least one."""
    return LayersView(
        title=title,
        summary=_summary(layers, samples),
        plot=plot(layers),
        rows=tuple(_row(number, each) for number, each in enumerate(layers, 1)),
        is_open=is_open,
    )


def _summary(layers: Sequence[Layer], samples: int) -> str:
    worst = min(layers, key=lambda each: -math.inf if math.isnan(each.output_db) else each.output_db)
    poor = sum(not each.output_db >= FAIR_DB for each in layers)
    return (
        f"{plural(len(layers), 'layer')} on {plural(samples, 'sample')}, {poor:,} of them under {FAIR_DB} dB; "
        f"the noisiest is {worst.name} ({worst.operator}) with {decibels(worst.output_db)}."
    )


def plot(layers: Sequence[Layer]) -> PlotView:
    finite = [each.output_db for each in layers if math.isfinite(each.output_db)]
    top = max(LOWEST_TOP_DB, math.ceil(max(finite, default=0) / STEP_DB) * STEP_DB)
    canvas = Canvas(width=WIDTH, height=HEIGHT, slots=len(layers), gap=GAP, least=LEAST)
    return PlotView(
        width=WIDTH,
        height=HEIGHT,
        bars=tuple(_bar(canvas, index, each, top) for index, each in enumerate(layers)),
        lines=tuple(_line(value, top) for value in range(0, top + 1, STEP_DB * max(1, top // 50))),
    )


def _bar(canvas: Canvas, index: int, layer: Layer, top: int) -> BarView:
    return canvas.bar(
        index,
        min(max(0.0, layer.output_db), top) / top,
        tone=tone(layer.output_db),
        title=f"{index + 1}. {layer.name} ({layer.operator}): {decibels(layer.output_db)}",
    )


def _line(value: int, top: int) -> LineView:
    y = HEIGHT * (1 - value / top)
    return LineView(y=f"{y:.2f}", percent=f"{100 * y / HEIGHT:.2f}", label=str(value))


def tone(value: float) -> str:
    if value == math.inf:
        return "exact"
    return "good" if value >= FAIR_DB else "fair" if value >= POOR_DB else "poor"


def _row(number: int, layer: Layer) -> LayerView:
    return LayerView(
        number=number,
        name=layer.name,
        operator=layer.operator,
        form=layer.form,
        output=decibels(layer.output_db),
        tone=tone(layer.output_db),
        weight=decibels(layer.weight_db),
    )
