"""The results as a self-contained HTML page; the same results give the same bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from packager.measuring.bench import plots, words
from packager.measuring.bench.document import BenchDocument, RowEntry
from packager.measuring.bench.plots import LaneView, MemoryView, SpreadView, TickView
from packager.measuring.bench.words import digits, duration, name_of
from packager.render.pages.numbers import percent, plural
from packager.render.pages.parts import FactView, TileView
from packager.render.templates import render

TEMPLATE = "report/bench.html.j2"


@dataclass(frozen=True, kw_only=True)
class BenchRowView:
    number: int
    name: str
    runner: str
    p50: str
    interval: str
    p90: str
    p99: str
    rate: str
    load: str
    memory: str
    cpu: str
    ratio: str
    tone: str
    """CSS class of the ratio: `fair` for a noisy row"""


@dataclass(frozen=True, kw_only=True)
class NoteView:
    number: int
    text: str


@dataclass(frozen=True, kw_only=True)
class BenchModelView:
    """The rows of one model."""

    name: str
    inputs: str
    first: int
    """number of the row that ratios refer to"""
    rows: tuple[BenchRowView, ...]
    notes: tuple[NoteView, ...]
    lanes: tuple[LaneView, ...]
    spreads: tuple[SpreadView, ...]
    spread_width: int
    spread_height: int
    ticks: tuple[TickView, ...]
    memory: MemoryView | None


@dataclass(frozen=True, kw_only=True)
class ComparedView:
    number: int
    name: str
    runner: str
    before: str
    now: str
    ratio: str
    interval: str
    verdict: str
    tone: str


@dataclass(frozen=True, kw_only=True)
class SkippedView:
    names: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class BenchPageView:
    title: str
    failures: tuple[str, ...]
    tiles: tuple[TileView, ...]
    warnings: tuple[str, ...]
    models: tuple[BenchModelView, ...]
    baseline: str
    comparisons: tuple[ComparedView, ...]
    skipped: tuple[SkippedView, ...]
    facts: tuple[FactView, ...]


def page(found: BenchDocument) -> str:
    return render(TEMPLATE, view(found))


def view(found: BenchDocument) -> BenchPageView:
    return BenchPageView(
        title=", ".join(each.model for each in found.inputs),
        failures=found.failed_gates,
        tiles=tuple(_tiles(found)),
        warnings=tuple(words.warnings(found)),
        models=tuple(_models(found)),
        baseline=found.baseline,
        comparisons=tuple(_compared(found)),
        skipped=tuple(
            SkippedView(names=", ".join(names), reason=reason) for reason, names in words.skipped(found).items()
        ),
        facts=tuple(_facts(found)),
    )


def _tiles(found: BenchDocument) -> Iterator[TileView]:
    fastest = min(found.rows, key=lambda row: row.ratio)
    first = next(row for row in found.rows if row.model == fastest.model)
    ratio = f"{fastest.ratio:.2f} ({fastest.ratio_low:.2f} to {fastest.ratio_high:.2f}) times #{first.number}"
    yield TileView(
        label="Lowest median",
        value=duration(fastest.p50_ms),
        note=f"#{fastest.number} {name_of(fastest)} on {fastest.runner}" + ("" if fastest is first else f", {ratio}"),
    )
    known = [row for row in found.rows if row.peak_bytes]
    if known:
        least = min(known, key=lambda row: row.peak_bytes or 0)
        where = f"#{least.number} {name_of(least)} on {least.runner}"
        yield TileView(label="Least memory", value=words.memory(least), note=where)
    runners = list(dict.fromkeys(row.runner for row in found.rows))
    yield TileView(label="Timed", value=plural(len(found.rows), "row"), note=f"on {', '.join(runners)}")
    noisy = [f"#{row.number}" for row in found.rows if row.is_noisy]
    note = f"noisy: {', '.join(noisy)}" if noisy else "medians of all rounds agree within 10 %"
    yield TileView(label="Noise", value=plural(len(noisy), "noisy row") if noisy else "none", note=note)


def _models(found: BenchDocument) -> Iterator[BenchModelView]:
    for each in found.inputs:
        rows = [row for row in found.rows if row.model == each.model]
        if rows:
            batch = f"; {each.batch:,} items in a run" if each.batch > 1 else ""
            yield BenchModelView(
                name=each.model,
                inputs=f"{', '.join(each.shapes)} ({each.samples}){batch}",
                first=rows[0].number,
                rows=tuple(map(_row, rows)),
                notes=tuple(NoteView(number=row.number, text="; ".join(words.about(row, found))) for row in rows),
                lanes=plots.lanes(rows),
                spreads=plots.spreads(rows),
                spread_width=plots.CANVAS.width,
                spread_height=plots.CANVAS.height,
                ticks=plots.ticks(rows),
                memory=plots.memory(rows),
            )


def _row(row: RowEntry) -> BenchRowView:
    ends = f"{row.ratio_low:.2f} to {row.ratio_high:.2f}"
    return BenchRowView(
        number=row.number,
        name=name_of(row),
        runner=row.runner,
        p50=duration(row.p50_ms),
        interval=words.between(row.p50_low_ms, row.p50_high_ms),
        p90=duration(row.p90_ms),
        p99="" if row.p99_ms is None else duration(row.p99_ms),
        rate=digits(row.items_per_second),
        load="" if row.load_ms is None else duration(row.load_ms),
        memory=words.memory(row),
        cpu=duration(row.cpu_ms),
        ratio=f"{row.ratio:.2f} ({ends})",
        tone="fair" if row.is_noisy else "",
    )


TONES = {"faster": "pass", "slower": "poor", "no difference": "plain"}


def _compared(found: BenchDocument) -> Iterator[ComparedView]:
    named = {row.number: row for row in found.rows}
    for each in found.comparisons:
        row = named[each.number]
        yield ComparedView(
            number=each.number,
            name=name_of(row),
            runner=row.runner,
            before=duration(each.before_ms),
            now=duration(row.p50_ms),
            ratio=f"{each.ratio:.2f}",
            interval=f"{each.ratio_low:.2f} to {each.ratio_high:.2f}",
            verdict=each.verdict,
            tone=TONES[each.verdict],
        )


def _facts(found: BenchDocument) -> Iterator[FactView]:
    machine, method = found.machine, found.method
    yield FactView(label="mobpack", value=found.mobpack)
    yield FactView(label="Processor", value=f"{machine.processor}, {machine.architecture}, {machine.cores} cores")
    yield FactView(label="System", value=machine.system)
    yield FactView(label="Threads", value=words.method(found))
    yield FactView(label="Frequency governor", value=machine.governor or "unknown")
    load = "unknown" if machine.load_before is None else f"{machine.load_before:.2f}"
    yield FactView(label="Load average before", value=load)
    yield FactView(label="Taken by the host", value="unknown" if machine.steal is None else percent(machine.steal))
    yield FactView(
        label="Rounds",
        value=f"{method.rounds_done}, every file in each; up to {method.runs:,} runs or {method.seconds:g} s, after a "
        f"warm-up until stable, or {method.warm_up_seconds:g} s",
    )
    yield FactView(
        label="Intervals",
        value=f"two-stage bootstrap over rounds and runs, {method.confidence:.0%} for medians and 99% for ratios",
    )
