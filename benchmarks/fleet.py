"""Measures fleets: overhead of a task, efficiency on workers of this machine, runs in which nothing has changed, and a
model of more workers from the measured times of steps.

usage: python -m benchmarks.fleet [--models 10] [--targets android,ios,web] [--workers 1,2] [--once]

The control of two workers is two fleets of one worker each, side by side: programs that share nothing but the machine
lose what its memory and its cores lose. `--once` builds a fleet, and does nothing else.

Times are of the wall clock and of the processors: user and system time of this process, the workers and their programs,
which other work on the machine changes little. Everything starts from an empty store.
"""

import argparse
import heapq
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from packager.core.console import Console
from packager.measuring.fleet.cluster import connected
from packager.measuring.fleet.graph import Task, TaskGraph, TaskKind, TaskWork
from packager.measuring.fleet.outcome import TaskOutcome, TaskState
from packager.measuring.fleet.projects import FleetProject, projects_of
from packager.measuring.fleet.running import GraphRuns
from packager.workflows.fleet.asked import SHARES, Asked
from packager.workflows.fleet.expanding import expanded, graph_of
from packager.workflows.fleet.run import fleet
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, saved

NOTHING = FleetProject(name="p", file=Path("fleet.toml"), is_whole=False, document="{}")
QUIET = Console(quiet=True)
WORKERS = (1, 2, 4, 16, 64)
MODELS, TARGETS = 100, ("ios", "web", "android")
"""Size of the fleet that is modelled, with the times of the fleet that was built."""


def no_op(task: Task, *before: TaskOutcome) -> TaskOutcome:
    """A task that does nothing."""
    return TaskOutcome(key=task.key, state=TaskState.DONE, seconds=0.0)


class Times:
    """Collects the seconds of tasks by kind."""

    def __init__(self) -> None:
        self.seconds: dict[TaskKind, list[float]] = {}

    def ended(self, task: Task, outcome: TaskOutcome) -> None:
        self.seconds.setdefault(task.work.kind, []).append(outcome.seconds)

    def tick(self, running: Sequence[str]) -> None:
        """Nothing is shown."""


@dataclass(frozen=True)
class Cost:
    """Seconds that something took."""

    wall_s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.wall_s:.1f} s ({self.cpu_s:.1f} s of CPU)"

    def efficiency(self, other: "Cost", workers: int, own: int) -> float:
        """Share of linear that `workers` reach with another cost of the same work, beside the `own` of this one."""
        return self.wall_s * own / (other.wall_s * workers)

    def per(self, count: int) -> str:
        return f"{self.wall_s / count * 1000:.2f} ms ({self.cpu_s / count * 1000:.2f} ms of CPU)"


@contextmanager
def measured(costs: list[Cost]) -> Iterator[None]:
    """Adds the cost of the block to `costs`."""
    wall_s, cpu_s = time.perf_counter(), processors_s()
    yield
    costs.append(Cost(time.perf_counter() - wall_s, processors_s() - cpu_s))


def processors_s() -> float:
    """User and system time of this process and of all that it started, those that have ended included."""
    own = psutil.Process()
    return sum(sum(each.cpu_times()[:4]) for each in (own, *own.children(recursive=True)))


def nothing(*before: object) -> int:
    """A task of Dask that does nothing."""
    return len(before)


