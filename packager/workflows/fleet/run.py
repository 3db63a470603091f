"""Builds a fleet, top to bottom: what has not changed, the graph, the cluster, the runs, the report."""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packager import __version__
from packager.core.console import Console
from packager.core.errors import ConfigError, MobpackError, ToolError
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.fleet import comparing, page
from packager.fleet.cluster import Cluster, connected
from packager.fleet.document import FleetDocument, ProjectEntry, RunEntry
from packager.fleet.graph import Graph, Kind, Task
from packager.fleet.outcome import Outcome, State, Trouble
from packager.fleet.progress import Board, Lines, LiveTable, is_live
from packager.fleet.projects import Project
from packager.fleet.resources import RUNNER, Worker, able, hosts, largest
from packager.fleet.results import cells_of
from packager.fleet.running import Progress, Runs
from packager.fleet.writing import read, write
from packager.verification.partition.report import Gates
from packager.workflows import unchanged
from packager.workflows.confinement import refuse_outside
from packager.workflows.fleet import steps
from packager.workflows.fleet.expanding import Expanded, expanded, graph_of, markers, with_needs
from packager.workflows.fleet.marks import is_done
from packager.workflows.ingredients import Installed
from packager.workflows.shared_builds import SharedBuild, fetched, shared_build
from packager.workflows.shared_store import REMOTE, finish, named, remote_of
from packager.workflows.trust import refuse_code

SHARES = 4
"""Number of tasks that a search for sensitive layers is split into."""
PAGE = "fleet.html"
FETCHERS = 8
"""Number of releases that are fetched at the same time."""
SEEN = 50
"""Number of files that workers are asked for before a run begins."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A fleet to build, and how."""

    projects: tuple[Project, ...]
    out: Path
    evidence: Path
    targets: tuple[str, ...] = ()
    workers: int = 1
    scheduler: str = ""
    gates: Gates = field(default_factory=Gates)
    stops_on: tuple[str, ...] = ()
    """gates of the fleet itself: `regressions`, `skipped`"""
    strict: bool = False
    has_code: bool = True
    is_outside_allowed: bool = False
    verify: bool = False
    """whether projects that have not changed are built all the same"""
    store: Path | None = None
    """folder of the store; None for that of the user"""
    cache: str = ""
    """address of the store of several machines; empty for those of the projects"""
    memory_bytes: float = 0
    """memory of a task on a worker of this machine; 0 for its share"""


@dataclass(kw_only=True)
class Found:
    """The projects, before anything runs."""

    expanded: list[Expanded] = field(default_factory=list)
    """those that are to be built"""
    troubles: dict[str, Trouble] = field(default_factory=dict)
    """name -> why it cannot even begin"""
    same: dict[str, Expanded] = field(default_factory=dict)
    """those of which nothing has changed since they were built"""
    known: dict[str, Expanded] = field(default_factory=dict)
    """all that have a configuration"""
    begun: dict[str, unchanged.Start] = field(default_factory=dict)
    sent: dict[str, unchanged.Summary] = field(default_factory=dict)
    """those of `same` that another machine has built, with its words"""


def fleet(asked: Asked, console: Console) -> FleetDocument:
    """Builds all projects below `asked.out`, and writes the report there. A project that fails is a row of it.

    Raises ConfigError if no project can begin, ToolError for a cluster that cannot be used.
    """
    started = time.monotonic()
    before = read(asked.out)
    found = _expand(asked)
    if not found.known and found.troubles:
        first = next(iter(found.troubles.values()))
        raise ConfigError(first.message, hint=first.hint)
    runs: Runs | None = None
    graph, known, made = Graph(), 0, list[str]()
    with _ledger() as ledger:
        place = place_of(asked, ledger)
        fetch_releases(asked, found, place, console)
        if found.expanded:
            with _tidy(asked, found):
                graph, known, runs = _run(asked, found, place, console)
                made = steps.made_in(ledger)
    outcomes = runs.outcomes if runs else {}
    entries = tuple(_entry(project, asked, found, graph, outcomes) for project in asked.projects)
    _keep(asked, found, graph, outcomes)
    changes = comparing.changes(before, entries)
    cautions = tuple(dict.fromkeys(text for each in outcomes.values() for text in each.cautions))
    for text in cautions:
        console.caution(text)
    gates = tuple(_failed_gates(asked, entries, changes))
    document = FleetDocument(
        schema_version=1,
        mobpack=__version__,
        exit_code=_exit_code(entries, gates),
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
            seconds_by_kind=_means(graph, outcomes),
        ),
        targets=_targets(found),
        failed_gates=gates,
        is_first=before is None,
        changes=changes,
        projects=entries,
    )
    write(asked.out / PAGE, document, page.page(document))
    return document


