"""The arithmetic and the goals of `benchmarks.quantize`, and its models."""

import subprocess
from pathlib import Path

import pytest

from benchmarks import models, quantize_ours, quantize_theirs


def test_the_command_writes_the_model_and_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model, samples = tmp_path / "tiny.onnx", tmp_path / "samples"
    model.write_bytes(models.tiny().SerializeToString(deterministic=True))
    quantize_ours.write_samples(model, samples, samples)
    for name, files in (("command-without-report", ["model.onnx"]), ("command", ["model.html", "model.onnx"])):
        out = tmp_path / name
        out.mkdir()
        quantize_ours.STEPS[name](model, out, samples / "seen")
        assert sorted(path.name for path in out.iterdir()) == files


def test_pip_runs_no_code_of_a_tool_before_it_knows_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def run(command: list[str], **named: object) -> subprocess.CompletedProcess[str]:
        called.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("venv.create", lambda folder, **named: folder.mkdir())
    monkeypatch.setattr("subprocess.run", run)
    quantize_theirs.olive(tmp_path)
    [command] = called
    assert command[-6:] == ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(quantize_theirs.OLIVE)]
