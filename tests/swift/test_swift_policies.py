"""In Swift: models whose provider fails, on a hot device, and with little memory.

The provider that fails is a stand-in at the boundary of ONNX Runtime's C functions; everything else of it is real.
Linux tells neither heat nor short memory: the app says in its place what Apple's systems would.
"""

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from packager.distribution.release.extract import extract
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Address, serving, stall, status
from tests.toolchain.swift_app import App, trusting
from tests.toolchain.swift_nets import AUTO, COREML

Seen = Callable[[str], Mapping[str, str]]


@pytest.fixture(scope="module")
def app() -> App:
    return AUTO.program("Trouble")


@pytest.fixture(scope="module")
def seen(app: App, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Gives the facts of a scenario that several tests are about, from one run."""
    return cache(lambda scenario: facts(app, tmp_path_factory.mktemp("scenario"), scenario))


@pytest.fixture(scope="module")
def failing(seen: Seen) -> Mapping[str, str]:
    return seen("provider")


def facts(
    app: App, scratch: Path, *words: str, mounts: tuple[Path, ...] = (), etc: Path | None = None
) -> Mapping[str, str]:
    """Facts that a scenario found, by name."""
    done = app.run(*words, scratch=scratch, mounts=mounts, etc=etc)
    assert done.returncode == 0, done.output
    lines = [line.split("\t") for line in done.output.splitlines() if line.startswith("fact\t")]
    names = [name for _, name, _ in lines]
    assert len(set(names)) == len(names)
    return {name: value for _, name, value in lines}


def test_a_run_that_the_provider_fails_at_is_repeated_on_the_cpu(failing: Mapping[str, str]) -> None:
    assert failing["loaded"] == "load XNNPACK"
    assert [failing[f"right.{number}"] for number in range(4)] == ["true"] * 4
    assert [failing[f"events.{number}"] for number in range(3)] == ["run XNNPACK failed,retry CPU"] * 3


def test_after_three_failures_in_a_row_the_model_stays_on_the_cpu_and_says_why(failing: Mapping[str, str]) -> None:
    assert [failing[f"provider.{number}"] for number in range(4)] == ["XNNPACK", "XNNPACK", "CPU", "CPU"]
    assert failing["events.3"] == "run CPU"
    assert failing["fallbacks"] == "[XNNPACK: 3 runs in a row failed: the GPU was taken away]"
    assert (failing["file"], failing["file later"]) == ("chain/unfused.onnx", "chain/model.ort")
    assert failing["sessions"] == "1", "the provider's was freed"
    assert (failing["right later"], failing["events later"]) == ("true", "release memory,load CPU,run CPU")
    assert (failing["closed"], failing["sessions after close"]) == ("release close", "0")


def test_a_run_that_succeeds_in_between_begins_a_new_row(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "in a row")
    assert (seen["provider"], seen["provider later"]) == ("XNNPACK", "CPU")


def test_without_the_policy_the_failure_is_the_apps(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "without the policy")

    assert seen["refused"] == "the GPU was taken away"
    assert (seen["events"], seen["provider"]) == ("load XNNPACK,run XNNPACK failed", "XNNPACK")


def test_a_self_test_is_of_the_provider_itself(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "self-test")

    assert (seen["passed"], seen["failed"]) == ("true", "the GPU was taken away")
    assert seen["events"] == "run XNNPACK failed"


def test_an_input_that_fails_on_the_cpu_too_is_not_the_providers_fault(seen: Seen) -> None:
    found = seen("input")

    assert all("indices element out of data bounds" in found[f"wrong.{number}"] for number in range(4))
    assert found["events"] == ",".join(["run XNNPACK failed", "retry CPU failed"] * 4)
    assert found["provider"] == "XNNPACK"


def test_an_input_that_has_another_shape_is_not_tried_again(seen: Seen) -> None:
    found = seen("input")

    assert found["shape"].startswith("`ids` holds 2 values")
    assert found["events of the shape"] == "run XNNPACK failed"


def test_a_run_that_is_cancelled_is_not_tried_again(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "cancelled")

    assert (seen["thrown"], seen["events"]) == ("CancellationError()", "run XNNPACK failed")
    assert (seen["right"], seen["events later"]) == ("true", "run XNNPACK")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one thread is the fewest that a model can have")
def test_on_a_hot_device_runs_have_half_the_threads_until_it_is_cool(seen: Seen) -> None:
    found = seen("heat")

    assert found["cool.right"] == found["hot.right"] == found["cool again.right"] == "true"
    assert found["cool.events"] == "run CPU,run CPU"
    assert found["hot.before the run"] == "", "the next run opens it"
    assert found["hot.events"] == found["cool again.events"] == "release thermal,load CPU,run CPU,run CPU"
    assert int(found["hot.threads"]) < int(found["cool.threads"]) == int(found["cool again.threads"])


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one thread is the fewest that a model can have")
def test_a_model_that_is_loaded_on_a_hot_device_has_half_the_threads_at_once(seen: Seen) -> None:
    found = seen("heat")

    assert found["loaded hot.events"] == "load CPU,run CPU"
    assert int(found["loaded hot.threads"]) < int(found["cool.threads"])


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one thread is the fewest that a model can have")
def test_a_run_beside_others_waits_for_no_other_threads(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "heat while it runs")
    assert (seen["beside"], seen["afterwards"]) == ("run XNNPACK", "release thermal,load XNNPACK,run XNNPACK")


def test_threads_of_the_apps_own_and_models_without_the_policy_stay_as_they_are(seen: Seen) -> None:
    found = seen("heat")

    assert found["own.events"] == found["off.events"] == "run CPU"
    assert found["own.threads"] == "1", "beside the caller's"
    assert found["off.threads"] == found["cool.threads"]


def test_a_model_that_does_not_run_is_freed_when_memory_is_short_and_opened_by_the_next_run(seen: Seen) -> None:
    found = seen("memory")

    assert (found["released"], found["sessions"]) == ("release memory", "0"), "once, though it was told twice"
    assert found["known"] == "cpu chain 0 true"
    assert (found["opened"], found["right"]) == ("load CPU,run CPU", "true")
    assert (found["profile"], found["profiled"]) == ("json", "release memory,load CPU")
    assert found["without the policy"] == ""


def test_a_run_keeps_its_session(seen: Seen) -> None:
    found = seen("memory")
    assert (found["while it runs"], found["afterwards"]) == ("", "run XNNPACK failed,release memory")


def test_a_model_that_is_closed_waits_for_its_run(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "closed while it runs")
    assert (seen["while it runs"], seen["thrown"], seen["sessions"]) == ("1", "CancellationError()", "0")


def test_a_model_that_is_closed_or_let_go_of_is_told_of_no_memory(seen: Seen) -> None:
    found = seen("memory")

    assert (found["closed"], found["after close"]) == ("release memory,release close", "Chain is closed")
    assert (found["dropped"], found["listeners"]) == ("release close", "0")


def test_a_model_keeps_its_state(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "state")

    assert [seen[f"count.{number}"] for number in (1, 2, 3)] == ["[1.0]", "[2.0]", "[3.0]"]
    assert seen["events"] == ",".join(["load CPU", "run CPU", "release memory"] * 3)


def test_a_model_from_memory_is_opened_again(app: App, tmp_path: Path) -> None:
    project = AUTO.project()
    seen = facts(app, tmp_path / "run", "bytes", str(project / "chain.onnx"), mounts=(project,))
    assert (seen["right"], seen["events"]) == ("true", "load CPU,run CPU,release memory,load CPU,run CPU")


def test_files_are_checked_when_a_model_is_opened_again(app: App, tmp_path: Path) -> None:
    extract(AUTO.project() / "dist", tmp_path / "models")
    seen = facts(app, tmp_path / "run", "changed", str(tmp_path / "models"), mounts=(tmp_path,))

    assert "the package was built with" in seen["changed"]
    assert seen["gone"] == "nothing", "it has the file that it was opened from"
    assert seen["back"] == "nothing"


@contextmanager
def server(scratch: Path) -> Iterator[tuple[Address, Path]]:
    """A server that has the models, and the system's folder of an app that trusts it."""
    extract(AUTO.project() / "dist", scratch / "models")
    pair = certificate(scratch)
    with serving(pair) as address:
        address.files.by_path |= {f"/{path.name}": path.read_bytes() for path in (scratch / "models").iterdir()}
        yield address, trusting(pair.certificate, scratch / "etc")


def test_files_that_are_removed_stay_those_of_an_open_model(app: App, tmp_path: Path) -> None:
    with server(tmp_path) as (address, etc):
        seen = facts(app, tmp_path / "run", "server", address.url, etc=etc)
        asked = [request.path for request in address.files.requests]

    assert (seen["right"], seen["right later"]) == ("true", "true")
    assert seen["events"] == "load XNNPACK,run XNNPACK failed,retry CPU,release memory,load XNNPACK,run XNNPACK"
    assert len(set(asked)) == len(asked) == 2, "the provider's graph, and weights, which are the CPU's file"


def test_a_model_runs_on_without_its_server_until_it_is_closed(app: App, tmp_path: Path) -> None:
    with server(tmp_path) as (address, etc):
        found = 2
        address.files.faults.extend([None] * found + [status(404)] * 9)
        seen = facts(app, tmp_path / "run", "offline", address.url, etc=etc)

    assert (seen["right"], seen["closed"]) == ("true", "Chain is closed")
    assert "answers with status 404" in seen["other"]


def test_nobody_waits_for_a_download_of_a_run_that_is_cancelled_or_whose_model_is_closed(
    app: App, tmp_path: Path
) -> None:
    with server(tmp_path) as (address, etc):
        path = f"/{'0' * 64}"
        address.files.by_path[path], address.files.faults_by_path[path] = bytes(8000), deque([stall])
        seen = facts(app, tmp_path / "run", "stalled", address.url, etc=etc)
        address.files.ended.set()

    assert (seen["sessions"], seen["thrown"]) == ("0", "CancellationError()")


def test_a_run_that_is_cancelled_does_not_wait_for_its_model_to_open_nor_does_close(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "cancelled opening")

    assert (seen["thrown"], seen["sessions"]) == ("CancellationError()", "0")
    assert (seen["after close"], seen["sessions later"]) == ("Chain is closed", "0")


def test_heat_opens_a_model_at_most_once_within_the_least_time_and_keeps_one_that_cannot_be_opened(
    app: App, tmp_path: Path
) -> None:
    seen = facts(app, tmp_path / "run", "dwell")

    assert seen["events"] == "release thermal,load XNNPACK," + ",".join(["run XNNPACK"] * 5)
    assert (seen["right"], seen["refused"]) == ("true", "run XNNPACK,run XNNPACK")
    assert seen["threads"] == '["XNNPACK", "CPU"]'


def test_the_session_on_the_cpu_is_open_while_the_provider_fails_alone(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "spare")

    assert (seen["after a bad input"], seen["while the provider fails"]) == ("0", "1")
    assert seen["when it runs again"] == "0"
    assert seen["both"].startswith("the GPU was taken away; again on the CPU: ")
    assert "indices element out of data bounds" in seen["both"]


def test_a_cancelled_run_is_no_error_and_a_repeated_one_does_not_wait_twice(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "metrics")
    runs, errors, retries, queued, right = json.loads(seen["counts"])

    assert (runs, errors, retries, right) == (3, 1, 1, 1)
    assert queued == 2, "the repeated run has waited for nothing"


def test_a_failed_allocation_has_an_error_of_its_own(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "out of memory")

    assert seen["right"] == "true", "the CPU may need less"
    assert seen["run"] == "outOfMemory std::bad_alloc"
    assert seen["load"] == "outOfMemory Chain did not start: std::bad_alloc"


def test_nothing_of_a_load_stays_as_long_as_its_model(app: App, tmp_path: Path) -> None:
    with server(tmp_path) as (address, etc):
        seen = facts(app, tmp_path / "run", "progress", address.url, etc=etc)
    assert seen["screen"] == "true"


def test_what_a_failed_start_left_behind_is_removed_and_compiled_anew(tmp_path: Path) -> None:
    compiling, scratch = COREML.program("Compiling"), tmp_path / "run"
    first = facts(compiling, scratch)
    assert (first["provider"], first["fallbacks"], first["files"]) == ("CoreML", "[]", '["compiled"]')
    [compiled] = [path for path in scratch.rglob("compiled") if not path.parent.name.startswith("a")]
    compiled.rename(compiled.with_name("torn"))

    again = facts(compiling, scratch)
    assert (again["provider"], again["fallbacks"], again["files"]) == ("CoreML", "[]", '["compiled"]')


def test_another_release_keeps_what_was_compiled_of_an_open_model(tmp_path: Path) -> None:
    seen = facts(COREML.program("Compiling"), tmp_path / "run")
    assert (seen["files later"], seen["stale"]) == ('["compiled"]', "false")


def test_runs_on_several_threads_are_right_while_everything_goes_wrong(app: App, tmp_path: Path) -> None:
    """The stand-in ends the program if a run meets a session that was freed, or one is freed that runs."""
    seen = facts(app, tmp_path / "run", "everything")

    assert (seen["wrong"], seen["run "], seen["sessions"]) == ("0", seen["made"], "0")
    assert int(seen["release memory"]) > 10
    assert int(seen["retry CPU"]) >= 3
    assert int(seen["load"]) > 10


def test_policies_allocate_nothing_for_a_run_where_nothing_goes_wrong(app: App, tmp_path: Path) -> None:
    seen = facts(app, tmp_path / "run", "cost")
    assert seen["allocations with"] == seen["allocations without"] != "0"
