"""The report as a page: every value as the template prints it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.core.console import size
from packager.files.atomic import atomic_file
from packager.quantization.measurement.latency import Latency
from packager.quantization.measurement.metrics import SQNR, Score
from packager.quantization.measurement.plot import PlotView, decibels, plot, tone
from packager.quantization.measurement.report import QuantizationReport, SamplesUsed, Search
from packager.render import render

TEMPLATE = "report/quantization.html.j2"


@dataclass(frozen=True, kw_only=True)
class TileView:
    """One of the few most important figures."""

    label: str
    value: str
    note: str


@dataclass(frozen=True, kw_only=True)
class FactView:
    label: str
    value: str


@dataclass(frozen=True, kw_only=True)
class LatencyView:
    machine: str
    original: str
    quantized: str
    ratio: str
    note: str


@dataclass(frozen=True, kw_only=True)
class LayerView:
    number: int
    name: str
    operator: str
    form: str
    """`integers` or `float`: the precision of its output"""
    output: str
    tone: str
    weight: str


@dataclass(frozen=True, kw_only=True)
class LeftView:
    """Layers of one kind that stayed in float for one reason."""

    operator: str
    count: int
    reason: str
    names: str


@dataclass(frozen=True, kw_only=True)
class ChoiceView:
    layer: str
    scheme: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class EvaluationView:
    number: int
    what: str
    drop: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class SearchView:
    summary: str
    choices: tuple[ChoiceView, ...]
    evaluations: tuple[EvaluationView, ...]


@dataclass(frozen=True, kw_only=True)
class PageView:
    title: str
    tiles: tuple[TileView, ...]
    warnings: tuple[str, ...]
    facts: tuple[FactView, ...]
    latencies: tuple[LatencyView, ...]
    plot: PlotView | None
    layers: tuple[LayerView, ...]
    layer_samples: str
    """number of samples of the layer comparison, in words"""
    left: tuple[LeftView, ...]
    search: SearchView | None


def write_report(path: Path, report: QuantizationReport) -> None:
    """Writes a self-contained page; the same report gives the same bytes. Raises ToolError if the folder cannot be
    written to."""
    with atomic_file(path) as file:
        file.write(page(report).encode())


def page(report: QuantizationReport) -> str:
    """The text of the page."""
    return render(TEMPLATE, view(report))


def view(report: QuantizationReport) -> PageView:
    return PageView(
        title=f"{report.model}: {report.variant}",
        tiles=tuple(_tiles(report)),
        warnings=(*report.warnings, *(report.calibration.warnings if report.calibration else ())),
        facts=tuple(_facts(report)),
        latencies=tuple(_latency(each) for each in report.latencies),
        plot=plot(report.layers),
        layers=tuple(_layers(report)),
        layer_samples=_samples(max((each.samples for each in report.layers), default=0)),
        left=tuple(_left(report)),
        search=_search(report.search) if report.search else None,
    )


def _tiles(report: QuantizationReport) -> Iterator[TileView]:
    before, after = size(report.original.size_bytes), size(report.quantized.size_bytes)
    yield TileView(label="Size", value=f"{report.size_ratio:.0%}", note=f"{before} becomes {after}")
    if report.score:
        yield TileView(
            label=report.score.metric, value=_score(report.score.metric, report.score.value), note=_drop(report)
        )
    for each in report.latencies:
        if not each.skipped:
            kind = (
                "relative, emulated" if each.is_emulated else f"{_ms(each.float_ms)} becomes {_ms(each.quantized_ms)}"
            )
            yield TileView(label=f"Latency, {each.machine}", value=f"{each.ratio:.0%}", note=kind)


def _score(metric: str, value: float) -> str:
    if metric == SQNR:
        return decibels(value)
    return f"{value:.4g}" if math.isfinite(value) else "no number"


def _drop(report: QuantizationReport) -> str:
    score = report.score
    assert score
    budget = ""
    if report.max_drop is not None:
        budget = f"; {'within' if score.is_within(report.max_drop) else 'over'} the budget of {report.max_drop:g}"
    if score.metric == SQNR:
        return f"noise is {score.drop:.3g} of the power of the outputs{_on(score)}{budget}"
    return f"{_score(score.metric, score.original)} in float, {score.drop:.3g} lower{_on(score)}{budget}"


def _on(score: Score) -> str:
    """The samples of the score, and the worst of them; empty for metrics with data of their own."""
    if score.worst_value is None:
        return ""
    worst = f"number {score.worst_sample} has {_score(score.metric, score.worst_value)}, the lowest"
    return f" over {_samples(score.samples)}; {worst}" if score.samples > 1 else ""


def _ms(value: float) -> str:
    return f"{value:.3g} ms" if value < 100 else f"{value:.0f} ms"


def _facts(report: QuantizationReport) -> Iterator[FactView]:
    for label, side in (("Float model", report.original), ("Quantized model", report.quantized)):
        yield FactView(label=label, value=f"{side.file}, {side.size_bytes:,} bytes")
        yield FactView(label="sha256", value=side.sha256)
    yield FactView(label="Quantizer", value=report.quantizer)
    for name in sorted(report.settings):
        yield FactView(label=name, value=report.settings[name])
    if report.calibration:
        yield FactView(label="Calibration", value=_calibration(report.calibration))


def _calibration(used: SamplesUsed) -> str:
    return f"{_samples(used.count)} of {used.source}, ranges by {used.method}"


def _samples(count: int) -> str:
    return "1 sample" if count == 1 else f"{count} samples"


def _latency(each: Latency) -> LatencyView:
    if each.skipped:
        return LatencyView(machine=each.machine, original="", quantized="", ratio="", note=f"skipped: {each.skipped}")
    return LatencyView(
        machine=each.machine,
        original=_spread(each.float_ms, each.float_spread_ms),
        quantized=_spread(each.quantized_ms, each.quantized_spread_ms),
        ratio=f"{each.ratio:.2f}",
        note=f"{each.run_count} runs each"
        + ("; relative, emulated: the times themselves are meaningless" if each.is_emulated else ""),
    )


def _spread(middle: float, quartiles: tuple[float, float]) -> str:
    low, high = quartiles
    return f"{_ms(middle)} ({low:.3g} to {high:.3g})" if high < 100 else f"{_ms(middle)} ({low:.0f} to {high:.0f})"


def _layers(report: QuantizationReport) -> Iterator[LayerView]:
    for number, each in enumerate(report.layers, 1):
        yield LayerView(
            number=number,
            name=each.name,
            operator=each.operator,
            form="integers" if each.becomes == "DequantizeLinear" else "float",
            output=decibels(each.output_sqnr_db),
            tone=tone(each.output_sqnr_db),
            weight=decibels(each.weight_sqnr_db),
        )


def _left(report: QuantizationReport) -> Iterator[LeftView]:
    """Float layers, in the order in which the first of each kind occurs."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for each in report.left:
        kinds.setdefault((each.operator, each.reason), []).append(each.name)
    for (operator, reason), names in kinds.items():
        yield LeftView(operator=operator, count=len(names), reason=reason, names=", ".join(names))


def _search(search: Search) -> SearchView:
    return SearchView(
        summary=f"{search.count} of at most {search.bound} evaluations were made.",
        choices=tuple(ChoiceView(layer=each.layer, scheme=each.scheme, reason=each.reason) for each in search.choices),
        evaluations=tuple(
            EvaluationView(
                number=number,
                what=each.what,
                drop=f"{each.drop:.5g}",
                verdict="within budget" if each.is_within else "over budget",
            )
            for number, each in enumerate(search.evaluations, 1)
        ),
    )