def overhead(workers: int, count: int = 1000) -> tuple[Cost, Cost]:
    """The cost of `count` tasks that do nothing, in chains of two: of a fleet, and of Dask alone, which gets the same
    graph at once."""
    graph = TaskGraph()
    plain: dict[str, object] = {}
    for number in range(count // 2):
        work = TaskWork(kind=TaskKind.PLAN, project=NOTHING, model=str(number))
        first = graph.add(Task(key=f"a-{number}", work=work, projects=("p",)))
        graph.add(Task(key=f"b-{number}", work=work, after=(first,), projects=("p",)))
        plain |= {f"c-{number}": (nothing,), f"d-{number}": (nothing, f"c-{number}")}
    costs: list[Cost] = []
    with connected(scheduler="", workers=workers) as cluster:
        for _ in range(2):  # the first time, modules are imported
            with measured(costs):
                cluster.client.get(plain, list(plain))
            known = cluster.workers((), ())
            run = GraphRuns(cluster=cluster, workers=known, run=no_op, progress=Times(), arguments=lambda task: ())
            with measured(costs):
                run.all(graph)
    return costs[3], costs[2]


def project(folder: Path, models: int, targets: Sequence[str]) -> tuple[FleetProject, ...]:
    for number in range(models):
        saved(folder / "models" / f"net{number}.onnx", linear(seed=number))
    text = '[fleet]\nmodels = ["models/*.onnx"]\n' + "".join(f"[target.{each}]\n" for each in targets)
    (folder / "fleet.toml").write_text(text, encoding="utf-8", newline="\n")
    return projects_of([folder / "fleet.toml"])


def asked(projects: Sequence[FleetProject], folder: Path, workers: int) -> Asked:
    return Asked(projects=tuple(projects), out=folder / f"out-{workers}", evidence=folder / "evidence", workers=workers)


def simulated(graph: TaskGraph, seconds: Mapping[TaskKind, float], workers: int, overhead_s: float) -> float:
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


def moved(graph: TaskGraph) -> Iterator[int]:
    """Bytes of each task and of its outcome, as they travel."""
    for task in graph:
        outcome = TaskOutcome(
            key=task.key, state=TaskState.DONE, seconds=1.0, made=tuple(f"step/{'0' * 64}" for _ in range(5))
        )
        yield len(pickle.dumps(task)) + len(pickle.dumps(outcome))


@dataclass(kw_only=True)
class Measured:
    """Runs of one fleet."""

    models: int
    targets: Sequence[str]
    took: dict[int, Cost] = field(default_factory=dict)
    """by the number of workers"""
    kinds: dict[str, float] = field(default_factory=dict)
    """mean seconds of a task, by its kind, on one worker"""

    def run(self, workers: int, *, is_last: bool = False, is_once: bool = False) -> None:
        """Builds the fleet from an empty store, and, unless `is_once`, again with nothing changed."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.environ["XDG_CACHE_HOME"] = str(empty_cache(folder / "cache"))
            ask = asked(project(folder, self.models, self.targets), folder, workers)
            costs: list[Cost] = []
            with measured(costs):
                found = fleet(ask, QUIET)
            assert not found.exit_code, [each.message for each in found.projects]
            self.took[workers] = costs[0]
            self.kinds = self.kinds or dict(found.run.seconds_by_kind)  # of the first: others share the cores
            print(f"{workers} workers: {costs[0]}, {found.run.tasks} tasks, {found.run.made} results")
            if is_once:
                return
            with measured(costs):
                again = fleet(ask, QUIET)
            assert {each.state for each in again.projects} == {"unchanged"}
            print(f"  nothing changed: {costs[1]}, {costs[1].per(found.run.tasks)} a task", flush=True)
            if is_last:
                self.others(folder, ask)

    def side_by_side(self, count: int) -> Cost:
        """The cost of as many models in `count` programs at the same time, each with a fleet of one worker. The time of
        processors is not whole: programs do not wait for all that they start."""
        command = [sys.executable, "-m", "benchmarks.fleet", "--once", "--workers", "1"]
        command += ["--models", str(self.models // count), "--targets", ",".join(self.targets)]
        costs: list[Cost] = []
        with measured(costs):
            programs = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(count)]
            codes = [each.wait() for each in programs]
        assert not any(codes), "a fleet failed"
        return costs[0]

    def others(self, folder: Path, ask: Asked) -> None:
        """Another output folder, whose releases are sent to a shared cache; then a machine that has nothing."""
        costs: list[Cost] = []
        shared = replace(ask, out=folder / "warm", cache=str(folder / "shared"))
        with measured(costs):
            warm = fleet(shared, QUIET)
        print(f"  another output folder, the same store: {costs[0]}, {warm.run.tasks} tasks")
        os.environ["XDG_CACHE_HOME"] = str(empty_cache(folder / "fresh"))
        with measured(costs):
            fresh = fleet(replace(shared, out=folder / "fetched"), QUIET)
        assert fresh.run.tasks == 0, "releases were not fetched"
        moved_bytes = 0
        for path in files(ask.out):
            arrived = folder / "fetched" / path.relative_to(ask.out)
            assert arrived.read_bytes() == path.read_bytes(), f"{arrived} differs from what was built"
            moved_bytes += path.stat().st_size
        print(
            f"  a machine that has nothing, and the shared cache in a folder: {costs[1]}, "
            f"{costs[1].per(self.models)} a project, {moved_bytes / 1e6:.0f} MB",
            flush=True,
        )


def files(out: Path) -> list[Path]:
    """Files of the projects' releases."""
    return [path for path in out.rglob("*") if path.is_file() and path.parent != out]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--targets", default="android,ios,web")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    found = Measured(models=options.models, targets=options.targets.split(","))
    if options.once:
        found.run(int(options.workers), is_once=True)
        return
    counts = sorted(int(each) for each in options.workers.split(","))
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    fleets, alone = overhead(counts[-1])
    print(f"1,000 tasks that do nothing, {counts[-1]} workers: {fleets.per(1000)} a task; Dask alone {alone.per(1000)}")
    print(f"  ratio {fleets.wall_s / alone.wall_s:.2f} ({fleets.cpu_s / alone.cpu_s:.2f} of CPU)", flush=True)
    for workers in counts:
        found.run(workers, is_last=workers == counts[-1])
    first, last = counts[0], counts[-1]
    if last > first:
        alone, together = found.took[first], found.took[last]
        cores = min(os.cpu_count() or 1, last)
        busy = together.cpu_s / (together.wall_s * cores)
        print(f"efficiency on {last} workers: {alone.efficiency(together, last, first):.2f} of linear", end="; ")
        print(f"{busy:.2f} of the cores' time was the fleet's own")
        apart = found.side_by_side(last)
        print(f"control, {last} fleets of one worker side by side: {apart.wall_s:.1f} s", end="; ")
        print(f"{alone.efficiency(apart, last, first):.2f} of linear")
    model(found.kinds, fleets.wall_s / 1000)


def model(kinds: Mapping[str, float], overhead_s: float) -> None:
    """Prints the makespans of a large fleet, from the times of tasks."""
    seconds = {kind: kinds.get(str(kind), 0.0) for kind in TaskKind}
    with tempfile.TemporaryDirectory() as name:
        projects = project(Path(name), MODELS, TARGETS)
        graph = graph_of([expanded(each, ()) for each in projects], SHARES)
    print(f"model of {MODELS} models x {len(TARGETS)} targets: {len(graph)} tasks")
    sizes = list(moved(graph))
    print(f"bytes through the scheduler: {sum(sizes) / len(sizes):.0f} a task, {sum(sizes) / 1e6:.2f} MB in all")
    alone = simulated(graph, seconds, 1, overhead_s)
    for workers in WORKERS:
        makespan = simulated(graph, seconds, workers, overhead_s)
        print(f"  {workers} workers: {makespan:.0f} s, {alone / workers / makespan:.2f} of linear")


if __name__ == "__main__":
    main()
