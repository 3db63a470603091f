"""Observers, metrics and traces of React Native models, in JavaScriptCore on a real ONNX Runtime."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.toolchain import models
from tests.toolchain.react_native import native

ATTRIBUTES = {
    "mobpack.model.name",
    "mobpack.model.version",
    "mobpack.provider",
    "mobpack.load.duration",
    "mobpack.run.count",
    "mobpack.run.errors",
    "mobpack.run.retries",
    *(f"mobpack.{what}.duration.{share}" for what in ("run", "queue") for share in ("p50", "p90", "p99")),
    "mobpack.run.throughput",
    "mobpack.release.bans",
    "mobpack.fallback.reasons",
    "process.memory.usage",
}
RUNS = 3
ROUNDING_S = 1e-6
"""of a difference between two times since 1970"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    return native.code(tmp_path_factory)


@pytest.fixture
def app(code: native.Code, tmp_path: Path) -> native.App:
    return code.app(tmp_path / "installed")


def test_an_observer_is_told_of_loading_runs_failures_and_disposal(app: native.App) -> None:
    found = app.run("observes")
    load, first, second, sync, cancelled, release, failure = found["events"]

    assert (load["what"], load["model"], load["version"], load["provider"]) == ("load", "orientation", "1.2.3", "cpu")
    assert (load["source"], [each["provider"] for each in load["fallbacks"]]) == ("bundled", ["xnnpack"])
    assert 0 < load["duration"] <= found["load"] + ROUNDING_S
    assert found["resident"] / 4 < load["memory"] < found["resident"] * 4
    assert load["sizeBytes"] == (app.bundle / "orientation.ort.tflite").stat().st_size

    assert [each["what"] for each in (first, second, sync, cancelled)] == ["run"] * 4
    assert [each["error"] for each in (first, second, sync, cancelled)] == [None, None, None, "cancelled"]
    assert {(each["model"], each["provider"], each["isRetry"]) for each in (first, second, sync, cancelled)} == {
        ("orientation", "cpu", False)
    }
    assert first["queued"] >= 0
    assert second["queued"] >= first["queued"] + first["duration"] - found["asked"], "it waited for the first"
    assert second["queued"] + second["duration"] <= found["runs"]
    assert 0 < first["duration"] + second["duration"] <= found["runs"]
    assert (sync["queued"], cancelled["queued"]) == (0, 0)
    assert 0 < found["waited"] - ROUNDING_S <= cancelled["duration"] <= found["cancelled"] + ROUNDING_S

    assert (release["what"], release["model"], release["reason"]) == ("release", "orientation", "close")
    assert (failure["what"], failure["model"], failure["error"]) == ("failure", "orientation", "runtime")
    assert failure["duration"] > 0


@pytest.mark.parametrize("case", ["timesOnlyWhatIsAsked", "throwingObservers"])
def test_an_observer_changes_nothing_else(app: native.App, case: str) -> None:
    assert app.run(case) is None


def test_metrics_count_each_model_apart(app: native.App) -> None:
    counted = app.run("counts")
    page, voice = counted["found"]
    assert [(each["model"], each["loads"], each["failures"]) for each in (page, voice)] == [
        ("orientation", 1, 1),
        ("silero-vad", 1, 0),
    ]
    assert [(each["runs"], each["errors"], each["retries"]) for each in (page, voice)] == [(2, 0, 0), (20, 0, 0)]
    for each in (page, voice):
        latency, queue = each["latency"], each["queue"]
        assert latency["count"] == queue["count"] == each["runs"]
        assert 0 < latency["min"] <= latency["mean"] <= latency["max"]
        assert latency["min"] <= latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"]
        assert 0 < each["throughput"] <= 2 / latency["min"]
        attributes = each["attributes"]
        assert set(attributes) == ATTRIBUTES
        assert attributes["mobpack.model.name"] == each["model"]
        assert attributes["mobpack.run.count"] == each["runs"]
        assert attributes["mobpack.run.duration.p90"] == latency["p90"]
        assert attributes["process.memory.usage"] == each["memory"]
        assert attributes["mobpack.fallback.reasons"].startswith("xnnpack: ")
    assert page["queue"]["max"] >= page["latency"]["min"] - counted["asked"], "the second run waited"


def events_of(path: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return events


def test_a_trace_has_every_run_of_every_operator(app: native.App) -> None:
    found = app.run("profiles", own=str(models.orientation()), runs=RUNS)
    for name, path in found.items():
        assert Path(path).is_relative_to(app.scratch / "caches"), "in the cache of the app"
        assert Path(path).name.startswith("orientation_")
        assert Path(path).suffix == ".json"
        events = events_of(Path(path))
        runs = [each for each in events if each["name"] == "model_run"]
        assert len(runs) == RUNS, name
        kernels = [each for each in events if each["cat"] == "Node" and each["name"].endswith("_kernel_time")]
        assert {each["args"]["provider"] for each in kernels} == {"CPUExecutionProvider"}
        operators = {each["args"]["node_index"] for each in kernels}
        assert len(operators) > 10
        assert len(kernels) == RUNS * len(operators)
        assert all(each["dur"] >= 0 and each["ph"] == "X" for each in kernels)
        assert all(later["ts"] >= run["ts"] + run["dur"] for run, later in pairwise(runs))


def test_models_of_all_types_are_traced(app: native.App) -> None:
    events = events_of(Path(app.run("profilesEveryType")))
    assert len([each for each in events if each["name"] == "model_run"]) == 10
