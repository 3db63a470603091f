"""In Swift: an observer sees loads, runs, failures and releases; metrics add them up; profiles are ONNX Runtime's."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toolchain.swift_app import App
from tests.toolchain.swift_nets import LAYERS, ONNX, VERSION
from tests.toolchain.swift_sources import objects

RANDOM = {f"{count} {seed}": (count, seed) for count in (1, 2, 99, 100, 1000) for seed in range(3)}
ENDS: Mapping[str, Sequence[float]] = {
    "nothing": [0.0, 0.0],
    "more than it has buckets for": [5e4, 6e4],
    "ends of buckets": [1e-6 * math.pow(1.1, number) for number in range(200)],
}


@pytest.fixture(scope="module")
def app() -> App:
    """An app with a model that takes a while, and one that fails for some inputs."""
    return ONNX.program("Observing")


@pytest.fixture(scope="module")
def durations() -> Mapping[str, NDArray[np.float64]]:
    """Durations of runs, by a name for them."""
    return {
        **{
            name: np.random.default_rng(seed).lognormal(-6, 2, count).clip(2e-6, 3000)
            for name, (count, seed) in RANDOM.items()
        },
        **{name: np.array(each) for name, each in ENDS.items()},
    }


@pytest.fixture(scope="module")
def measured(
    app: App, durations: Mapping[str, NDArray[np.float64]], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Mapping[str, dict[str, Any]]]:
    """The metrics of durations, by their name and that of a model: of `one`, and of `other` that fails."""
    folder = tmp_path_factory.mktemp("durations")
    for name, each in durations.items():
        (folder / name).write_bytes(each.tobytes())
    files = [str(folder / name) for name in durations]
    done = app.run("percentiles", *files, scratch=folder / "run", mounts=(folder,))
    assert done.returncode == 0, done.output
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in durations}
    for said in objects(done.output):
        found[Path(said["file"]).name][said["mobpack.model.name"]] = said
    return found


def output(app: App, scenario: str, scratch: Path, *words: str) -> str:
    done = app.run(scenario, *words, scratch=scratch)
    assert done.returncode == 0, done.output
    return done.output


def by_name(output: str) -> Mapping[str, dict[str, Any]]:
    return {each["mobpack.model.name"]: each for each in objects(output)}


def test_an_observer_sees_loads_failures_and_releases(app: App, tmp_path: Path) -> None:
    load, closed, again, dropped, failure, thrown = objects(output(app, "loads", tmp_path / "run"))

    assert (load["event"], load["model"], load["version"], load["source"]) == ("load", "chain", VERSION, "bundled")
    assert load["provider"] == "CPU"
    [fallback] = load["fallbacks"]
    assert fallback.startswith("XNNPACK: ")
    assert load["size"] > 512 * 512 * 4
    assert 0 < load["duration"] < 30
    assert 10e6 < load["memory"] < 10e9
    assert load["thread"] == "main"
    assert closed == {"event": "release", "model": "chain", "reason": "close"}
    assert again["event"] == "load"
    assert dropped == closed
    assert (failure["event"], failure["model"]) == ("failure", "chain")
    assert failure["error"] == thrown["thrown"]
    assert "is missing" in failure["error"]
    assert 0 < failure["duration"] < 30


def test_an_observer_sees_runs_with_the_time_in_the_queue_and_their_errors(app: App, tmp_path: Path) -> None:
    seen = objects(output(app, "runs", tmp_path / "run"))
    runs = [each for each in seen if each.get("event") == "run"]
    alone, *queued, failed, closed = runs
    thrown = [each["thrown"] for each in seen if "thrown" in each]

    assert (alone["queued"], alone["error"], alone["retry"]) == (0, "", False)
    assert {each["thread"] for each in queued} == {"Chain"}
    assert len(queued) == 3
    assert all(each["queued"] > 0 for each in queued[1:]), "they wait for the first one"
    assert all(each["duration"] > 1e-4 for each in (alone, *queued))
    assert [failed["error"], closed["error"]] == thrown
    assert "indices element out of data bounds" in failed["error"]
    assert closed["error"] == "Chain is closed"


@pytest.mark.parametrize("name", RANDOM)
def test_percentiles_are_at_most_a_tenth_too_high_and_never_too_low(
    measured: Mapping[str, Mapping[str, dict[str, Any]]], durations: Mapping[str, NDArray[np.float64]], name: str
) -> None:
    found, (count, _) = measured[name]["one"], RANDOM[name]

    for kind, values in (("run", durations[name]), ("queue", durations[name] * 10)):
        for percent in (50, 90, 99):
            exact = np.sort(values)[math.ceil(count * percent / 100) - 1]
            assert exact <= found[f"mobpack.{kind}.duration.p{percent}"] <= exact * 1.1 * (1 + 1e-9)
        assert found[kind] == pytest.approx([values.min(), values.max(), values.mean()])
    assert found["counts"] == [count, count, 0, 0]
    assert (found["mobpack.run.count"], found["mobpack.run.errors"]) == (count, 0)


@pytest.mark.parametrize("name", ENDS)
def test_durations_at_the_ends_of_the_histogram_are_right(
    measured: Mapping[str, Mapping[str, dict[str, Any]]], name: str
) -> None:
    found = measured[name]["one"]
    exact = sorted(ENDS[name])[math.ceil(len(ENDS[name]) * 0.99) - 1]
    assert exact <= found["mobpack.run.duration.p99"] <= exact * 1.1 * (1 + 1e-9)


@pytest.mark.parametrize("name", [*RANDOM, *ENDS])
def test_failures_and_retries_are_counted_and_take_no_part_in_durations(
    measured: Mapping[str, Mapping[str, dict[str, Any]]], name: str
) -> None:
    other = measured[name]["other"]

    counted = [other[f"mobpack.run.{each}"] for each in ("count", "errors", "retries")]
    assert counted == [1, 1, 1]
    assert other["counts"] == [0, 0, 0, 0]
    assert other["run"] == [0, 0, 0]


def test_metrics_of_models_that_ran(app: App, tmp_path: Path) -> None:
    found = by_name(output(app, "metrics", tmp_path / "run"))
    chain, picker = found["chain"], found["picker"]

    assert (chain["mobpack.model.version"], chain["mobpack.provider"]) == (VERSION, "CPU")
    assert chain["mobpack.run.count"] == 4
    assert 0 < chain["mobpack.run.duration.p50"] <= chain["mobpack.run.duration.p99"] < 30
    assert 0 < chain["mobpack.run.throughput"] <= 1.01 / chain["run"][0]
    assert chain["mobpack.load.duration"] > 0
    assert chain["process.memory.usage"] > 10e6
    assert chain["mobpack.fallback.reasons"].startswith("XNNPACK: ")
    assert chain["counts"] == [4, 4, 1, 0]
    assert picker["counts"] == [0, 1, 1, 1]
    assert (picker["mobpack.run.count"], picker["mobpack.run.errors"]) == (1, 1)
    assert {name for name in chain if "." in name} == {
        *(f"mobpack.{name}" for name in ("model.name", "model.version", "provider", "load.duration")),
        *(f"mobpack.run.{name}" for name in ("count", "errors", "retries", "throughput")),
        *(f"mobpack.{kind}.duration.{each}" for kind in ("run", "queue") for each in ("p50", "p90", "p99")),
        "mobpack.fallback.reasons",
        "process.memory.usage",
    }


def test_without_an_observer_no_clock_is_read(app: App, tmp_path: Path) -> None:
    without, observed = map(int, re.findall(r"^reads (\d+)$", output(app, "clock", tmp_path / "run"), re.MULTILINE))

    assert without == 0
    assert observed >= 4, "before and after the load, and the run"


def test_a_profile_is_a_trace_of_every_operator_in_another_session(app: App, tmp_path: Path) -> None:
    text = output(app, "profile", tmp_path / "run")
    [path] = re.findall("^trace (.*)$", text, re.MULTILINE)
    events: Sequence[dict[str, Any]] = json.loads(Path(path).read_text(encoding="utf-8"))
    operators = [each for each in events if each.get("args", {}).get("op_name") == "MatMul"]

    assert Path(path).is_relative_to(tmp_path / "run")
    assert Path(path).name.startswith("chain_")
    assert len(operators) == LAYERS * 3
    assert {each["args"]["provider"] for each in operators} == {"CPUExecutionProvider"}
    assert sum(each["name"] == "model_run" for each in events) == 3
    seen = objects(text)
    assert [each["event"] for each in seen[:-1]] == ["load", "run", "release"], "of the model alone"
    assert seen[1]["thread"] == "main"
    assert seen[-1] == {"thrown": "Chain is closed"}
