"""`mobpack fleet`: builds many projects on many workers."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import (
    MODEL,
    cache_option,
    json_option,
    no_code_option,
    outside_option,
    print_json,
    set_option,
    target_option,
)
from packager.cli.project_options import into

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.core.errors import MobpackError
    from packager.measuring.fleet.document import FleetDocument
    from packager.verification.partition.report import Gates
    from packager.workflows.fleet.asked import Asked

OWN_GATES = ("regressions", "skipped")
SHOWN = 5
"""Number of failed projects that the last message names."""


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
    """Options of `mobpack fleet`."""

    paths: tuple[Path, ...]
    out: Path
    targets: tuple[str, ...]
    settings: tuple[str, ...]
    workers: int | None
    scheduler: str
    insecure_scheduler: bool
    memory: str | None
    store: Path | None
    cache_url: str | None
    gates: tuple[str, ...]
    evidence: Path
    strict: bool
    verify: bool
    dry_run: bool
    no_code: bool
    allow_outside: bool
    as_json: bool


@click.command(short_help="Build many projects, on many machines.")
@click.argument("paths", type=MODEL, nargs=-1)
@click.option(
    "--out",
    "-o",
    type=MODEL,
    default=Path("dist-fleet"),
    show_default=True,
    help="Output folder, with a folder for each project and the report.",
)
@target_option
@set_option
@click.option(
    "--workers",
    "-w",
    type=click.IntRange(1, 1024),
    help="Number of workers on this machine; default: one for each two cores.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", default="", help="Run on the workers of this Dask scheduler: tls://host:8786."
)
@click.option(
    "--insecure-scheduler",
    is_flag=True,
    help="Allow a scheduler and workers on other machines without TLS: anyone who reaches them can run code there.",
)
@click.option("--memory", metavar="SIZE", help="Memory of each worker of this machine: 4GB; default: its share.")
@click.option("--store", type=MODEL, help="Folder of results that all workers share; default: each user's cache.")
@cache_option
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="GATE",
    help="max-partitions=4 or min-share=0.9 fail a project; regressions or skipped fail the fleet. Repeatable.",
)
@click.option(
    "--evidence",
    type=MODEL,
    default=Path("mobpack-evidence"),
    show_default=True,
    help="Folder for the evidence of failed comparisons, with a folder for each project.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors of their project.")
@click.option("--verify", is_flag=True, help="Build projects that have not changed, too.")
@click.option("--dry-run", is_flag=True, help="List the projects and the tasks, and build nothing.")
@no_code_option
@outside_option
@json_option
@into(FleetOptions)
def fleet(options: FleetOptions) -> None:
    """Build the projects of fleet.toml, or of the PATHS of several mobpack.toml, each as `mobpack build` does."""
    from packager.core.console import Console
    from packager.workflows.fleet.run import PAGE

    asked = _asked(options)
    as_json = options.as_json
    console = Console(quiet=as_json)
    if options.dry_run:
        list_tasks(asked, console, as_json=as_json)
        return
    from packager.core.to_json import plain
    from packager.workflows.fleet.run import fleet as build

    found = build(asked, console)
    page = options.out / PAGE
    document = {key: value for key, value in plain(found).items() if key != "schema-version"}
    if not as_json:
        show(found, page)
    if found.exit_code:
        raise failure(found, page, document)
    if as_json:
        print_json(document)


def _asked(options: FleetOptions) -> "Asked":
    from packager.core.errors import ConfigError
    from packager.measuring.fleet.projects import parse_size, projects_of
    from packager.workflows.fleet.asked import Asked

    if options.scheduler and options.workers:
        raise ConfigError("--workers starts workers here, --scheduler uses those of a cluster", hint="give one of them")
    return Asked(
        projects=projects_of(options.paths or (Path("fleet.toml"),), options.settings),
        out=options.out,
        evidence=options.evidence,
        targets=options.targets,
        workers=options.workers or max(1, (os.cpu_count() or 1) // 2),
        scheduler=options.scheduler,
        is_insecure_allowed=options.insecure_scheduler,
        gates=project_gates(options.gates),
        stops_on=tuple(name for name in options.gates if name in OWN_GATES),
        strict=options.strict,
        has_code=not options.no_code,
        is_outside_allowed=options.allow_outside,
        verify=options.verify,
        store=options.store.absolute() if options.store else None,
        cache=options.cache_url or "",
        memory_bytes=parse_size("--memory", options.memory) if options.memory else 0,
    )


def failure(found: "FleetDocument", page: Path, document: dict[str, object]) -> "MobpackError":
    """The error of a fleet in which something failed, with the exit code of the first project that did."""
    from packager.core import errors

    bad = [each.name for each in found.projects if each.state == "failed"]
    words = f"{len(bad)} of {len(found.projects)} projects failed: {errors.first_of(bad, SHOWN)}"
    kinds = (errors.ConfigError, errors.ModelError, errors.ToolError, errors.ParityError, errors.GateError)
    kind = next((each for each in kinds if found.exit_code == each.EXIT_CODE), errors.InternalError)
    error = kind(words if bad else found.failed_gates[0], hint=f"{page} has all of them")
    error.document = document
    return error


def project_gates(gates: tuple[str, ...]) -> "Gates":
    """The gates of `--fail-on` for each project. Raises ConfigError for an unknown one."""
    from packager.cli.options import parse_gates
    from packager.config import CheckTable
    from packager.core.errors import ConfigError, nearest

    known = ("max-partitions", "min-share", *OWN_GATES)
    for text in gates:
        if text.partition("=")[0] not in known:
            raise ConfigError(f"--fail-on {text}: unknown gate", hint=nearest(text.partition("=")[0], known))
    return parse_gates(tuple(text for text in gates if text not in OWN_GATES), CheckTable())


def list_tasks(asked: "Asked", console: "Console", *, as_json: bool) -> None:
    """Prints what a run would do."""
    from packager.workflows.fleet.asked import SHARES
    from packager.workflows.fleet.expanding import expanded, graph_of

    graph = graph_of([expanded(each, asked.targets) for each in asked.projects], SHARES)
    if as_json:
        tasks = [
            {"task": each.words, "projects": list(each.projects), "needs": dict(each.needs), "after": list(each.after)}
            for each in graph
        ]
        print_json({"projects": [each.name for each in asked.projects], "tasks": tasks})
        return
    console.table("", ["task", "for"], [(each.words, ", ".join(each.projects)) for each in graph])
    console.say(f"{len(asked.projects)} projects, {len(graph)} tasks")


def show(found: "FleetDocument", page: Path) -> None:
    """Prints the matrix, what is worse than before, and why projects failed."""
    from packager.core.console import Console, size
    from packager.measuring.fleet.page import words_of_searches
    from packager.measuring.fleet.progress import duration

    console = Console()
    rows = []
    for each in found.projects:
        cells = {cell.target: cell for cell in each.cells}
        sizes = [
            size(cells[name].size_bytes or 0) if name in cells and cells[name].size_bytes else ""
            for name in found.targets
        ]
        rows.append((each.name, *sizes, each.state))
    console.table("", ["project", *found.targets, ""], rows)
    for change in found.changes:
        where = f"{change.project}, {change.target}" if change.target else change.project
        console.say(f"{'worse: ' if change.is_regression else ''}{where}: {change.text}")
    for each in found.projects:
        if each.message:
            console.say(f"{each.name} {each.state}: {each.message}")
            console.say(f"  {each.hint}" if each.hint else "")
    for gate in found.failed_gates:
        console.say(gate)
    if found.run.evaluations_ahead:
        console.say(words_of_searches(found.run))
    good = sum(each.state in ("built", "unchanged") for each in found.projects)
    console.say(
        f"{good} of {len(found.projects)} projects in {duration(found.run.seconds)} on {found.run.workers} workers; "
        f"report: {page}"
    )
