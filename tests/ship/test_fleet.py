"""Fleets: projects, the graph of their tasks, workers that can do them, and what is told of the result."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import numpy
import pytest

from benchmarks.abuse import strangers
from packager.config import CacheTable
from packager.core.console import Console
from packager.core.errors import ConfigError, ToolError
from packager.files.store import Store
from packager.measuring.fleet import cluster as clusters
from packager.measuring.fleet import comparing, page, writing
from packager.measuring.fleet.about import WorkerAbout, about
from packager.measuring.fleet.ahead import Ahead, evaluations
from packager.measuring.fleet.cluster import Cluster, connected, refuse_other
from packager.measuring.fleet.document import CellEntry, FleetDocument, ProjectEntry, RunEntry
from packager.measuring.fleet.graph import Task, TaskGraph, TaskKind, TaskWork
from packager.measuring.fleet.idle import EVALUATION
from packager.measuring.fleet.outcome import TaskOutcome, TaskState
from packager.measuring.fleet.progress import Board, Lines, LiveTable
from packager.measuring.fleet.projects import FleetProject, projects_of
from packager.measuring.fleet.resources import Worker, able, largest, why_none
from packager.measuring.fleet.running import GraphRuns
from packager.measuring.fleet.security import refuse_open_workers
from packager.quantization.variants import build_variant
from packager.workflows import reference
from packager.workflows.fleet import steps
from packager.workflows.fleet.asked import SHARES, Asked, FoundProjects
from packager.workflows.fleet.executing import repeat_alone
from packager.workflows.fleet.expanding import expanded, graph_of
from packager.workflows.fleet.finding import Stores, fetch_releases, place_of
from packager.workflows.planning import load_model
from packager.workflows.shared_store import remote_of
from tests.cases import fleet_tasks
from tests.cases.onnx_text import linear, onnx_model, saved, weight
from tests.cases.schemas import jsonschema

SCHEMA = Path(__file__).parents[2] / "docs" / "fleet.schema.json"
VARIANTS = """
[variant.int8]
quantizer = "static-qdq"
calibration = "samples.npz"
[variant.int8-unsigned]
quantizer = "static-qdq"
calibration = "samples.npz"
activations = "uint8"
[variant.best]
quantizer = "auto"
calibration = "samples.npz"
max-drop = 0.001
methods = ["minmax", "mse"]
"""


def models(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        saved(folder / "models" / f"{name}.onnx", linear(seed=number))
    numpy.savez(folder / "samples.npz", x=numpy.ones((4, 1, 64), numpy.float32))


def fleet(folder: Path, text: str) -> tuple[FleetProject, ...]:
    (folder / "fleet.toml").write_text(text, encoding="utf-8", newline="\n")
    return projects_of([folder / "fleet.toml"])


def kinds(graph: TaskGraph) -> dict[str, int]:
    found: dict[str, int] = {}
    for task in graph:
        found[task.work.kind] = found.get(task.work.kind, 0) + 1
    return found


def test_models_times_variants_are_projects_that_share_what_they_have_in_common(tmp_path: Path) -> None:
    models(tmp_path, "one", "two")
    text = '[fleet]\nmodels = ["models/*.onnx"]\nvariants = ["source", "int8", "int8-unsigned"]\n'
    found = fleet(tmp_path, f"{text}{VARIANTS}[target.ios]\n[target.web]\n")
    names = [each.name for each in found]
    assert names == ["one", "one-int8", "one-int8-unsigned", "two", "two-int8", "two-int8-unsigned"]
    assert found[1].config().targets()["web"].variant == "int8"
    graph = graph_of([expanded(each, ()) for each in found], SHARES)
    # One preparation for three variants, one calibration for both with integers.
    assert kinds(graph) == {"prepare": 2, "calibrate": 2, "quantize": 4, "plan": 12, "build": 6}
    (prepared, *_) = (task for task in graph if task.work.kind is TaskKind.PREPARE)
    assert prepared.projects == ("one", "one-int8", "one-int8-unsigned")
    places = {task.key: place for place, task in enumerate(graph)}
    assert all(places[key] < places[task.key] for task in graph for key in task.after)


def test_searches_spread_their_scores_and_comparisons_their_runners(tmp_path: Path) -> None:
    models(tmp_path, "one")
    text = f'[fleet]\nmodels = ["models/one.onnx"]\nvariants = ["best"]\n{VARIANTS}[target.ios]\n'
    (project,) = fleet(tmp_path, f'{text}[parity]\nrunners = ["cpu", "onnx"]\n'.replace('"onnx"', '"mnn"'))
    graph = graph_of([expanded(project, ())], SHARES)
    scores = [task for task in graph if task.work.kind is TaskKind.SCORE]
    assert [task.work.method for task in scores] == ["minmax", "mse", *[""] * SHARES]
    assert [task.work.share for task in scores[2:]] == [(number, SHARES) for number in range(SHARES)]
    assert all(set(task.after) == {each.key for each in scores[:2]} for task in scores[2:])
    assert [task.work.runner for task in graph if task.work.kind is TaskKind.COMPARE] == ["cpu", "mnn"]


def test_a_model_in_place_of_a_fleet_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a model, not a project"):
        projects_of([tmp_path / "one.onnx"])


def test_a_fleet_that_does_not_exist_is_not_a_project_to_begin(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"fleet\.toml: no such file") as raised:
        projects_of([tmp_path / "fleet.toml"])
    assert raised.value.hint == "write a fleet.toml, or name projects: mobpack fleet a/mobpack.toml b/mobpack.toml"


def test_results_that_are_known_leave_the_graph(tmp_path: Path) -> None:
    graph = chain("a", "b", "c")
    left = graph.without(["a", "b"])
    assert [(task.key, task.after) for task in left] == [("c", ())]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[fleet]\nmodel = ["a"]', "unknown key 'model'"),
        ('[fleet]\nmodels = "a"', "must be a list"),
        ('[fleet]\nprojects = ["apps/*/mobpack.toml"]', "no such file"),
        ("[fleet]\n", "names neither projects nor models"),
        ('[fleet]\nprojects = ["a.toml"]\n[target.ios]', r"\[target\] has no effect"),
        ('[fleet]\nprojects = ["a.toml", "b.toml"]', "two projects would write to the folder 'same'"),
        ('[fleet]\nprojects = ["nameless.toml"]', "'name' is missing"),
        ('[fleet]\nprojects = ["away.toml"]', r"'../away' is not allowed"),
        ('[fleet]\nmodels = ["models/*.onnx"]\n[model.three.inputs.x]', "no such model"),
        ('[fleet]\nmodels = ["models/*.onnx"]\nvariants = ["int8"]', r"fleet\.variants: 'int8' is not defined"),
        ('[fleet]\nprojects = ["a.toml"]\n[needs."*"]\nmemory = "8 apples"', "expected a size"),
        ('[fleet]\nprojects = ["a.toml"]\n[needs."*"]\ngpu = true', "expected a number"),
        ("[fleet\n", "not valid TOML"),
    ],
)
def test_a_wrong_fleet_is_refused_in_words(tmp_path: Path, text: str, message: str) -> None:
    models(tmp_path, "one")
    for name, package in {"a": "same", "b": "same", "away": "../away"}.items():
        (tmp_path / f"{name}.toml").write_text(f'[package]\nname = "{package}"\n')
    (tmp_path / "nameless.toml").write_text("[package]\n")
    with pytest.raises(ConfigError, match=message) as raised:
        fleet(tmp_path, text)
    assert raised.value.hint


def worker(name: str, **changes: Any) -> Worker:
    return replace(Worker(address=f"tcp://{name}:1", name=name, alias=name, about=about()), **changes)


def test_needs_that_no_worker_has_are_told_in_words() -> None:
    small = worker("small", memory_bytes=4e9, declared={"gpu": 1.0})
    big = worker("big", memory_bytes=64e9, about=replace(about(), runners={"coreml": "needs macOS", "cpu": ""}))
    both = (small, big)
    assert able(both, {"memory": 8e9}) == (big,)
    assert able(both, {"gpu": 1}) == (small,)
    assert able(both, {"runner coreml": 1, "memory": 8e9}) == ()
    assert why_none((small,), {"memory": 8e9}) == "no worker has 8.0 GB of memory, and it has 4.0 GB"
    assert why_none((big,), {"runner coreml": 1}) == "no worker has the runner coreml: needs macOS"
    assert largest(both) is big


@pytest.mark.parametrize("key", ["mobpack", "code", "python"])
def test_workers_of_another_version_are_refused(key: str) -> None:
    other: WorkerAbout = replace(about(), **{key: "0.0.1"})  # type: ignore[arg-type]
    refuse_other([worker("same")])
    with pytest.raises(ToolError, match=r"worker odd runs .* 0\.0\.1"):
        refuse_other([worker("same"), worker("odd", about=other)])


def test_a_missing_extra_and_a_wrong_or_missing_scheduler_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "CONNECT_S", 1)
    with pytest.raises(ToolError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        connected(scheduler="tcp://127.0.0.1:9", workers=1).__enter__()
    for address in ("foo", "quic://foo:1"):
        with pytest.raises(ConfigError, match="--scheduler: "):
            connected(scheduler=address, workers=1).__enter__()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError) as raised:
        connected(scheduler="", workers=1).__enter__()
    assert raised.value.hint == "run: pip install 'mobpack[fleet]'"


@pytest.mark.parametrize("address", ["tcp://192.0.2.7:8786", "192.0.2.7:8786", "tcp://scheduler.example:8786"])
def test_a_scheduler_on_another_machine_needs_tls_or_a_word(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(clusters, "CONNECT_S", 0.2)
    with pytest.raises(ConfigError, match="anyone who reaches it can run code on the workers and here") as raised:
        connected(scheduler=address, workers=1).__enter__()
    assert "--insecure-scheduler" in raised.value.hint
    with pytest.raises(ToolError, match="no scheduler answers"):
        connected(scheduler=address, workers=1, is_insecure_allowed=True).__enter__()


@pytest.mark.parametrize("address", ["tcp://127.0.0.2:1", "localhost:1", "tcp://[::1]:1", "tls://192.0.2.7:1"])
def test_a_port_of_this_machine_alone_or_with_tls_is_not_open_to_others(address: str) -> None:
    refuse_open_workers({"one": address})
    with pytest.raises(ToolError, match=r"worker two listens at tcp://192\.0\.2\.8:1 without TLS"):
        refuse_open_workers({"one": address, "two": "tcp://192.0.2.8:1"})


def test_a_scheduler_with_tls_needs_certificates(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tls://127\.0\.0\.1:9 needs certificates: Dask's configuration names none"):
        connected(scheduler="tls://127.0.0.1:9", workers=1).__enter__()
    missing = str(tmp_path / "ca.pem")
    files = {f"distributed.comm.tls.{key}": missing for key in ("ca-file", "client.cert", "client.key")}
    with dask.config.set(files), pytest.raises(ConfigError, match="certificates: No such file or directory"):
        connected(scheduler="tls://127.0.0.1:9", workers=1).__enter__()


TAKES_MUCH = """
import json, subprocess, sys
from packager.measuring.fleet.memory import watched
program = "import time; held = b'x' * 400_000_000; time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
with watched(300e6) as memory:
    child.wait(timeout=300)
