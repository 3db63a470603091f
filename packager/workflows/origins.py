"""The provenance of a release: reads all that a build is made of before it begins, and again when it has ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import GateError
from packager.core.values import Plan
from packager.distribution.locking import LOCK, Lock, compare, read
from packager.distribution.locking.lock import BUILD
from packager.distribution.provenance import FILE_NAME, BuildParameters, links, statement
from packager.targets import Shipped
from packager.workflows.ingredients import BuildProject, ingredients
from packager.workflows.inputs import sources_of
from packager.workflows.options import options_of
from packager.workflows.requested import BuildRequest


@dataclass(frozen=True, kw_only=True)
class Origins:
    """A project with a lock, and all that its build read when it began."""

    project: BuildProject
    lock: Lock


def origins_of(project: BuildProject | None, targets: Sequence[str], console: Console) -> Origins | None:
    """None for a project without a lock. Says so where the lock is out of date."""
    if project is None or not project.lock.exists():
        return None
    found = ingredients(project, targets)
    locked = read(project.lock)
    changes = [each for each in compare(locked, found) if (each.table, each.kind) != (BUILD, "removed")]
    if changes and locked.values(BUILD) == found.values(BUILD):
        console.say(f"{LOCK} is out of date: {changes[0].sentence}; run `mobpack lock`, or build with --locked")
    for each in found.not_locked:
        console.say(f"not locked: {each}")
    return Origins(project=project, lock=found)


def write_provenance(
    origins: Origins | None, plans: Sequence[Plan], shipped: Sequence[Shipped], request: BuildRequest, staging: Path
) -> None:
    """Writes the statement to `staging`. Raises GateError if anything that the build read has changed meanwhile."""
    if origins is None:
        return
    project = origins.project
    if changes := compare(origins.lock, ingredients(project, request.targets)):
        raise GateError(
            f"a source changed while the build ran: {changes[0].sentence}",
            hint="build again, and change nothing meanwhile",
        )
    parameters = BuildParameters(
        targets=request.targets,
        settings=project.settings,
        shapes=project.shapes,
        emit_project=request.emit_project,
        emit_ort_package=request.emit_ort_package,
    )
    sources = {name: tuple(sources_of(table)) for name, table in project.config.model.items()}
    chain = links(plans, shipped, sources, staging)
    text = statement(origins.lock, parameters, options_of(project.config, request.targets), chain, staging)
    (staging / FILE_NAME).write_text(text, encoding="utf-8", newline="\n")
