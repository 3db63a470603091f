"""The result of a fleet as a self-contained HTML page."""

from collections.abc import Iterator
from dataclasses import dataclass

from packager.core.console import size
from packager.measuring.fleet.document import CellEntry, FleetDocument, ProjectEntry, RunEntry
from packager.measuring.fleet.progress import duration
from packager.render.pages.numbers import percent, plural
from packager.render.pages.parts import FactView, TileView
from packager.render.templates import render

TEMPLATE = "report/fleet.html.j2"
TONES = {"built": "pass", "unchanged": "pass", "failed": "poor", "skipped": "fair"}


@dataclass(frozen=True, kw_only=True)
class MatrixCellView:
    """One cell: a word or a size, and up to four facts below it."""

    head: str
    tone: str
    facts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FleetRowView:
    name: str
    models: str
    state: str
    tone: str
    message: str
    hint: str
    link: str
    """to the report; empty without one"""
    seconds: str
    warnings: tuple[str, ...]
    cells: tuple[MatrixCellView, ...]


@dataclass(frozen=True, kw_only=True)
class FleetChangeView:
    where: str
    text: str
    tone: str


@dataclass(frozen=True, kw_only=True)
class FleetPageView:
    title: str
    failures: tuple[str, ...]
    tiles: tuple[TileView, ...]
    changes: tuple[FleetChangeView, ...]
    targets: tuple[str, ...]
    span: int
    """number of columns"""
    rows: tuple[FleetRowView, ...]
    facts: tuple[FactView, ...]


def page(found: FleetDocument) -> str:
    return render(TEMPLATE, view(found))


def view(found: FleetDocument) -> FleetPageView:
    order = {"failed": 0, "skipped": 1}
    rows = sorted(found.projects, key=lambda each: order.get(each.state, 2))
    return FleetPageView(
        title=plural(len(found.projects), "project"),
        failures=found.failed_gates,
        tiles=tuple(_tiles(found)),
        changes=tuple(
            FleetChangeView(
                where=f"{each.project}, {each.target}" if each.target else each.project,
                text=each.text,
                tone="poor" if each.is_regression else "plain",
            )
            for each in found.changes
        ),
        targets=found.targets,
        span=len(found.targets) + 2,
        rows=tuple(_row(each, found.targets) for each in rows),
        facts=tuple(_facts(found)),
    )


def _tiles(found: FleetDocument) -> Iterator[TileView]:
    states = [each.state for each in found.projects]
    good = [each for each in states if each in ("built", "unchanged")]
    yield TileView(
        label="Built", value=f"{len(good)} of {len(states)}", note=f"{states.count('unchanged')} had not changed"
    )
    bad = states.count("failed")
    yield TileView(label="Failed", value=str(bad) if bad else "none", note=f"{states.count('skipped')} skipped")
    worse = sum(each.is_regression for each in found.changes)
    note = "no earlier run to compare with" if found.is_first else f"{_changes(found)} since the last run"
    yield TileView(label="Regressions", value=str(worse) if worse else "none", note=note)
    run = found.run
    yield TileView(
        label="Time",
        value=duration(run.seconds),
        note=f"{plural(run.tasks, 'task')} on {plural(run.workers, 'worker')}",
    )


def _changes(found: FleetDocument) -> str:
    return plural(len(found.changes), "change") if found.changes else "no change"


def _row(each: ProjectEntry, targets: tuple[str, ...]) -> FleetRowView:
    cells = {cell.target: cell for cell in each.cells}
    return FleetRowView(
        name=each.name,
        models=", ".join(each.models) if each.models != (each.name,) else "",
        state=each.state,
        tone=TONES[each.state],
        message=each.message,
        hint=each.hint,
        link=each.report,
        seconds=duration(each.seconds) if each.seconds else "",
        warnings=each.warnings,
        cells=tuple(_cell(cells.get(target), each) for target in targets),
    )


def _cell(cell: CellEntry | None, project: ProjectEntry) -> MatrixCellView:
    if cell is None:
        return MatrixCellView(head="", tone="plain", facts=())
    if project.state in ("failed", "skipped") or cell.size_bytes is None:
        return MatrixCellView(head=project.state, tone=TONES[project.state], facts=())
    facts = [cell.variant]
    if cell.error is not None:
        facts.append(f"error {cell.error:.2g}")
    if cell.distance is not None:
        facts.append(f"{cell.distance:.2g} from the model")
    if cell.partitions is not None:
        share = "" if cell.share is None else f", {percent(cell.share)} of the MACs"
        facts.append(plural(cell.partitions, "partition") + share)
    return MatrixCellView(head=size(cell.size_bytes), tone="plain", facts=tuple(facts))


def words_of_searches(run: RunEntry) -> str:
    """`of 14 evaluations idle workers made 6 ahead; 2 were not needed`"""
    unneeded = f"{run.evaluations_unneeded or 'none'} {'was' if run.evaluations_unneeded == 1 else 'were'} not needed"
    return f"of {plural(run.evaluations, 'evaluation')} idle workers made {run.evaluations_ahead} ahead; {unneeded}"


def _facts(found: FleetDocument) -> Iterator[FactView]:
    run = found.run
    yield FactView(label="mobpack", value=found.mobpack)
    yield FactView(label="Tasks", value=f"{run.tasks:,}, {run.shared:,} of them for several projects")
    yield FactView(label="Already in the store", value=plural(run.known, "task"))
    yield FactView(label="Computed", value=plural(run.made, "result"))
    if run.evaluations_ahead:
        yield FactView(label="Searches", value=words_of_searches(run))
    if run.alone:
        yield FactView(label="Repeated alone, for their memory", value=plural(run.alone, "task"))
    if run.scheduler_restarts:
        yield FactView(label="Scheduler lost and found", value=f"{run.scheduler_restarts} times")
    for text in run.warnings:
        yield FactView(label="Warning", value=text)
