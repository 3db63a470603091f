"""The runner `web` computes in WebAssembly what the CPU computes, and refuses in words what it cannot."""

import sys
from pathlib import Path

import pytest

from packager.engines.environments import SHIPPED, web
from packager.engines.runners import RUNNERS, Runnable
from packager.engines.runners.web import Web
from packager.files.store import Step, closure
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.web import Web as WebTarget
from packager.verification.evidence import KERNELS
from packager.verification.numbers import PARITY


def test_without_its_environment_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert Web().missing() == "not installed: run `mobpack doctor --install web`"
    monkeypatch.setattr(web, "node", lambda: "")
    assert Web().missing() == f"Node.js not found: {web.NO_NODE}"


def test_node_is_the_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that pip installs is a Python program, which hides the signal of a crash."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert Path(web.node()).read_bytes()[:2] != b"#!"


def test_its_results_are_kept_for_the_same_files_of_onnx_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Web().identity()
    assert str(web.runtime_file("binary")) in before
    monkeypatch.setattr(web, "_folder", lambda: Path("/elsewhere"))
    assert Web().identity() != before


def test_a_file_for_16_bits_is_not_for_the_web() -> None:
    assert Web().cannot_open(Runnable(path=Path("m.ort"), needs_fp16=True)).startswith("the file computes in 16 bits")
    assert RUNNERS["web"]("") == (Web(),)


@pytest.mark.parametrize("step", [KERNELS, PARITY], ids=lambda step: step.name)
def test_stored_results_depend_on_its_program(step: Step) -> None:
    assert web.CHILD in closure.closure(closure.INSTALLED, step.computed_by)


def test_every_target_names_the_runtime_of_its_packages() -> None:
    tables = (Android(), Ios(), WebTarget(), WebTarget(runtime="webgpu"))
    assert {each.environment for each in tables} == SHIPPED.keys()
