"""`--no-code`: no code of a project runs, and the refusal names the code that would have."""

import json
from pathlib import Path

import pytest

from packager.core.errors import ConfigError
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, saved
from tests.unit.test_layers import imports

__all__ = ["mobpack"]

CODE = "open('ran.txt', 'w').close()\nraise SystemExit('it ran')\n"
HEAD = '[package]\nname = "m"\n[model.m]\npath = "model.onnx"\n[target.ios]\n'
STATIC = '[variant.small]\nquantizer = "static-qdq"\ncalibration = "{samples}"\n'
AUTO = '[variant.small]\nquantizer = "auto"\ncalibration = "{samples}"\nmetric = "{metric}"\nmax-drop = 0.1\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a module and a release, as the working folder."""
    saved(tmp_path / "model.onnx", linear())
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "größe.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "dist").mkdir()
    artifacts = [{"target": "ios", "kind": "swift-package", "path": "swift/m-1.0.0.zip", "sha256": "0" * 64}]
    (tmp_path / "dist" / "manifest.json").write_text(json.dumps({"artifacts": artifacts}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["build", "check", "predict x.npz", "release --first", "verify --rebuild"])
@pytest.mark.parametrize(
    ("tables", "key"),
    [
        (STATIC.format(samples="mine:samples"), "variant.small.calibration.samples: the function 'mine:samples'"),
        (STATIC.format(samples="größe:samples"), "variant.small.calibration.samples: the function 'größe:samples'"),
        (AUTO.format(samples="data", metric="mine:score"), "variant.small.metric: the function 'mine:score'"),
        ('[parity.interpreters]\ncuda = "./mine.sh"\n', "parity.interpreters.cuda: the program '"),
    ],
    ids=["samples", "a name that is not ASCII", "a metric", "an interpreter"],
)
def test_a_project_that_runs_code_is_refused(
    mobpack: Mobpack, folder: Path, command: str, tables: str, key: str
) -> None:
    (folder / "mobpack.toml").write_text(HEAD + tables, encoding="utf-8")
    answer = mobpack(*command.split(), "--no-code")
    assert answer.code == ConfigError.EXIT_CODE
    assert f"mobpack: error: {key}" in answer.err
    assert "is code of the project, which --no-code refuses to run" in answer.err
    assert not (folder / "ran.txt").exists()


@pytest.mark.parametrize(
    "options",
    [
        "-q static-qdq --calibration mine:samples",
        "-q dynamic --calibration mine:samples",
        "-q dynamic --metric mine:score",
        "-q auto --calibration data --metric mine:score --max-drop 0.1",
        "-q static-qdq --calibration data --set calibration.samples=mine:samples",
    ],
)
@pytest.mark.usefixtures("folder")
def test_quantize_refuses_it_wherever_it_is_named(mobpack: Mobpack, options: str) -> None:
    answer = mobpack("quantize", "model.onnx", *options.split(), "--no-code")
    assert answer.code == ConfigError.EXIT_CODE
    assert "which --no-code refuses to run" in answer.err
    assert not Path("ran.txt").exists()


@pytest.mark.usefixtures("folder")
def test_a_project_without_code_is_not_refused(mobpack: Mobpack) -> None:
    Path("mobpack.toml").write_text(HEAD + STATIC.format(samples="nowhere"), encoding="utf-8")
    answer = mobpack("check", "--no-code", "--set", "target.ios.variant='small'")
    assert "--no-code" not in answer.err
    assert "nowhere" in answer.err, answer.err


def test_functions_of_users_are_called_for_samples_metrics_and_exports_alone() -> None:
    """`trust` must know every other caller first."""
    callers = {module for module, imported in imports().items() if "core.user_functions" in imported}
    assert callers == {
        "importers.jax",
        "workflows.importing.project",
        "workflows.importing.steps",
        "workflows.export.factory",
        "workflows.export.failures",
        "workflows.export.running",
        "quantization.measurement.child",
        "quantization.measurement.evaluator",
        "quantization.measurement.function",
        "quantization.measurement.metrics",
        "quantizers.auto",
        "quantizers.quantizer",
        "samples.function",
        "samples.source",
        "workflows.inputs",
        "workflows.trust",
    }