print(json.dumps([memory.is_over, child.returncode, memory.peak_bytes]))
"""


def test_programs_that_take_too_much_memory_end() -> None:
    """In a process of its own: those of this one, which serve other tests, would end, too."""
    done = subprocess.run([sys.executable, "-c", TAKES_MUCH], capture_output=True, text=True, check=True)
    is_over, code, peak_bytes = json.loads(done.stdout)
    assert is_over
    assert code == -signal.SIGKILL
    assert peak_bytes > 300e6


# On workers of this machine.

NOBODY = FleetProject(name="p", file=Path("fleet.toml"), is_whole=False, document="{}")


def chain(
    *keys: str, model: str = "", kind: TaskKind = TaskKind.PREPARE, needs: Mapping[str, float] | None = None
) -> TaskGraph:
    """Tasks, each after the one before it."""
    graph = TaskGraph()
    add(graph, *keys, model=model, kind=kind, needs=needs)
    return graph


def add(
    graph: TaskGraph,
    *keys: str,
    model: str,
    kind: TaskKind = TaskKind.PREPARE,
    needs: Mapping[str, float] | None = None,
) -> None:
    after: tuple[str, ...] = ()
    for key in keys:
        work = TaskWork(kind=kind, project=replace(NOBODY, name=keys[0]), model=model)
        graph.add(Task(key=key, work=work, after=after, projects=(keys[0],), needs=needs or {}))
        after = (key,)


class Silent:
    def ended(self, task: Task, outcome: TaskOutcome) -> None: ...

    def tick(self, running: Sequence[str]) -> None: ...


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with connected(scheduler="", workers=2) as found:
        yield found


def test_no_other_user_of_this_machine_gets_an_answer_of_scheduler_or_workers(cluster: Cluster) -> None:
    """An answer to any question would be enough: a function to run is one."""
    attempts = dict(strangers.intrusions(cluster))
    assert len(attempts) == 6
    assert not any(attempts.values()), attempts
    trusted = {each.about.trusts for each in cluster.workers((), ())}
    assert len(trusted) == 1
    assert "a certificate of the authority of this run (sha256 " in trusted.pop()


def runs(cluster: Cluster, folder: Path, memory: int = 0) -> GraphRuns:
    workers = cluster.workers((), ())
    return GraphRuns(
        cluster=cluster,
        workers=workers,
        run=fleet_tasks.run,
        progress=Silent(),
        arguments=lambda task: (str(folder), memory),
    )


@pytest.fixture
def poisoned() -> Iterator[Cluster]:
    """Workers of their own: one that is killed time and again may not come back."""
    with connected(scheduler="", workers=2) as found:
        yield found


def test_poison_ends_as_its_own_row_and_what_nobody_can_do_at_once(poisoned: Cluster, tmp_path: Path) -> None:
    graph = chain("bad", "bad-2", model="poison")
    add(graph, "impossible", "impossible-2", model="", needs={"quantum": 1})
    for number in range(12):
        add(graph, f"good-{number}", f"good-{number}-2", model="slow")
    run = runs(poisoned, tmp_path)
    began = time.monotonic()
    run.all(graph)
    states = {key: str(each.state) for key, each in run.outcomes.items()}
    assert (states["bad"], states["bad-2"]) == ("failed", "blocked")
    trouble = run.outcomes["bad"].trouble
    assert trouble
    assert "the worker's process ended each time" in trouble.message
    assert (states["impossible"], states["impossible-2"]) == ("skipped", "skipped")
    assert fleet_tasks.times(tmp_path, "impossible") == 0
    # Those that waited on a worker which the poison ended may have been given up with it: they run again, alone.
    repeat_alone(graph, run, lambda task: (str(tmp_path), fleet_tasks.LARGE), Console(quiet=True))
    assert {key for key, each in run.outcomes.items() if key.startswith("good") and not each.is_good} == set()
    assert run.outcomes["bad"].state is TaskState.FAILED
    assert time.monotonic() - began < 300


def test_tasks_run_where_a_worker_has_what_they_need_and_workers_begin_with_all_modules(
    cluster: Cluster, tmp_path: Path
) -> None:
    first, second = cluster.workers((), ())
    graph = TaskGraph()
    for number in range(6):
        add(graph, f"here-{number}", f"after-{number}", model="", needs={"quantum": 1})
        add(graph, f"any-{number}", model="")
    run = runs(cluster, tmp_path)
    run.cluster, run.workers = replace(cluster, local=None), (replace(first, declared={"quantum": 1.0}), second)
    run.all(graph)
    pids = cluster.client.run(os.getpid)
    assert {run.outcomes[task.key].worker for task in graph if task.needs} == {str(pids[first.address])}
    assert all(each.is_good for each in run.outcomes.values())
    assert set(cluster.client.run(fleet_tasks.has_modules).values()) == {sys.platform == "linux"}


def test_a_task_that_took_too_much_memory_runs_again_alone(cluster: Cluster, tmp_path: Path) -> None:
    graph = chain("large", "after", model="large")
    add(graph, "small", model="")
    run = runs(cluster, tmp_path)
    run.all(graph)
    assert run.outcomes["large"].is_over_memory
    assert run.outcomes["after"].state is TaskState.BLOCKED
    repeat_alone(graph, run, lambda task: (str(tmp_path), fleet_tasks.LARGE), Console(quiet=True))
    assert {key: each.state for key, each in run.outcomes.items()} == dict.fromkeys(("large", "after", "small"), "done")
    assert fleet_tasks.times(tmp_path, "large") == 2
    assert fleet_tasks.times(tmp_path, "small") == 1


SEARCHED = """
[fleet]
models = ["models/deep.onnx"]
variants = ["best"]
[package]
version = "1.0.0"
[variant.best]
quantizer = "auto"
calibration = "samples.npz"
metric = "quality:slow"
methods = ["minmax"]
max-drop = 0.0005
[target.ios]
"""
METRIC = """
import os, time
from pathlib import Path

