"""Finds what is there before anything runs: projects that have not changed, releases of other machines, done tasks."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import MobpackError
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.measuring.fleet.graph import TaskGraph
from packager.measuring.fleet.outcome import Trouble
from packager.workflows import unchanged
from packager.workflows.confinement import refuse_outside
from packager.workflows.fleet import steps
from packager.workflows.fleet.asked import Asked, FoundProjects
from packager.workflows.fleet.expanding import Expanded, expanded
from packager.workflows.fleet.marks import is_done
from packager.workflows.ingredients import Installed
from packager.workflows.private_models import is_private
from packager.workflows.shared_builds import SharedBuild, fetched, shared_build
from packager.workflows.shared_store import REMOTE, finish, named, remote_of
from packager.workflows.trust import refuse_code

FETCHERS = 8
"""Number of releases that are fetched at the same time."""


def expand(asked: Asked) -> FoundProjects:
    found = FoundProjects()
    machines: dict[tuple[tuple[str, str], ...], str] = {}
    for project in asked.projects:
        try:
            each = expanded(project, asked.targets)
            if not asked.has_code:
                refuse_code(each.config)
            refuse_outside(each.config, project.file.parent, is_outside_allowed=asked.is_outside_allowed)
        except MobpackError as error:
            found.troubles[project.name] = Trouble(message=error.message, hint=error.hint, exit_code=error.EXIT_CODE)
            continue
        found.known[project.name] = each
        begun = unchanged.start(_command(asked, each))
        found.begun[project.name] = begun
        machine = machines.get(key := tuple(begun.variables.items()), "") or unchanged.machine(begun)
        machines[key] = machine
        out, evidence = asked.out / project.name, asked.evidence / project.name
        if not asked.verify and unchanged.known_result(begun, out, evidence, machine) is not None:
            found.same[project.name] = each
        else:
            found.expanded.append(each)
    return found


def _command(asked: Asked, each: Expanded) -> dict[str, object]:
    """Everything that an unchanged build is recognized by, beside its files."""
    project = each.project
    return {
        "fleet": project.name,
        "document": project.document,
        "settings": project.settings,
        "targets": each.targets,
        "out": asked.out.absolute(),
        "gates": asked.gates,
        "strict": asked.strict,
        "lock": unchanged.lock_beside(project.file, None) if project.is_whole else "",
    }


def place_of(asked: Asked, ledger: Path) -> steps.FleetFolders:
    return steps.FleetFolders(
        out=asked.out.absolute(),
        evidence=asked.evidence.absolute(),
        ledger=ledger,
        store=asked.store,
        cache=asked.cache or os.environ.get(REMOTE, ""),
        gates=asked.gates,
        strict=asked.strict,
        has_code=asked.has_code,
    )


def fetch_releases(
    asked: Asked, found: FoundProjects, place: steps.FleetFolders, stores: "Stores", console: Console
) -> None:
    """Puts releases in place that another machine has built from the very same: their projects count as unchanged.
    Others get the key under which theirs will be shared."""
    installed = Installed()
    shared: dict[str, SharedBuild] = {}
    for each in found.expanded:
        project = each.project
        request = steps.request_of(project, each.config, each.targets, place)
        try:
            build = shared_build(
                steps.described(project, each.config),
                request,
                stores.of(each),
                document=project.portable(),
                installed=installed,
            )
        except MobpackError:  # its tasks will say so
            continue
        if build:
            shared[project.name] = build

    def sent(each: Expanded) -> unchanged.Summary | None:
        build = shared.get(each.project.name)
        return fetched(build, stores.of(each)) if build and not asked.verify else None

    with ThreadPoolExecutor(FETCHERS) as pool:
        summaries = list(pool.map(sent, found.expanded))
    left = []
    for each, summary in zip(found.expanded, summaries, strict=True):
        build = shared.get(each.project.name)
        if summary is None:
            left.append(replace(each, shared=build.key if build else ""))
            continue
        found.same[each.project.name] = each
        found.sent[each.project.name] = summary
    found.expanded = left
    stores.finish()
    if found.sent:
        console.say(
            f"releases that another machine has built from the same files, and that are fetched: {len(found.sent)}"
        )


class Stores:
    """The store that each project uses, with the one of several machines behind it."""

    def __init__(self, asked: Asked, console: Console) -> None:
        self._asked, self._console = asked, console
        self._known: dict[str, Store] = {}

    def of(self, each: Expanded) -> Store:
        table = named(each.config.cache, self._asked.cache or None)
        is_hidden = is_private(each.config)
        if (name := f"{table} {is_hidden}") not in self._known:
            folder = self._asked.store or cache_folder() / "store"
            remote = None if is_hidden else remote_of(table, self._console)
            self._known[name] = Store(folder, remote=remote, is_private=is_hidden)
        return self._known[name]

    def finish(self) -> None:
        """Says what was fetched."""
        for each in self._known.values():
            if each.remote:
                finish(each.remote, self._console)


def done_before(graph: TaskGraph, marks: Mapping[str, object], found: FoundProjects, stores: Stores) -> Iterator[str]:
    """Keys of tasks that were done before, here or on a machine that shares its results."""
    projects = {each.project.name: each for each in found.expanded}
    for key, inputs in marks.items():
        if is_done(stores.of(projects[graph[key].projects[0]]), inputs):
            yield key
