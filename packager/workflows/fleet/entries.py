"""Rows, gates and times of a fleet that has run, and what the next run goes by."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packager.measuring.fleet.document import CellEntry, ChangeEntry, ProjectEntry, State
from packager.measuring.fleet.graph import TaskGraph
from packager.measuring.fleet.outcome import TaskOutcome, TaskState, Trouble
from packager.measuring.fleet.projects import FleetProject
from packager.measuring.fleet.results import cells_of
from packager.targets.target import variants_of
from packager.workflows import unchanged
from packager.workflows.fleet.asked import Asked, FoundProjects
from packager.workflows.fleet.expanding import Expanded


def entry_of(
    project: FleetProject, asked: Asked, found: FoundProjects, graph: TaskGraph, outcomes: Mapping[str, TaskOutcome]
) -> ProjectEntry:
    name = project.name
    if name in found.troubles:
        return _row(name, (), "failed", found.troubles[name], 0.0, "", (), ())
    each = found.known[name]
    models = tuple(each.config.model)
    out = asked.out / name
    if name in found.same:
        warnings = found.sent[name].warnings if name in found.sent else ()
        cells = cells_of(out, _variants(each))
        return _row(name, models, "unchanged", None, 0.0, f"{name}/report.html", warnings, cells)
    own = [outcomes[task.key] for task in graph.of(name)]
    seconds = sum(one.seconds for one in own)
    warnings = tuple(dict.fromkeys(text for one in own for text in one.warnings))
    bad = next((one for one in own if not one.is_good), None)
    if bad is None:
        cells = cells_of(out, _variants(each))
        return _row(name, models, "built", None, seconds, f"{name}/report.html", warnings, cells)
    state: State = "skipped" if bad.state is TaskState.SKIPPED else "failed"
    trouble = bad.trouble or Trouble(message="a task before it failed")
    return _row(name, models, state, trouble, seconds, "", warnings, cells_of(Path(), _variants(each)))


def _variants(each: Expanded) -> dict[str, str]:
    """Target -> its variants, in words."""
    known = each.config.targets()
    own = {name: variants_of(table) for name, table in known.items() if name in each.targets}
    wrappers = {
        name: tuple(dict.fromkeys(variant for need in wrapper.NEEDS if need in own for variant in own[need]))
        for name, wrapper in each.config.wrappers().items()
        if name in each.targets
    }
    return {name: ", ".join(variants) for name, variants in {**own, **wrappers}.items()}


def _row(
    name: str,
    models: tuple[str, ...],
    state: State,
    trouble: Trouble | None,
    seconds: float,
    report: str,
    warnings: tuple[str, ...],
    cells: tuple[CellEntry, ...],
) -> ProjectEntry:
    return ProjectEntry(
        name=name,
        models=models,
        state=state,
        message=trouble.message if trouble else "",
        hint=trouble.hint if trouble else "",
        exit_code=trouble.exit_code if trouble else 0,
        seconds=round(seconds, 3),
        report=report,
        warnings=warnings,
        cells=cells,
    )


def targets_of(found: FoundProjects) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in found.known.values() for name in each.targets))


def keep(asked: Asked, found: FoundProjects, graph: TaskGraph, outcomes: Mapping[str, TaskOutcome]) -> None:
    """Records what was built, so that the next run ends at once where nothing has changed."""
    ended = {name: (found.same[name], summary) for name, summary in found.sent.items()}
    for each in found.expanded:
        own = [outcomes[task.key] for task in graph.of(each.project.name)]
        if all(one.is_good for one in own):
            warnings = tuple(dict.fromkeys(text for one in own for text in one.warnings))
            ended[each.project.name] = each, unchanged.Summary(rows=(), lines=(), warnings=warnings)
    for name, (each, summary) in ended.items():
        build = unchanged.Ended(
            config=each.config,
            project=each.project.file,
            targets=each.targets,
            out=asked.out / name,
            summary=summary,
        )
        unchanged.keep(found.begun[name], build)


def failed_gates(asked: Asked, entries: Sequence[ProjectEntry], changes: Sequence[ChangeEntry]) -> Iterator[str]:
    worse = [each for each in changes if each.is_regression]
    if "regressions" in asked.stops_on and worse:
        yield f"{len(worse)} regressions since the last run; the first: {worse[0].project}: {worse[0].text}"
    skipped = [each for each in entries if each.state == "skipped"]
    if "skipped" in asked.stops_on and skipped:
        yield f"{len(skipped)} projects were skipped; the first: {skipped[0].name}: {skipped[0].message}"


def exit_code_of(entries: Sequence[ProjectEntry], gates: Sequence[str]) -> int:
    """Exit code of the first project that failed; 6 for a gate of the fleet."""
    failed = [each.exit_code for each in entries if each.state == "failed"]
    return failed[0] if failed else 6 if gates else 0


def means(graph: TaskGraph, outcomes: Mapping[str, TaskOutcome]) -> dict[str, float]:
    took: dict[str, list[float]] = {}
    for task in graph:
        if outcomes[task.key].state is TaskState.DONE:
            took.setdefault(str(task.work.kind), []).append(outcomes[task.key].seconds)
    return {kind: round(sum(times) / len(times), 4) for kind, times in took.items()}
