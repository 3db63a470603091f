"""Runs the tasks of a fleet that are left on a cluster."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.measuring.fleet.ahead import Ahead
from packager.measuring.fleet.cluster import Cluster, connected
from packager.measuring.fleet.graph import Task, TaskGraph, TaskKind
from packager.measuring.fleet.outcome import TaskState
from packager.measuring.fleet.progress import Board, Lines, LiveTable, is_live
from packager.measuring.fleet.resources import RUNNER, Worker, able, hosts, largest
from packager.measuring.fleet.running import GraphRuns, Progress
from packager.quantizers import Auto
from packager.workflows.fleet import steps
from packager.workflows.fleet.asked import SHARES, Asked, FoundProjects
from packager.workflows.fleet.entries import targets_of
from packager.workflows.fleet.expanding import graph_of, markers, with_needs
from packager.workflows.fleet.finding import Stores, done_before
from packager.workflows.shared_store import REMOTE

SEEN = 50
"""Number of files that workers are asked for before a run begins."""


def run(
    asked: Asked, found: FoundProjects, place: steps.FleetFolders, stores: Stores, console: Console
) -> tuple[TaskGraph, int, GraphRuns, set[str]]:
    """Runs what is not known yet. Returns the graph, the number of tasks that were known, the runs, and the evaluations
    of searches that were made ahead."""
    whole = graph_of(found.expanded, SHARES)
    marks = markers(whole, found.expanded)
    done = list(done_before(whole, marks, found, stores))
    graph = whole.without(done)
    console.say(
        f"{len(asked.projects)} projects: {len(found.same)} have not changed, {len(found.expanded)} to build; "
        f"{len(graph)} tasks, {len(done)} more are done already"
    )
    allowed = asked.is_insecure_allowed
    with connected(scheduler=asked.scheduler, workers=asked.workers, is_insecure_allowed=allowed) as cluster:
        runners = sorted({name for each in found.expanded for name in each.config.parity.runners})
        runners = sorted({*runners, *(name for each in found.expanded for name in each.config.parity.require)})
        workers = cluster.workers(runners, _files(found))
        _refuse_blind(workers)
        if asked.scheduler:
            _say_who_is_trusted(workers, console)
        shares = asked.cache or os.environ.get(REMOTE) or any(each.config.cache.remote for each in found.expanded)
        if len(hosts(workers)) > 1 and asked.store is None and not shares:
            console.caution("workers of several machines share no store: each makes all; give --cache or --store")
        limit_bytes = 0 if asked.scheduler else asked.memory_bytes or memory_bytes() / max(asked.workers, 1)
        place = replace(place, limit_bytes=limit_bytes)
        graph = with_needs(graph, dict(_runner_needs(graph, found, workers)))
        searches = {task.key: task for task in graph if _is_search(task, found, workers)}
        ahead = Ahead(cluster=cluster, run=steps.ahead, arguments=(place,), searches=searches)
        with _shown(graph, found, workers, cluster, console) as progress:
            runs = GraphRuns(
                cluster=cluster,
                workers=workers,
                run=steps.run,
                say=console.say,
                refresh=lambda: cluster.workers(runners, ()),
                progress=progress,
                idle=ahead.offer,
                arguments=lambda task: (place, marks.get(task.key)),
            )
            runs.all(graph)
            large = replace(place, limit_bytes=0 if asked.scheduler else memory_bytes())
            repeat_alone(graph, runs, lambda task: (large, marks.get(task.key)), console)
            ahead.close()
    return graph, len(done), runs, ahead.made


def _is_search(task: Task, found: FoundProjects, workers: Sequence[Worker]) -> bool:
    """Whether a task is a search for a quantizer that every worker can help with."""
    if task.work.kind is not TaskKind.QUANTIZE or len(able(workers, task.needs)) < len(workers):
        return False
    return isinstance(found.known[task.projects[0]].config.quantizer_of(task.work.variant), Auto)


def repeat_alone(
    graph: TaskGraph, runs: GraphRuns, arguments: Callable[[Task], tuple[object, ...]], console: Console
) -> None:
    """Repeats tasks that took too much memory, or ended their worker: one by one, on the largest worker, with other
    `arguments`; then what waited for them."""
    again = [key for key, each in runs.outcomes.items() if each.is_over_memory]
    if not again:
        return
    first = [key for key in again if runs.outcomes[key].state is TaskState.FAILED]
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
            alone = TaskGraph()
            alone.add(replace(task, after=()))
            runs.all(alone, only=largest(runs.workers))


def _files(found: FoundProjects) -> list[str]:
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


def _say_who_is_trusted(workers: Sequence[Worker], console: Console) -> None:
    """Says from whom the workers of others take code."""
    for trusted in dict.fromkeys(each.about.trusts for each in workers):
        names = [each.name for each in workers if each.about.trusts == trusted]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        console.say(f"  worker {names[0]}{more}: runs code of {trusted}")


def _runner_needs(
    graph: TaskGraph, found: FoundProjects, workers: Sequence[Worker]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Task -> the runners that a worker must have for it. Comparisons need theirs; a build needs those that the project
    requires, and others that it compares on where one worker has them all."""
    configs = {each.project.name: each.config for each in found.expanded}
    for task in graph:
        parity = configs[task.projects[0]].parity
        wanted: dict[str, float] = {}
        if task.work.kind is TaskKind.COMPARE and able(workers, {RUNNER + task.work.runner: 1}):
            wanted = {RUNNER + task.work.runner: 1}
        elif task.work.kind is TaskKind.BUILD:
            wanted = {RUNNER + name: 1 for name in parity.require}
            for name in parity.runners:
                more = {**wanted, RUNNER + name: 1.0}
                wanted = more if able(workers, {**task.needs, **more}) else wanted
        if wanted:
            yield task.key, wanted


@contextmanager
def _shown(
    graph: TaskGraph, found: FoundProjects, workers: Sequence[Worker], cluster: Cluster, console: Console
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
        yield LiveTable(board=board, projects=projects, targets=targets_of(found), live=live)


def memory_bytes() -> float:
    """Memory of this machine."""
    import psutil

    return float(psutil.virtual_memory().total)
