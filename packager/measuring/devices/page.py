"""The results of devices as a self-contained HTML page, and as the part of a build's report that shows them."""

from collections.abc import Iterator
from dataclasses import dataclass

from packager.measuring.bench import plots
from packager.measuring.bench.plots import LaneView, SpreadView, TickView
from packager.measuring.bench.words import compared, duration
from packager.measuring.devices import words
from packager.measuring.devices.document import DeviceDocument, DeviceEntry, DeviceRow
from packager.render.pages.numbers import plural
from packager.render.pages.parts import FactView, TileView
from packager.render.templates import render

TEMPLATE = "report/devices.html.j2"
MATRIX = "report/device_matrix.html.j2"


@dataclass(frozen=True, kw_only=True)
class DeviceCellView:
    text: str
    note: str
    tone: str


@dataclass(frozen=True, kw_only=True)
class DeviceLineView:
    """A device with a provider: a cell for each model."""

    device: str
    provider: str
    cells: tuple[DeviceCellView, ...]


@dataclass(frozen=True, kw_only=True)
class MatrixView:
    """Models beside each other, devices and providers below each other."""

    models: tuple[str, ...]
    lines: tuple[DeviceLineView, ...]


@dataclass(frozen=True, kw_only=True)
class DeviceView:
    name: str
    state: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lanes: tuple[LaneView, ...]
    spreads: tuple[SpreadView, ...]
    spread_width: int
    spread_height: int
    ticks: tuple[TickView, ...]


@dataclass(frozen=True, kw_only=True)
class DevicesPageView:
    title: str
    failures: tuple[str, ...]
    tiles: tuple[TileView, ...]
    warnings: tuple[str, ...]
    matrix: MatrixView
    devices: tuple[DeviceView, ...]
    baseline: str
    comparisons: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    facts: tuple[FactView, ...]


def page(found: DeviceDocument) -> str:
    return render(TEMPLATE, view(found))


def part(found: DeviceDocument) -> str:
    """The matrix alone, as a section for another page."""
    return render(MATRIX, DevicePartView(matrix=matrix(found)))


@dataclass(frozen=True, kw_only=True)
class DevicePartView:
    matrix: MatrixView


def view(found: DeviceDocument) -> DevicesPageView:
    return DevicesPageView(
        title=found.package.file,
        failures=found.failed_gates,
        tiles=tuple(_tiles(found)),
        warnings=tuple(words.warnings(found)),
        matrix=matrix(found),
        devices=tuple(_devices(found)),
        baseline=found.baseline,
        comparisons=tuple(_compared(found)),
        notes=tuple(words.notes(found)),
        facts=tuple(_facts(found)),
    )


def matrix(found: DeviceDocument) -> MatrixView:
    """Model x device x provider; what was not measured is there with its reason."""
    models = tuple(dict.fromkeys([*(each.row.model for each in found.rows), *(each.model for each in found.skipped)]))
    named = {each.serial: each for each in found.devices}
    lines = list(
        dict.fromkeys(
            [
                *((each.device, each.provider) for each in found.rows),
                *((each.device, each.provider) for each in found.skipped),
            ]
        )
    )
    order = {each.serial: number for number, each in enumerate(found.devices)}
    lines.sort(key=lambda line: order[line[0]])
    rows = {(each.device, each.provider, each.row.model): each for each in found.rows}
    verdicts = {(each.device, each.provider, each.model): each for each in found.verdicts}
    reasons = {(each.device, each.provider, each.model): each.reason for each in found.skipped}
    return MatrixView(
        models=models,
        lines=tuple(
            DeviceLineView(
                device=words.name_of(named[device]),
                provider=provider,
                cells=tuple(
                    _cell(
                        rows.get((device, provider, model)),
                        reasons.get((device, provider, model), ""),
                        words.verdict_of(verdicts.get((device, provider, model))),
                    )
                    for model in models
                ),
            )
            for device, provider in lines
        ),
    )


def _cell(row: DeviceRow | None, reason: str, verdict: str) -> DeviceCellView:
    if row is None:
        return DeviceCellView(text="skipped" if reason else "", note=verdict or reason, tone="muted")
    nodes = words.nodes_of(row.assigned, row.provider)
    parts = [f"p90 {duration(row.row.p90_ms)}, {row.row.ratio:.2f} x CPU, nodes {nodes}", verdict]
    is_wrong = row.row.differs or (row.row.error or 0.0) > words.LEAST_ERROR
    return DeviceCellView(
        text=duration(row.row.p50_ms),
        note="; ".join(filter(None, parts)),
        tone="poor" if is_wrong else "fair" if row.row.is_noisy else "plain",
    )


def _tiles(found: DeviceDocument) -> Iterator[TileView]:
    fastest = min(found.rows, key=lambda each: each.row.p50_ms)
    yield TileView(
        label="Lowest median",
        value=duration(fastest.row.p50_ms),
        note=f"{fastest.row.model} on {fastest.row.runner}",
    )
    measured = [each for each in found.devices if each.state == "measured"]
    others = len(found.devices) - len(measured)
    note = f"{plural(others, 'other')} not" if others else "all that were asked for"
    yield TileView(label="Measured", value=plural(len(measured), "device"), note=note)
    noisy = [f"#{each.row.number}" for each in found.rows if each.row.is_noisy]
    yield TileView(
        label="Noise",
        value=plural(len(noisy), "noisy row") if noisy else "none",
        note=", ".join(noisy) or "medians of all rounds agree within 10 %",
    )


def _devices(found: DeviceDocument) -> Iterator[DeviceView]:
    for device in found.devices:
        rows = [each for each in found.rows if each.device == device.serial]
        entries = [each.row for each in rows]
        if rows:
            yield DeviceView(
                name=words.name_of(device),
                state="; ".join(words.device_notes((device,))),
                columns=words.COLUMNS,
                rows=tuple(tuple(words.cells(each)) for each in rows),
                lanes=plots.lanes(entries),
                spreads=plots.spreads(entries),
                spread_width=plots.CANVAS.width,
                spread_height=plots.CANVAS.height,
                ticks=plots.ticks(entries),
            )


def _compared(found: DeviceDocument) -> Iterator[tuple[str, ...]]:
    named = {each.row.number: each.row for each in found.rows}
    for each in found.comparisons:
        yield tuple(compared(named[each.number], each))


def _facts(found: DeviceDocument) -> Iterator[FactView]:
    method = found.method
    yield FactView(label="mobpack", value=found.mobpack)
    yield FactView(label="Package", value=f"{found.package.file}, sha256 {found.package.sha256[:16]}")
    yield FactView(label="ONNX Runtime", value=found.package.runtime)
    yield FactView(label="Threads", value=str(method.threads) if method.threads else "as many as the package takes")
    yield FactView(
        label="Rounds",
        value=f"{method.rounds}, every model and provider in each, in a new process; up to {method.runs:,} runs or "
        f"{method.seconds:g} s, after a warm-up until stable, or {method.warm_up_seconds:g} s",
    )
    yield FactView(label="Cool-down", value=f"until no throttling, at most {method.cool_down_s:g} s before a round")
    yield FactView(
        label="Intervals",
        value=f"two-stage bootstrap over rounds and runs, {method.confidence:.0%} for medians and 99% for ratios",
    )
    for device in found.devices:
        yield FactView(label=device.serial, value=_fact(device))


def _fact(device: DeviceEntry) -> str:
    return device.fingerprint or device.state