import numpy

FOLDER = Path(__file__).parent

def weight(seed):
    return numpy.random.default_rng(seed).standard_normal((64, 64)).astype(numpy.float32) / 8

def metric(predict):
    noise = power = 0.0
    for x in numpy.load(FOLDER / "samples.npz")["x"]:
        y = x
        for number in range(7):
            y = numpy.tanh(y @ weight(number))
        y = y @ weight(7)
        noise += float(numpy.square(predict({"x": x})["y"] - y).sum())
        power += float(numpy.square(y).sum())
    return -round(noise / power, 7)

def slow(predict):
    \"""Waits, while the search runs, until two processes evaluate.\"""
    end = time.monotonic() + 120
    if (FOLDER / "calls").exists():
        own = FOLDER / "calls" / str(os.getpid())
        with own.open("a") as file:
            file.write("call ")
        while own.stat().st_size > 5 and sum(each.stat().st_size > 5 for each in own.parent.iterdir()) < 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(0.2)
    return metric(predict)
"""


def deep() -> Any:
    """Eight products, one after the other."""
    nodes = " ".join(f"m{n} = MatMul ({f'r{n - 1}' if n else 'x'}, w{n}) r{n} = Tanh (m{n})" for n in range(7))
    weights = {f"w{n}": numpy.divide(weight(64, 64, seed=n), 8, dtype=numpy.float32) for n in range(8)}
    return onnx_model(f"(float[1, 64] x) => (float[1, 64] y) {{ {nodes} y = MatMul (r6, w7) }}", weights=weights)


