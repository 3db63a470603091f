"""The command `mobpack export` with the real PyTorch: its files in the user's folder, and its output."""

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy
import onnxruntime
import pytest

from tests.cases.disks import tiny_disk
from tests.cases.waiting import HANGS_S, until
from tests.toolchain.command import MOBPACK
from tests.toolchain.torch import nets, variables


def started(folder: Path, *options: str) -> "subprocess.Popen[str]":
    """The command, running in a user's folder that has nets.py in it."""
    return subprocess.Popen(
        [MOBPACK, "export", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=nets(folder),
        env=variables(),
    )


def left_in(folder: Path) -> list[str]:
    """Files that the command left, apart from those of Python and the user."""
    return sorted(path.name for path in folder.iterdir() if path.name not in ("nets.py", "__pycache__"))


def test_a_module_becomes_a_model_and_samples_that_a_check_takes(tmp_path: Path) -> None:
    options = ("nets:prints", "-o", "classifier.onnx", "--dynamic", "batch", "--keep-samples", "kept", "--json")
    running = started(tmp_path, *options)
    out, err = running.communicate()
    assert running.returncode == 0, err
    document = json.loads(out)
    assert document["files"] == ["classifier.onnx"]
    assert document["inputs"] == [{"name": "input", "type": "float", "shape": ["batch", 3, 12, 12]}]
    assert document["outputs"] == [{"name": "output", "type": "float", "shape": ["batch", 4]}]
    assert [each["share-of-tolerance"] < 1 for each in document["errors"]] == [True]
    assert left_in(tmp_path) == ["classifier.onnx", "kept"]
    session = onnxruntime.InferenceSession(tmp_path / "classifier.onnx")
    assert len(document["samples"]) == len(list((tmp_path / "kept" / "samples").iterdir())) > 1
    for sample in (tmp_path / "kept" / "samples").iterdir():
        recorded = numpy.load(tmp_path / "kept" / "recorded" / sample.name)
        [found] = session.run(["output"], dict(numpy.load(sample)))
        numpy.testing.assert_allclose(found, recorded["output"], 1e-3, 1e-5)


def test_a_factory_opens_the_files_beside_its_module_and_hostile_modules_there_are_not_run(tmp_path: Path) -> None:
    weights = numpy.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    numpy.save(tmp_path / "weights.npy", weights)
    for name in ("onnxruntime", "packager", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('hostile', 'w').close()\n")
    running = started(tmp_path, "nets:from_file", "-o", "made.onnx")
    _, err = running.communicate()
    assert running.returncode == 0, err
    given = numpy.arange(6, dtype="float32").reshape(2, 3)
    [found] = onnxruntime.InferenceSession(tmp_path / "made.onnx").run(None, {"input": given})
    numpy.testing.assert_allclose(found, given @ weights.T, 1e-5)
    assert not list(tmp_path.rglob("hostile"))


def test_a_model_that_computes_something_else_is_not_written_unless_forced(tmp_path: Path) -> None:
    options = ("nets:size_branch", "--dynamic", "batch")
    plain = started(tmp_path / "plain", *options)
    forced = started(tmp_path / "forced", *options, "--force")
    strict = started(tmp_path / "strict", *options, "--force", "--strict")
    out, err = plain.communicate()
    assert (plain.returncode, out, left_in(tmp_path / "plain")) == (5, "", []), err
    assert "output 'output' on sample 2 (batch = 1), node by node: 3 of 3 numbers differ" in err
    out, err = forced.communicate()
    assert (forced.returncode, left_in(tmp_path / "forced")) == (0, ["model.onnx"]), err
    assert "the model was written because of --force" in err
    assert "next: mobpack build model.onnx --target android" in err
    assert out.splitlines()[-1] == "model.onnx"
    _, err = strict.communicate()
    assert (strict.returncode, left_in(tmp_path / "strict")) == (3, []), err


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    with tiny_disk(tmp_path):
        running = started(tmp_path, "nets:large")
        _, err = running.communicate()
        assert (running.returncode, left_in(tmp_path)) == (4, []), err
        assert "No space left" in err


def test_ctrl_c_leaves_nothing_and_ends_pytorch(tmp_path: Path) -> None:
    running = started(tmp_path, "nets:waits")
    until(lambda: (tmp_path / "waiting").exists() or running.poll() is not None)
    assert running.poll() is None, running.communicate()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=HANGS_S)
    assert (running.returncode, left_in(tmp_path)) == (130, ["waiting"]), err
    child = int((tmp_path / "waiting").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
