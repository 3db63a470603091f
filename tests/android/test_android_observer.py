"""Observers of the Android library's models: the events that they get, with ONNX Runtime's Android libraries."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.toolchain.device import Library, device

SECONDS = np.random.default_rng(7).lognormal(-4, 1.5, 997).astype(np.float32)
"""from about 0.1 ms to 2 s, like the times of runs"""
WIDTH = 1.1


@pytest.fixture(scope="module")
def facts(models_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    phone = device(models_library, tmp_path_factory.mktemp("phone"))
    found = phone.run("Observed", {"seconds": SECONDS}, providers="CPU")
    return {**found.facts, "trace.content": Path(found.facts["trace"]).read_text(encoding="utf-8")}


def test_an_observer_hears_of_loads_runs_failures_and_releases_in_order(facts: Mapping[str, str]) -> None:
    assert facts["events"] == ",".join(["LoadEvent", *["RunEvent"] * 5, "ReleaseEvent", "FailureEvent"])


def test_a_load_is_told_with_its_provider_fallbacks_source_time_and_memory(facts: Mapping[str, str]) -> None:
    assert facts["load"] == "minilm 1.0.0 CPU [QNN] bundled"
    assert int(facts["load.sizeBytes"]) > 20_000_000
    assert 0 < float(facts["load.duration"]) < 60
    assert int(facts["load.memoryBytes"]) > 20_000_000


def test_runs_are_told_with_their_times_and_errors(facts: Mapping[str, str]) -> None:
    ran = "minilm CPU null"
    assert facts["runs"] == ",".join([ran, "minilm CPU ModelException", ran, ran, ran])
    assert all(float(each) > 0 for each in facts["runs.duration"].split(","))


def test_calls_that_wait_are_told_with_the_time_in_the_queue(facts: Mapping[str, str]) -> None:
    queued = [float(each) for each in facts["runs.queued"].split(",")]
    durations = [float(each) for each in facts["runs.duration"].split(",")]
    assert queued[:2] == [0, 0], "calls that do not wait"
    for before in (2, 3):
        least = queued[before] + durations[before] - float(facts["asked"])
        assert queued[before + 1] >= least, "it waited for the one before"


def test_a_load_that_failed_is_told_with_its_error(facts: Mapping[str, str]) -> None:
    assert "is not in /nothing, where it is called" in facts["failure"]


def test_metrics_count_runs_of_all_threads(facts: Mapping[str, str]) -> None:
    assert facts["counted"] == "1 20 0 20"
    assert 0 < float(facts["throughput"]) <= 4 / float(facts["least"]), "four threads with five runs each"


def test_the_provider_of_metrics_is_that_of_the_last_run_that_succeeded(facts: Mapping[str, str]) -> None:
    seen = [facts[f"provider.{when}"] for when in ("loaded", "retried", "later", "failed")]
    assert seen == ["NNAPI", "CPU", "NNAPI", "NNAPI"]


def test_times_of_runs_that_failed_do_not_count(facts: Mapping[str, str]) -> None:
    assert facts["retried"] == "4 2 1 2 0.002"


def test_neither_retries_wait_nor_does_what_was_cancelled_fail(facts: Mapping[str, str]) -> None:
    assert facts["retried.queued"] == "3 0"


def test_attributes_are_named_as_opentelemetry_names_them(facts: Mapping[str, str]) -> None:
    attributes = dict(line.split("=", 1) for line in facts["attributes"].splitlines())
    assert attributes["mobpack.model.name"] == "orientation"
    assert (attributes["mobpack.provider"], attributes["mobpack.run.count"]) == ("CPU", "20")
    assert int(attributes["process.memory.usage"]) > 20_000_000
    p50, p90, p99 = (float(attributes[f"mobpack.run.duration.p{share}"]) for share in (50, 90, 99))
    assert 0 < p50 <= p90 <= p99
    assert "mobpack.fallback.reasons" not in attributes
    assert {name.split(".")[0] for name in attributes} == {"mobpack", "process"}


def test_a_class_in_java_may_leave_out_any_method_of_an_observer(facts: Mapping[str, str]) -> None:
    assert facts["abstract"] == "[]"


def test_an_observer_that_fails_ends_nothing_and_is_logged(facts: Mapping[str, str]) -> None:
    assert facts["ran"] == "4"
    assert (
        "E/ModelObserver: an observer of models failed (java.lang.IllegalStateException: broken observer)"
        in facts["log"]
    )


def test_percentiles_are_never_too_low_and_a_tenth_too_high_at_most(facts: Mapping[str, str]) -> None:
    exact = np.percentile(SECONDS.astype(np.float64), [50, 90, 99], method="inverted_cdf")
    found = np.array([float(each) for each in facts["percentiles"].split()])
    assert (found >= exact).all()
    assert (found <= exact * WIDTH).all()
    least, largest, mean = (float(each) for each in facts["extremes"].split())
    assert (least, largest) == (SECONDS.min(), SECONDS.max())
    assert mean == pytest.approx(SECONDS.mean(dtype=np.float64))


def test_a_profile_is_onnx_runtimes_own_trace(facts: Mapping[str, str]) -> None:
    events = json.loads(facts["trace.content"])
    runs = [event for event in events if event.get("name") == "model_run"]
    nodes = {event["args"]["op_name"] for event in events if event.get("cat") == "Node"}
    assert len(runs) == 3
    assert nodes & {"FusedConv", "Conv"}
    assert facts["trace.folder"] == "true"