def test_whoever_evaluates_ahead_leaves_when_something_else_waits_for_the_worker(
    cluster: Cluster, tmp_path: Path
) -> None:
    (search,) = chain("search", model="idle")
    ahead = Ahead(cluster=cluster, run=fleet_tasks.run, arguments=(str(tmp_path), 0), searches={"search": search})
    address = cluster.workers((), ())[0].address
    ahead.offer(["search", "other"], [address])
    ahead.offer(["search"], [address])  # it has something to do already
    wait_for(lambda: fleet_tasks.times(tmp_path, "search") == 1)
    other = cluster.client.submit(os.getpid, workers=[address], pure=False)
    assert other.result(timeout=100) > 0
    assert fleet_tasks.times(tmp_path, "search") == 1
    ahead.close()
    assert ahead.made == {"score/made"}


def wait_for(happens: Callable[[], bool]) -> None:
    end = time.monotonic() + 100
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_idle_workers_evaluate_ahead_and_the_search_finds_the_same(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "models" / "deep.onnx", deep())
    numpy.savez(tmp_path / "samples.npz", x=numpy.random.default_rng(0).standard_normal((8, 1, 64), numpy.float32))
    (tmp_path / "quality.py").write_text(METRIC, encoding="utf-8", newline="\n")
    (project,) = fleet(tmp_path, SEARCHED)
    graph = TaskGraph()
    for task in graph_of([expanded(project, ())], 1):
        if task.work.kind not in (TaskKind.PLAN, TaskKind.BUILD):
            graph.add(task)
    (search,) = (task for task in graph if task.work.kind is TaskKind.QUANTIZE)
    place = steps.FleetFolders(out=tmp_path, evidence=tmp_path, ledger=tmp_path, store=tmp_path / "store")
    ahead = Ahead(cluster=cluster, run=steps.ahead, arguments=(place,), searches={search.key: search})

    class Watching(Silent):
        def ended(self, task: Task, outcome: TaskOutcome) -> None:
            if task.work.kind is TaskKind.SCORE and task.work.share:
                (tmp_path / "calls").mkdir()

    run = runs(cluster, tmp_path)
    run = replace(run, run=steps.run, progress=Watching(), arguments=lambda task: (place, None), idle=ahead.offer)
    run.all(graph)
    ahead.close()
    outcome = run.outcomes[search.key]
    assert outcome.state is TaskState.DONE, outcome
    asked, made = {*outcome.asked}, {name for name in outcome.made if name.startswith(EVALUATION)}
    assert ahead.made & asked
    assert not ahead.made & made
    counts = evaluations(steps.made_in(tmp_path), ahead.made, run.outcomes.values())
    assert (counts.ahead, counts.unneeded) == (len(ahead.made), len(ahead.made - asked))
    assert counts.all == len(asked | ahead.made)

    # One process, another store, the same numbers.
    config = fleet(tmp_path, SEARCHED.replace("quality:slow", "quality:metric"))[0].config()
    recipe, console = config.quantizer_of("best"), Console(quiet=True)
    monkeypatch.chdir(tmp_path)
    alone, shared = (Store(tmp_path / name) for name in ("alone", "store"))
    expected = build_variant(load_model("deep", config.model["deep"], alone, console), "best", recipe, alone, console)
    found = build_variant(
        load_model("deep", config.model["deep"], shared, console),
        "best",
        project.config().quantizer_of("best"),
        replace(shared, made=pytest.fail),
        console,
    )
    assert expected.found
    assert found.found
    assert found.found.evaluations == expected.found.evaluations
    assert len(expected.found.evaluations) > 6
    assert found.variant.graph == expected.variant.graph


