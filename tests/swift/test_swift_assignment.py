"""In Swift: threads are shared, the assignment is ONNX Runtime's own, and a provider without a node has not started.

The provider without a node is a real one: pip's ONNX Runtime has Azure's, which takes none of a model's own nodes. The
package knows no such provider: it asks for XNNPACK, which pip's lacks, and a stand-in asks for Azure's in its place.
"""

import re
from pathlib import Path

import pytest

from tests.toolchain.swift_app import App
from tests.toolchain.swift_nets import AUTO, MACS, ONNX


@pytest.fixture(scope="module")
def program() -> App:
    """The app, which opens the model in ONNX format."""
    return ONNX.program("Sharing")


@pytest.fixture(scope="module")
def ort_program() -> App:
    """The app, which opens the model in ORT format on the CPU."""
    return AUTO.program("Sharing")


@pytest.fixture(scope="module")
def shared(program: App, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Words of the app whose models share threads."""
    return run(program, "shared", tmp_path_factory.mktemp("shared"))


def run(program: App, scenario: str, scratch: Path, **environment: str) -> str:
    done = program.run(scenario, scratch=scratch, environment=environment)
    assert done.returncode == 0, done.output
    return done.output


def grown(output: str, name: str) -> int:
    [found] = re.findall(rf"^{name} threads (\d+)$", output, re.MULTILINE)
    return int(found)


def test_models_share_threads_unless_the_app_asks_for_others(shared: str) -> None:
    assert grown(shared, "second") == 0
    assert grown(shared, "own") == 3, "the caller's thread is the fourth"
    assert grown(shared, "spinning") == grown(shared, "first")


def test_a_model_has_threads_of_its_own_where_another_library_was_first(program: App, tmp_path: Path) -> None:
    found = run(program, "other", tmp_path / "run")
    assert grown(found, "second") == grown(found, "first") > 0
    assert "provider cpu fallbacks []" in found


def test_the_assignment_is_that_of_the_session(shared: str) -> None:
    assert re.findall(r"^assigned (\w+ \d+ \d+)$", shared, re.MULTILINE) == [f"cpu 1 {MACS}"]


def test_the_assignment_is_unknown_for_a_file_in_ort_format(ort_program: App, tmp_path: Path) -> None:
    found = run(ort_program, "shared", tmp_path / "run")
    assert "provider cpu fallbacks []" in found
    assert "assigned" not in found


@pytest.mark.parametrize("stand_in", ["before 1.24", "minimal"])
def test_a_runtime_that_cannot_say_runs_the_model(program: App, tmp_path: Path, stand_in: str) -> None:
    found = run(program, "shared", tmp_path / "run", STAND_IN=stand_in)
    assert "provider cpu fallbacks []" in found
    assert "assigned" not in found


def test_a_provider_that_takes_no_node_has_not_started(program: App, tmp_path: Path) -> None:
    found = run(program, "none", tmp_path / "run", STAND_IN="Azure's provider")
    assert "provider cpu fallbacks [XNNPACK: took no node of the model]" in found
    assert re.search(r"^assigned cpu [1-9]", found, re.MULTILINE)
    assert "assigned xnnpack" not in found
