"""Builds a fleet, top to bottom: what has not changed, the graph, the cluster, the runs, the report."""

import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packager import __version__
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.measuring.fleet import comparing, page
from packager.measuring.fleet.ahead import evaluations
from packager.measuring.fleet.document import FleetDocument, RunEntry
from packager.measuring.fleet.graph import TaskGraph
from packager.measuring.fleet.running import GraphRuns
from packager.measuring.fleet.writing import read, write
from packager.workflows.fleet import steps
from packager.workflows.fleet.asked import Asked, FoundProjects
from packager.workflows.fleet.entries import entry_of, exit_code_of, failed_gates, keep, means, targets_of
from packager.workflows.fleet.executing import run
from packager.workflows.fleet.finding import Stores, expand, fetch_releases, place_of

PAGE = "fleet.html"


def fleet(asked: Asked, console: Console) -> FleetDocument:
    """Builds all projects below `asked.out`, and writes the report there. A project that fails is a row of it.

    Raises ConfigError if no project can begin, ToolError for a cluster that cannot be used.
    """
    started = time.monotonic()
    before = read(asked.out)
    found = expand(asked)
    if not found.known and found.troubles:
        first = next(iter(found.troubles.values()))
        raise ConfigError(first.message, hint=first.hint)
    runs: GraphRuns | None = None
    graph, known, made, ahead = TaskGraph(), 0, list[str](), set[str]()
    with _ledger() as ledger:
        place = place_of(asked, ledger)
        stores = Stores(asked, console)
        fetch_releases(asked, found, place, stores, console)
        if found.expanded:
            with _tidy(asked, found):
                graph, known, runs, ahead = run(asked, found, place, stores, console)
                made = steps.made_in(ledger)
    outcomes = runs.outcomes if runs else {}
    entries = tuple(entry_of(project, asked, found, graph, outcomes) for project in asked.projects)
    keep(asked, found, graph, outcomes)
    searched = evaluations(made, ahead, outcomes.values())
    changes = comparing.changes(before, entries)
    cautions = tuple(dict.fromkeys(text for each in outcomes.values() for text in each.cautions))
    for text in cautions:
        console.caution(text)
    gates = tuple(failed_gates(asked, entries, changes))
    document = FleetDocument(
        schema_version=1,
        mobpack=__version__,
        exit_code=exit_code_of(entries, gates),
        run=RunEntry(
            workers=len(runs.workers) if runs else 0,
            seconds=round(time.monotonic() - started, 3),
            tasks=len(graph),
            known=known,
            made=len(made),
            repeated=len(made) - len(set(made)),
            shared=sum(len(task.projects) > 1 for task in graph),
            alone=sum(each.is_over_memory for each in outcomes.values()),
            scheduler_restarts=runs.restarts if runs else 0,
            warnings=cautions,
            evaluations=searched.all,
            evaluations_ahead=searched.ahead,
            evaluations_unneeded=searched.unneeded,
            seconds_by_kind=means(graph, outcomes),
        ),
        targets=targets_of(found),
        failed_gates=gates,
        is_first=before is None,
        changes=changes,
        projects=entries,
    )
    write(asked.out / PAGE, document, page.page(document))
    return document


@contextmanager
def _ledger() -> Iterator[Path]:
    """A folder in which the workers of this machine list what they make."""
    with tempfile.TemporaryDirectory(prefix="mobpack-fleet-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def _tidy(asked: Asked, found: FoundProjects) -> Iterator[None]:
    """After an interrupt, removes what the builds that were ended have begun to write beside the projects' folders."""
    names = "|".join(re.escape(each.project.name) for each in found.expanded)
    begun = re.compile(rf"\.({names})\.[0-9a-f]{{12}}")
    before = set(_named(asked.out, begun))
    try:
        yield
    except KeyboardInterrupt as stop:
        for path in set(_named(asked.out, begun)) - before:
            shutil.rmtree(path, ignore_errors=True)
        raise KeyboardInterrupt("projects that were finished are complete; run again to go on") from stop


def _named(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    return [path for path in folder.iterdir() if pattern.fullmatch(path.name)] if folder.is_dir() else []
