"""The report as a page: every value as the template prints it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.core.console import size
from packager.quantization.measurement.latency import Latency
from packager.quantization.measurement.layers import LayerError
from packager.quantization.measurement.metrics import SQNR, Score
from packager.quantization.measurement.report import QuantizationReport, ReportedSearch, SamplesUsed
from packager.render.pages import parts
from packager.render.pages.layers import Layer, LayersView, layers_view
from packager.render.pages.numbers import decibels, milliseconds, plural, times
from packager.render.pages.parts import FactView, TileView
from packager.render.templates import render

TEMPLATE = "report/quantization.html.j2"


@dataclass(frozen=True, kw_only=True)
class QuantizationLatencyView:
    machine: str
    original: str
    quantized: str
    ratio: str
    note: str


@dataclass(frozen=True, kw_only=True)
class LeftView:
    """Layers of one kind that stayed in float for one reason."""

    operator: str
    count: int
    reason: str
    names: str


@dataclass(frozen=True, kw_only=True)
class LayerChoiceView:
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
    choices: tuple[LayerChoiceView, ...]
    evaluations: tuple[EvaluationView, ...]


@dataclass(frozen=True, kw_only=True)
class QuantizationPageView:
    title: str
    tiles: tuple[TileView, ...]
    warnings: tuple[str, ...]
    facts: tuple[FactView, ...]
    latencies: tuple[QuantizationLatencyView, ...]
    layers: tuple[LayersView, ...]
    left: tuple[LeftView, ...]
    search: SearchView | None


def write_report(path: Path, report: QuantizationReport) -> None:
    """Writes a self-contained page; the same report gives the same bytes. Raises ToolError if the folder cannot be
    written to."""
    parts.write(path, page(report))


def page(report: QuantizationReport) -> str:
    """The text of the page."""
    return render(TEMPLATE, view(report))


def view(report: QuantizationReport) -> QuantizationPageView:
    return QuantizationPageView(
        title=f"{report.model}: {report.variant}",
        tiles=tuple(_tiles(report)),
        warnings=(*report.warnings, *(report.calibration.warnings if report.calibration else ())),
        facts=tuple(_facts(report)),
        latencies=tuple(_latency(each) for each in report.latencies),
        layers=tuple(_layers(report)),
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
            note = f"{milliseconds(each.float_ms)} becomes {milliseconds(each.quantized_ms)}"
            yield TileView(label=f"Latency, {each.machine}", value=f"{each.ratio:.0%}", note=note)


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
    worst = f"lowest: {_score(score.metric, score.worst_value)} on sample {score.worst_sample}"
    return f" over {plural(score.samples, 'sample')}; {worst}" if score.samples > 1 else ""


def _facts(report: QuantizationReport) -> Iterator[FactView]:
    for label, side in (("Float model", report.original), ("Quantized model", report.quantized)):
        yield FactView(label=label, value=f"{side.file}, {side.size_bytes:,} bytes")
        yield FactView(label="sha256", value=side.sha256)
    yield FactView(label="Quantizer", value=report.quantizer)
    for name in sorted(report.settings.keys() - {"quantizer"}):
        yield FactView(label=name, value=report.settings[name])
    if report.calibration:
        yield FactView(label="Calibration", value=_calibration(report.calibration))
    if report.scales:
        yield FactView(label="Scales", value=f"{report.scales.kept:,} of {report.scales.count:,} kept")
        for each in report.scales.own:
            yield FactView(label=f"Own scale, {each.kind} {each.name}", value=each.reason)


def _calibration(used: SamplesUsed) -> str:
    return f"{plural(used.count, 'sample')} of {used.source}, ranges by {used.method}"


def _latency(each: Latency) -> QuantizationLatencyView:
    if each.skipped:
        return QuantizationLatencyView(
            machine=each.machine, original="", quantized="", ratio="", note=f"skipped: {each.skipped}"
        )
    return QuantizationLatencyView(
        machine=each.machine,
        original=times(each.float_ms, each.float_spread_ms),
        quantized=times(each.quantized_ms, each.quantized_spread_ms),
        ratio=f"{each.ratio:.2f}",
        note=f"{each.run_count} runs each",
    )


def _layers(report: QuantizationReport) -> Iterator[LayersView]:
    """One view, or none if no layer was compared."""
    if report.layers:
        layers = [_layer(each) for each in report.layers]
        yield layers_view(layers, samples=max(each.samples for each in report.layers), is_open=True)


def _layer(error: LayerError) -> Layer:
    return Layer(
        name=error.name,
        operator=error.operator,
        form="integers" if error.becomes == "DequantizeLinear" else "float",
        output_db=error.output_sqnr_db,
        weight_db=error.weight_sqnr_db,
    )


def _left(report: QuantizationReport) -> Iterator[LeftView]:
    """Float layers, in the order in which the first of each kind occurs."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for each in report.left:
        kinds.setdefault((each.operator, each.reason), []).append(each.name)
    for (operator, reason), names in kinds.items():
        yield LeftView(operator=operator, count=len(names), reason=reason, names=", ".join(names))


def _held_out(search: ReportedSearch) -> str:
    found = search.held_out
    if found is None:
        return ""
    if not found.count:
        return f"; {found.why_none}"
    return f"; on {plural(found.count, 'sample')} that the search did not see, the drop is {found.drop:.3g}"


def _search(search: ReportedSearch) -> SearchView:
    return SearchView(
        summary=f"{search.count} of at most {search.bound} evaluations were made{_held_out(search)}.",
        choices=tuple(
            LayerChoiceView(layer=each.layer, scheme=each.scheme, reason=each.reason) for each in search.choices
        ),
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