def test_releases_that_another_machine_has_built_are_fetched_by_all_that_decides_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    models(tmp_path, "one", "two")
    text = '[fleet]\nmodels = ["models/*.onnx"]\nvariants = ["source", "int8", "int8-unsigned"]\n'
    projects = fleet(tmp_path, f"{text}{VARIANTS}[target.ios]\n")

    def found(out: str, folder: Path, strict: bool = False) -> FoundProjects:
        each = Asked(
            projects=projects, out=folder / out, evidence=folder / "no", cache=str(tmp_path / "remote"), strict=strict
        )
        known = FoundProjects(expanded=[expanded(project, ()) for project in projects])
        console = Console(quiet=True)
        fetch_releases(each, known, place_of(each, folder), Stores(each, console), console)
        return known

    first = found("out", tmp_path)
    keys = {each.project.name: each.shared for each in first.expanded}
    assert len(set(keys.values())) == len(projects) == 6  # two variants read the same files
    release = tmp_path / "sent"
    (release / "release").mkdir(parents=True)
    (release / "release" / "one.zip").write_bytes(b"a package")
    artifact = {"path": "one.zip", "sha256": hashlib.sha256(b"a package").hexdigest()}
    manifest = json.dumps({"mobpack": "1", "artifacts": [artifact]})
    (release / "release" / "manifest.json").write_text(manifest)
    (release / "summary.json").write_text('{"rows": [], "lines": [], "warnings": ["large"]}')
    remote = remote_of(CacheTable(remote=str(tmp_path / "remote")), Console(quiet=True))
    assert remote
    remote.offer("build", keys["one-int8"], release)
    remote.flush()
    second = found("other", tmp_path)
    assert {name: each.warnings for name, each in second.sent.items()} == {"one-int8": ("large",)}
    assert [each.project.name for each in second.expanded] == sorted(keys.keys() - {"one-int8"})
    assert (tmp_path / "other" / "one-int8" / "manifest.json").read_text() == manifest
    assert {each.project.name: each.shared for each in second.expanded}.items() < keys.items()
    assert found("stricter", tmp_path, strict=True).sent == {}


