"""Measures fleets: overhead of a task, efficiency on workers of this machine, runs in which nothing has changed, and a
model of more workers from the measured times of steps.

usage: python -m benchmarks.fleet [--models 8] [--targets ios,web] [--workers 1,2]
"""

import argparse
import heapq
import os
import pickle
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packager.core.console import Console
from packager.fleet.cluster import connected
from packager.fleet.graph import Graph, Kind, Task, Work
from packager.fleet.outcome import Outcome, State
from packager.fleet.projects import Project, projects_of
from packager.fleet.running import Runs
from packager.workflows.fleet.expanding import expanded, graph_of
from packager.workflows.fleet.run import SHARES, Asked, fleet
from tests.caches import empty_cache
from tests.onnx_text import linear, saved

NOTHING = Project(name="p", file=Path("fleet.toml"), is_whole=False, document="{}")
WORKERS = (1, 2, 4, 16, 64)
MODELS, TARGETS = 100, ("ios", "web", "android")
"""Of the fleet that is modelled, with the times of the fleet that was built."""


def no_op(task: Task, *before: Outcome) -> Outcome:
    """A task that does nothing."""
    return Outcome(key=task.key, state=State.DONE, seconds=0.0)


class Times:
    """Collects the seconds of tasks by kind."""

    def __init__(self) -> None:
        self.seconds: dict[Kind, list[float]] = {}

    def ended(self, task: Task, outcome: Outcome) -> None:
        self.seconds.setdefault(task.work.kind, []).append(outcome.seconds)

    def tick(self, running: Sequence[str]) -> None:
        """Nothing is shown."""


def overhead(workers: int, count: int = 1000) -> float:
    """Seconds for each of `count` tasks that do nothing, in chains of two, scheduler and transfers included."""
    graph = Graph()
    for number in range(count // 2):
        work = Work(kind=Kind.PLAN, project=NOTHING, model=str(number))
        first = graph.add(Task(key=f"a-{number}", work=work, projects=("p",)))
        graph.add(Task(key=f"b-{number}", work=work, after=(first,), projects=("p",)))
    with connected(scheduler="", workers=workers) as cluster:
        known = cluster.workers((), ())
        run = Runs(cluster=cluster, workers=known, run=no_op, progress=Times(), arguments=lambda task: ())
        began = time.perf_counter()
        run.all(graph)
        return (time.perf_counter() - began) / count


def project(folder: Path, models: int, targets: Sequence[str]) -> tuple[Project, ...]:
    for number in range(models):
        saved(folder / "models" / f"net{number}.onnx", linear(seed=number))
    text = '[fleet]\nmodels = ["models/*.onnx"]\n' + "".join(f"[target.{each}]\n" for each in targets)
    (folder / "fleet.toml").write_text(text, encoding="utf-8", newline="\n")
    return projects_of([folder / "fleet.toml"])


def asked(projects: Sequence[Project], folder: Path, workers: int) -> Asked:
    return Asked(projects=tuple(projects), out=folder / f"out-{workers}", evidence=folder / "evidence", workers=workers)


def simulated(graph: Graph, seconds: Mapping[Kind, float], workers: int, overhead_s: float) -> float:
    """Makespan of `graph` on `workers`: each takes the next task that is ready, and the scheduler hands out one after
    another."""
    left = {task.key: len(task.after) for task in graph}
    after: dict[str, list[str]] = {task.key: [] for task in graph}
    for task in graph:
        for key in task.after:
            after[key].append(task.key)
    ready = [(0.0, place, task.key) for place, task in enumerate(graph) if not task.after]
    order = {task.key: place for place, task in enumerate(graph)}
    heapq.heapify(ready)
    free = [0.0] * workers
    handed, end = 0.0, 0.0
    while ready:
        since, _, key = heapq.heappop(ready)
        handed = max(handed, since) + overhead_s
        start = max(heapq.heappop(free), handed)
        done = start + seconds[graph[key].work.kind]
        heapq.heappush(free, done)
        end = max(end, done)
        for other in after[key]:
            left[other] -= 1
            if not left[other]:
                heapq.heappush(ready, (done, order[other], other))
    return end


def moved(graph: Graph) -> Iterator[int]:
    """Bytes of each task and of its outcome, as they travel."""
    for task in graph:
        outcome = Outcome(key=task.key, state=State.DONE, seconds=1.0, made=tuple(f"step/{'0' * 64}" for _ in range(5)))
        yield len(pickle.dumps(task)) + len(pickle.dumps(outcome))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--targets", default="ios,web")
    parser.add_argument("--workers", default="1,2")
    options = parser.parse_args()
    targets = options.targets.split(",")
    counts = [int(each) for each in options.workers.split(",")]
    each_s = overhead(counts[-1])
    print(f"overhead: {each_s * 1000:.2f} ms a task (1,000 that do nothing, {counts[-1]} workers)", flush=True)
    console = Console(quiet=True)
    took: dict[int, float] = {}
    kinds: dict[str, float] = {}
    for workers in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.environ["XDG_CACHE_HOME"] = str(empty_cache(folder / "cache"))
            projects = project(folder, options.models, targets)
            found = fleet(asked(projects, folder, workers), console)
            assert not found.exit_code
            took[workers] = found.run.seconds
            kinds = kinds or dict(found.run.seconds_by_kind)  # of one worker: others share the cores
            print(f"{workers} workers: {found.run.seconds:.1f} s, {found.run.tasks} tasks, {found.run.made} results")
            again = fleet(asked(projects, folder, workers), console)
            assert {each.state for each in again.projects} == {"unchanged"}
            per = again.run.seconds / found.run.tasks
            print(f"  nothing changed: {again.run.seconds:.2f} s, {per * 1000:.1f} ms for each task of the run before")
            warm = fleet(replace(asked(projects, folder, workers), out=folder / "warm"), console)
            print(f"  another output folder, warm store: {warm.run.seconds:.1f} s, {warm.run.tasks} tasks", flush=True)
    if len(counts) > 1:
        first, last = counts[0], counts[-1]
        print(f"efficiency on {last} workers: {took[first] * first / (took[last] * last):.2f} of linear")
    seconds = {kind: kinds.get(str(kind), 0.0) for kind in Kind}
    with tempfile.TemporaryDirectory() as name:
        projects = project(Path(name), MODELS, TARGETS)
        graph = graph_of([expanded(each, ()) for each in projects], SHARES)
    print(f"model of {MODELS} models x {len(TARGETS)} targets: {len(graph)} tasks")
    sizes = list(moved(graph))
    print(f"bytes through the scheduler: {sum(sizes) / len(sizes):.0f} a task, {sum(sizes) / 1e6:.2f} MB in all")
    alone = simulated(graph, seconds, 1, each_s)
    for workers in WORKERS:
        makespan = simulated(graph, seconds, workers, each_s)
        print(f"  {workers} workers: {makespan:.0f} s, {alone / workers / makespan:.2f} of linear")


if __name__ == "__main__":
    main()
