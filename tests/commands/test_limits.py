"""Limits of a model while it is examined: time for a run, and memory."""

import sys
import time
from pathlib import Path

import numpy
import onnx
import pytest

from packager.core.errors import ConfigError, ModelError
from packager.core.parsing import Json
from packager.files.processes import commands, limits
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import onnx_model, saved, weight

__all__ = ["mobpack"]


LOOP = """
  c = Constant <value = bool {1}> ()
  y = Loop (, c, z) <
    body = body (int64 i, bool go, float[1, 64] state) => (bool on, float[1, 64] next) {
      on = Identity (go)
      next = Tanh (state)
    }
  >
"""
ONE = "(float[1, 64] x) => (float[1, 64] y) { z = MatMul (x, w) y = Tanh (z) }"
ENDED = "took more than 2 s and was ended"


def endless() -> onnx.ModelProto:
    """A layer with weights, and a loop that goes on for ever."""
    text = f"(float[1, 64] x) => (float[1, 64] y) {{ z = MatMul (x, w) {LOOP} }}"
    return onnx_model(text, weights={"w": weight(64, 64)})


@pytest.mark.parametrize(
    "command",
    [
        "check m.onnx",
        "check m.onnx --set parity.samples='one.npz'",
        "bench m.onnx",
        "quantize m.onnx -q static-qdq --calibration s.npz",
        "quantize m.onnx -q dynamic",
    ],
)
def test_a_model_with_an_endless_loop_ends_with_an_error_that_says_what_to_do(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    saved(tmp_path / "m.onnx", endless())
    numpy.savez(tmp_path / "s.npz", x=numpy.ones((2, 1, 64), numpy.float32))
    numpy.savez(tmp_path / "one.npz", x=numpy.ones((1, 64), numpy.float32))
    monkeypatch.setenv(limits.SECONDS, "2")
    began = time.monotonic()
    answer = mobpack(*command.split())
    assert time.monotonic() - began < 60
    assert answer.code == ModelError.EXIT_CODE, answer.err
    assert ENDED in answer.err
    assert f"endless loop; if it is only slow, set {limits.SECONDS} to more seconds" in answer.err
    assert not (tmp_path / "m-static-qdq.onnx").exists()


FOREVER = """
import sys
def score(predict):
    while True:
        print("x", file=sys.stderr, flush=True)
"""
QUANTIZE = ("quantize", "m.onnx", "-q", "auto", "--calibration", "s.npz", "--metric", "mine:score", "--max-drop", "0.1")


def test_a_metric_that_never_ends_is_ended(mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may take ten times as long as a run."""
    saved(tmp_path / "m.onnx", onnx_model(ONE, weights={"w": weight(64, 64)}))
    numpy.savez(tmp_path / "s.npz", x=numpy.ones((2, 1, 64), numpy.float32))
    (tmp_path / "mine.py").write_text(FOREVER, encoding="utf-8")
    monkeypatch.setenv(limits.SECONDS, "0.5")
    answer = mobpack(*QUANTIZE)
    assert answer.code == ModelError.EXIT_CODE, answer.err
    assert "metric mine:score of the float model took more than 5 s and was ended" in answer.err


def test_a_metric_without_memory_says_so(mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "m.onnx", onnx_model(ONE, weights={"w": weight(64, 64)}))
    numpy.savez(tmp_path / "s.npz", x=numpy.ones((2, 1, 64), numpy.float32))
    (tmp_path / "mine.py").write_text("def score(predict):\n    return len(bytes(8 << 30))\n", encoding="utf-8")
    monkeypatch.setenv(limits.MEMORY, "1GB")
    answer = mobpack(*QUANTIZE)
    assert answer.code == ConfigError.EXIT_CODE, answer.err
    assert f"memory ran out; {limits.MEMORY} allows 1.0 GB (metric mine:score fails: MemoryError" in answer.err


def test_an_import_that_never_ends_is_ended(mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "old.onnx", endless())
    monkeypatch.setenv(limits.SECONDS, "0.5")
    answer = mobpack("import", "old.onnx", "-o", "new.onnx")
    assert answer.code == ModelError.EXIT_CODE, answer.err
    assert "old.onnx took more than 5 s and was ended" in answer.err
    assert not (tmp_path / "new.onnx").exists()


@pytest.mark.parametrize(
    ("torch", "said"),
    [
        ("while True:\n    pass\n", "exporting nets:make took more than 5 s and was ended"),
        ("bytes(8 << 30)\n", f"memory ran out; {limits.MEMORY} allows 1.0 GB (MemoryError)"),
    ],
)
def test_an_export_that_never_ends_or_takes_all_memory_is_refused_in_words(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: str, said: str
) -> None:
    """A module with the name of PyTorch simulates code of the project that PyTorch runs."""
    found = tmp_path / "found"
    found.mkdir()
    (found / "torch.py").write_text(torch, encoding="utf-8")
    (found / "onnxscript.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(found))
    monkeypatch.setenv("PYTHONPATH", str(found))
    monkeypatch.setenv(limits.SECONDS, "0.5")
    monkeypatch.setenv(limits.MEMORY, "1GB")
    answer = mobpack("export", "nets:make")
    assert answer.code == ModelError.EXIT_CODE, answer.err
    assert said in answer.err


def test_a_model_of_too_much_memory_is_refused(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """8 GB, of 1 GB."""
    text = """(float[4] x) => (float y) {
      size = Constant <value = int64[2] {50000, 40000}> ()
      one = Constant <value = float[1] {1.0}> ()
      large = Expand (one, size)
      a = ReduceSum <keepdims = 0> (large)
      b = ReduceSum <keepdims = 0> (x)
      y = Add (a, b)
    }"""
    saved(tmp_path / "m.onnx", onnx_model(text))
    monkeypatch.setenv(limits.MEMORY, "1GB")
    answer = mobpack("check", "m.onnx", "-t", "ios")
    assert answer.code == ModelError.EXIT_CODE, answer.err
    assert f"memory ran out; {limits.MEMORY} allows 1.0 GB (" in answer.err


TELLING = """
import json, sys, time
if sys.platform == "linux":
    import resource
    print(json.dumps({"limit": resource.getrlimit(resource.RLIMIT_DATA)[0]}), flush=True)
time.sleep(json.loads(open(sys.argv[1]).read())["seconds"])
"""


def told(folder: Path, seconds: float) -> Json:
    program = folder / "program.py"
    program.write_text(TELLING, encoding="utf-8")
    return commands.run_job([program], {"seconds": seconds}, folder, crash="it crashed", hint="mend it")


def test_a_program_that_opens_models_ends_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening may take ten times as long as a run."""
    monkeypatch.setenv(limits.MEMORY, "3GB")
    assert told(tmp_path, 0) == {"limit": 3_000_000_000}
    monkeypatch.setenv(limits.SECONDS, "0.1")
    began = time.monotonic()
    with pytest.raises(ModelError, match="opening or converting the model took more than 1 s and was ended"):
        told(tmp_path, 600)
    assert time.monotonic() - began < 30


SLEEPING = """
import json, resource, time
def main():
    print(json.dumps({"limit": resource.getrlimit(resource.RLIMIT_DATA)[0]}), flush=True)
    time.sleep(600)
"""
COPYING = """
import sys, time
from pathlib import Path
from packager.files.processes import copies, limits
sys.path.insert(0, {folder!r})
began = time.monotonic()
try:
    copies.run("sleeping", [], Path({folder!r}), 0.5)
except limits.OverTimeError as error:
    print(error, time.monotonic() - began < 30, copies.are_sound())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="copies are made on Linux only")
def test_a_copy_of_this_process_ends_in_time(tmp_path: Path) -> None:
    (tmp_path / "sleeping.py").write_text(SLEEPING, encoding="utf-8")
    program = tmp_path / "copying.py"
    program.write_text(COPYING.format(folder=str(tmp_path)), encoding="utf-8")
    done = commands.run([sys.executable, program], what="copying", inherits=("PYTHONPATH",))
    assert done.strip() == "more than 0.5 s True True"


def test_the_limits_are_generous_and_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (limits.SECONDS, limits.MEMORY):
        monkeypatch.delenv(name, raising=False)
    assert (limits.seconds(), limits.seconds(limits.SLOW)) == (600, 6000)
    if sys.platform == "linux":
        total = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
        assert limits.memory_bytes() >= int(total.split()[1]) * 1024
    for text, size_bytes in {"8GB": 8e9, "1.5 gb": 1.5e9, "1000": 1000, "0": 0}.items():
        monkeypatch.setenv(limits.MEMORY, text)
        assert limits.memory_bytes() == size_bytes
    monkeypatch.setenv(limits.SECONDS, "0")
    assert limits.seconds() is None


@pytest.mark.parametrize(
    ("name", "text"), [(limits.SECONDS, "an hour"), (limits.MEMORY, "much"), (limits.SECONDS, "-1")]
)
def test_a_limit_that_is_no_number_is_refused(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    saved(tmp_path / "m.onnx", endless())
    monkeypatch.setenv(name, text)
    answer = mobpack("convert", "m.onnx")
    assert answer.code == ConfigError.EXIT_CODE, answer.err
    assert f"{name}: '{text}' is no" in answer.err