# What is told.


def board(tmp_path: Path) -> Board:
    graph = chain("p", "p-2", kind=TaskKind.BUILD)
    add(graph, "q", model="", kind=TaskKind.BUILD)
    return Board(graph=graph, worker_count=2)


def test_lines_and_the_table_tell_what_has_ended_and_when_the_rest_may(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = board(tmp_path)
    lines = Lines(board=shown, console=Console(), projects=("p", "q"))
    p, p2, q = shown.graph
    lines.ended(p, TaskOutcome(key="p", state=TaskState.DONE, seconds=10))
    assert capsys.readouterr().err == ""
    assert shown.eta_s() == 10  # two tasks of 10 s on two workers
    lines.ended(p2, TaskOutcome(key="p-2", state=TaskState.DONE, seconds=4))
    assert "[1/2] p: built in 14 s of work; 4 s left" in capsys.readouterr().err
    drawn: list[Any] = []
    live = type("Live", (), {"update": lambda self, table: drawn.append(table)})()
    table = LiveTable(board=shown, projects=("p", "q"), targets=(), live=live)
    table.tick(["q"])
    columns = {column.header: list(column.cells) for column in drawn[-1].columns}
    assert columns == {"project": ["p", "q"], "package": ["[green]done[/green]", "[cyan]running[/cyan]"]}
    table.ended(q, TaskOutcome(key="q", state=TaskState.SKIPPED))
    assert "[yellow]skipped[/yellow]" in list(drawn[-1].columns[-1].cells)


def cell(**changes: Any) -> CellEntry:
    known = CellEntry(
        target="ios",
        variant="int8",
        size_bytes=1_000_000,
        sha256="0",
        error=0.01,
        distance=0.02,
        partitions=2,
        share=0.9,
    )
    return replace(known, **changes)


def entry(name: str, *cells: CellEntry, **changes: Any) -> ProjectEntry:
    known = ProjectEntry(
        name=name,
        models=(name,),
        state="built",
        message="",
        hint="",
        exit_code=0,
        seconds=2.0,
        report=f"{name}/report.html",
        warnings=(),
        cells=cells,
    )
    return replace(known, **changes)


def document(*projects: ProjectEntry, **changes: Any) -> FleetDocument:
    run = RunEntry(
        workers=2,
        seconds=63.0,
        tasks=9,
        known=1,
        made=30,
        repeated=0,
        shared=2,
        alone=1,
        scheduler_restarts=1,
        warnings=("the cache s3://team is left out: no answer",),
        evaluations=14,
        evaluations_ahead=6,
        evaluations_unneeded=2,
        seconds_by_kind={"plan": 0.5},
    )
    found = FleetDocument(
        schema_version=1,
        mobpack="1.0",
        exit_code=0,
        run=run,
        targets=("ios",),
        failed_gates=(),
        is_first=False,
        changes=(),
        projects=projects,
    )
    return replace(found, **changes)


@pytest.mark.parametrize(
    ("changed", "text", "is_regression"),
    [
        ({"size_bytes": 1_200_000}, "1.0 MB became 1.2 MB (+20.0%)", True),
        ({"size_bytes": 800_000}, "1.0 MB became 800.0 kB (-20.0%)", False),
        ({"error": 0.02}, "error: 0.01 became 0.02", True),
        ({"distance": 0.01}, "distance from the model: 0.02 became 0.01", False),
        ({"partitions": 3}, "2 partitions became 3", True),
        ({"share": 0.95}, "the provider's share of the arithmetic: 90.0% became 95.0%", False),
        ({"size_bytes": 1_000_100, "error": 0.0101}, "", False),
    ],
)
def test_changes_since_the_last_run_are_told_and_judged(changed: Any, text: str, is_regression: bool) -> None:
    found = comparing.changes(document(entry("a", cell())), [entry("a", cell(**changed))])
    assert [(each.text, each.is_regression) for each in found] == ([(text, is_regression)] if text else [])


def test_regressions_come_first_and_a_first_run_has_no_changes() -> None:
    broken = entry("b", state="failed", message="not a model", exit_code=3)
    now = [entry("a", cell(size_bytes=900_000)), broken, entry("new")]
    found = comparing.changes(document(entry("a", cell()), entry("b", cell()), entry("gone")), now)
    assert [(each.project, each.is_regression) for each in found] == [
        ("b", True),
        ("a", False),
        ("new", False),
        ("gone", False),
    ]
    assert comparing.changes(None, now) == ()


def test_the_report_is_read_again_as_it_was_written(tmp_path: Path) -> None:
    found = document(entry("a", cell(error=None)), entry('<b>"&', state="skipped", message="no <gpu>"))
    writing.write(tmp_path / "fleet.html", found, page.page(found))
    text = (tmp_path / "fleet.json").read_text(encoding="utf-8")
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert writing.read(tmp_path) == found
    html = (tmp_path / "fleet.html").read_text(encoding="utf-8")
    assert '<a href="a/report.html">' in html
    assert "<b>" not in html
    assert "no change since the last run" in html
    assert "no earlier run to compare with" in page.page(replace(found, is_first=True))
    assert "no &lt;gpu&gt;" in html
    assert re.search(r"1\.0 MB</strong>\s*<span>int8</span>", html)
    (tmp_path / "fleet.json").write_text('{"schema-version": 2}')
    assert writing.read(tmp_path) is None


def test_the_schema_is_that_of_the_types() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == reference.fleet_schema()