def _means(graph: Graph, outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    took: dict[str, list[float]] = {}
    for task in graph:
        if outcomes[task.key].state is State.DONE:
            took.setdefault(str(task.work.kind), []).append(outcomes[task.key].seconds)
    return {kind: round(sum(times) / len(times), 4) for kind, times in took.items()}


@contextmanager
def _ledger() -> Iterator[Path]:
    """A folder in which the workers of this machine list what they make."""
    with tempfile.TemporaryDirectory(prefix="mobpack-fleet-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def _tidy(asked: Asked, found: Found) -> Iterator[None]:
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


def _expand(asked: Asked) -> Found:
    found = Found()
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


def place_of(asked: Asked, ledger: Path) -> steps.Place:
    return steps.Place(
        out=asked.out.absolute(),
        evidence=asked.evidence.absolute(),
        ledger=ledger,
        store=asked.store,
        cache=asked.cache or os.environ.get(REMOTE, ""),
        gates=asked.gates,
        strict=asked.strict,
        has_code=asked.has_code,
    )


def fetch_releases(asked: Asked, found: Found, place: steps.Place, console: Console) -> None:
    """Puts releases in place that another machine has built from the very same: their projects count as unchanged.
    Others get the key under which theirs will be shared."""
    installed, stores = Installed(), _Stores(asked, console)
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


class _Stores:
    """The store that each project uses, with the one of several machines behind it."""

    def __init__(self, asked: Asked, console: Console) -> None:
        self._asked, self._console = asked, console
        self._known: dict[str, Store] = {}

    def of(self, each: Expanded) -> Store:
        table = named(each.config.cache, self._asked.cache or None)
        if (name := str(table)) not in self._known:
            folder = self._asked.store or cache_folder() / "store"
            self._known[name] = Store(folder, remote=remote_of(table, self._console))
        return self._known[name]

    def finish(self) -> None:
        """Says what was fetched."""
        for each in self._known.values():
            if each.remote:
                finish(each.remote, self._console)


def _run(asked: Asked, found: Found, place: steps.Place, console: Console) -> tuple[Graph, int, Runs]:
    """Runs what is not known yet."""
    whole = graph_of(found.expanded, SHARES)
    marks = markers(whole, found.expanded)
    done = list(_done(whole, marks, asked, found, console))
    graph = whole.without(done)
    console.say(
        f"{len(asked.projects)} projects: {len(found.same)} have not changed, {len(found.expanded)} to build; "
        f"{len(graph)} tasks, {len(done)} more are done already"
    )
    with connected(scheduler=asked.scheduler, workers=asked.workers) as cluster:
        runners = sorted({name for each in found.expanded for name in each.config.parity.runners})
        runners = sorted({*runners, *(name for each in found.expanded for name in each.config.parity.require)})
        workers = cluster.workers(runners, _files(found))
        _refuse_blind(workers)
        shares = asked.cache or os.environ.get(REMOTE) or any(each.config.cache.remote for each in found.expanded)
        if len(hosts(workers)) > 1 and asked.store is None and not shares:
            console.caution("workers of several machines share no store: each makes all; give --cache or --store")
        limit_bytes = 0 if asked.scheduler else asked.memory_bytes or memory_bytes() / max(asked.workers, 1)
        place = replace(place, limit_bytes=limit_bytes)
        graph = with_needs(graph, dict(_runner_needs(graph, found, workers)))
        with _shown(graph, found, workers, cluster, console) as progress:
            runs = Runs(
                cluster=cluster,
                workers=workers,
                run=steps.run,
                say=console.say,
                refresh=lambda: cluster.workers(runners, ()),
                progress=progress,
                arguments=lambda task: (place, marks.get(task.key)),
            )
            runs.all(graph)
            large = replace(place, limit_bytes=0 if asked.scheduler else memory_bytes())
            repeat_alone(graph, runs, lambda task: (large, marks.get(task.key)), console)
    return graph, len(done), runs


def _done(graph: Graph, marks: Mapping[str, object], asked: Asked, found: Found, console: Console) -> Iterator[str]:
    """Keys of tasks that were done before, here or on a machine that shares its results."""
    stores = _Stores(asked, console)
    projects = {each.project.name: each for each in found.expanded}
    for key, inputs in marks.items():
        if is_done(stores.of(projects[graph[key].projects[0]]), inputs):
            yield key


def repeat_alone(graph: Graph, runs: Runs, arguments: Callable[[Task], tuple[Any, ...]], console: Console) -> None:
    """Repeats tasks that took too much memory, or ended their worker: one by one, on the largest worker, with other
    `arguments`; then what waited for them."""
    again = [key for key, each in runs.outcomes.items() if each.is_over_memory]
    if not again:
        return
    first = [key for key in again if runs.outcomes[key].state is State.FAILED]
    console.say(
        f"  tasks that took more memory than their worker has, or ended it: {len(first)}; they run again, alone"
    )
    runs.arguments = arguments
    for key in again:
        runs.forget(key)
    for task in graph:
        if task.key in again:
            bad = next((runs.outcomes[key] for key in task.after if not runs.outcomes[key].is_good), None)
            if bad:
                runs.block(task, bad)
                continue
            alone = Graph()
            alone.add(replace(task, after=()))
            runs.all(alone, only=largest(runs.workers))


def _files(found: Found) -> list[str]:
    """Some files that every worker must see at the same path."""
    files = [str(table.path) for each in found.expanded for table in each.config.model.values()]
    return list(dict.fromkeys(path for path in files if Path(path).exists()))[:SEEN]


def _refuse_blind(workers: Sequence[Worker]) -> None:
    for each in workers:
        if each.about.unseen:
            raise ToolError(
                f"worker {each.name} does not see {each.about.unseen[0]}",
                hint="projects lie in a folder that all machines have at the same path, such as a shared one",
            )


def _runner_needs(graph: Graph, found: Found, workers: Sequence[Worker]) -> Iterator[tuple[str, dict[str, float]]]:
    """Task -> the runners that a worker must have for it. Comparisons need theirs; a build needs those that the project
    requires, and others that it compares on where one worker has them all."""
    configs = {each.project.name: each.config for each in found.expanded}
    for task in graph:
        parity = configs[task.projects[0]].parity
        wanted: dict[str, float] = {}
        if task.work.kind is Kind.COMPARE and able(workers, {RUNNER + task.work.runner: 1}):
            wanted = {RUNNER + task.work.runner: 1}
        elif task.work.kind is Kind.BUILD:
            wanted = {RUNNER + name: 1 for name in parity.require}
            for name in parity.runners:
                more = {**wanted, RUNNER + name: 1.0}
                wanted = more if able(workers, {**task.needs, **more}) else wanted
        if wanted:
            yield task.key, wanted


@contextmanager
def _shown(
    graph: Graph, found: Found, workers: Sequence[Worker], cluster: Cluster, console: Console
) -> Iterator[Progress]:
    board = Board(graph=graph, worker_count=len(workers))
    projects = [each.project.name for each in found.expanded]
    if cluster.dashboard:
        console.say(f"the dashboard of Dask: {cluster.dashboard}")
    if console.quiet or not is_live():
        yield Lines(board=board, console=console, projects=projects)
        return
    from rich.live import Live

    from packager.core.console import rich_console

    with Live(console=rich_console(stderr=True), refresh_per_second=4) as live:
        yield LiveTable(board=board, projects=projects, targets=_targets(found), live=live)


def _targets(found: Found) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in found.known.values() for name in each.targets))


def _variants(each: Expanded) -> dict[str, str]:
    """Target -> variant."""
    own = {name: table.variant for name, table in each.config.targets().items() if name in each.targets}
    wrappers = {
        name: ", ".join(dict.fromkeys(own[need] for need in wrapper.NEEDS if need in own))
        for name, wrapper in each.config.wrappers().items()
        if name in each.targets
    }
    return {**own, **wrappers}


def _entry(project: Project, asked: Asked, found: Found, graph: Graph, outcomes: Mapping[str, Outcome]) -> ProjectEntry:
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
    state = "skipped" if bad.state is State.SKIPPED else "failed"
    trouble = bad.trouble or Trouble(message="a task before it failed")
    return _row(name, models, state, trouble, seconds, "", warnings, cells_of(Path(), _variants(each)))


def _row(
    name: str,
    models: tuple[str, ...],
    state: Any,
    trouble: Trouble | None,
    seconds: float,
    report: str,
    warnings: tuple[str, ...],
    cells: Any,
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


def _keep(asked: Asked, found: Found, graph: Graph, outcomes: Mapping[str, Outcome]) -> None:
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


def _failed_gates(asked: Asked, entries: Sequence[ProjectEntry], changes: Sequence[Any]) -> Iterator[str]:
    worse = [each for each in changes if each.is_regression]
    if "regressions" in asked.stops_on and worse:
        yield f"{len(worse)} regressions since the last run; the first: {worse[0].project}: {worse[0].text}"
    skipped = [each for each in entries if each.state == "skipped"]
    if "skipped" in asked.stops_on and skipped:
        yield f"{len(skipped)} projects were skipped; the first: {skipped[0].name}: {skipped[0].message}"


def _exit_code(entries: Sequence[ProjectEntry], gates: Sequence[str]) -> int:
    """That of the first project that failed; 6 for a gate of the fleet."""
    failed = [each.exit_code for each in entries if each.state == "failed"]
    return failed[0] if failed else 6 if gates else 0


def memory_bytes() -> float:
    """Memory of this machine."""
    import psutil

    return float(psutil.virtual_memory().total)
