"""Messages for machines without all that NVIDIA's GPUs need: they say how to get it, and show no stack trace."""

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import nvidia
from packager.engines.environments.nvidia import Facts, Gpu, Interpreter
from packager.engines.runners.cuda import Cuda
from packager.engines.runners.runner import Runnable
from packager.engines.runners.tensorrt import Tensorrt
from packager.engines.runners.tensorrt_native import TensorrtNative
from tests.cases.gpu_words import WANTED, WHOLE
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain import gpu


@pytest.mark.parametrize("program", ["echo hello", "exit 3", "kill -11 $$", "echo '{}'", ""])
def test_an_interpreter_that_is_none_is_a_reason_and_no_exception(program: str, tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    facts = nvidia.probe(nvidia.place(str(path)))
    assert str(path) in facts.failure
    assert nvidia.lacks_gpu(facts).endswith("name a Python that works in [parity.interpreters]")
    assert "\n" not in facts.failure


def test_an_interpreter_that_is_not_there_is_a_reason_and_no_exception() -> None:
    assert "No such file" in TensorrtNative(interpreter="/nope/python").missing()


def test_an_onnxruntime_without_the_provider_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "probe", lambda where, **asked: WHOLE)
    path = saved(tmp_path / "m.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    for runner, provider in (
        (Cuda(interpreter=sys.executable), "CUDAExecutionProvider"),
        (Tensorrt(interpreter=sys.executable), "TensorrtExecutionProvider"),
    ):
        with pytest.raises(
            ToolError, match=f"does not work on this machine: this ONNX Runtime has no provider {provider}"
        ):
            runner.open(Runnable(path=path), tmp_path)


def test_a_session_says_on_which_gpu_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "probe", lambda where, **asked: replace(WHOLE, tensorrt_version="10.16.1"))
    path = saved(tmp_path / "m.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    python = tmp_path / "python"
    answer = json.dumps({"version": WANTED, "plugin": "", "placed": 1, "nodes": 3})
    python.write_text(f"#!/bin/sh\necho '{answer}'; cat > {tmp_path}/rest\n", encoding="utf-8")
    python.chmod(0o755)
    for runner, words in (
        (Cuda(interpreter=str(python)), f"ONNX Runtime {WANTED}, CUDA on NVIDIA H100 (driver 580.95.05), TF32 off"),
        (
            Tensorrt(interpreter=str(python)),
            f"TensorRT 10.16.1 through ONNX Runtime {WANTED} on NVIDIA H100 (driver 580.95.05), TF32 off",
        ),
    ):
        with runner.open(Runnable(path=path), tmp_path) as session:
            assert (session.about, session.placed, session.node_count) == (words, 1, 3)


@pytest.mark.skipif(sys.platform != "linux", reason="the driver's library is Linux's")
def test_the_program_that_looks_sees_the_driver_and_its_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = gpu.driver(tmp_path / "driver", major=8, minor=6)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    facts = probed("a")
    assert nvidia.lacks_gpu(facts) == nvidia.lacks_driver_for_cuda_13(facts) == ""
    assert nvidia.in_words(facts) == "NVIDIA Stand-In (driver 580.95.05)"
    assert facts.gpus == (Gpu(name="NVIDIA Stand-In", capability=(8, 6)),)
    gpu.driver(tmp_path / "none", error=100)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "none"))
    assert "cuInit says CUDA_ERROR_NO_DEVICE (100)" in nvidia.lacks_gpu(probed("b"))
    gpu.driver(tmp_path / "old", version=12080, count=0)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "old"))
    assert "sees no GPU" in nvidia.lacks_gpu(probed("c"))
    assert "580.95.05 supports CUDA 12.8" in nvidia.lacks_driver_for_cuda_13(probed("c"))


@pytest.mark.skipif(sys.platform != "linux", reason="TensorRT's library is looked for on Linux")
def test_the_program_that_looks_finds_tensorrt_of_any_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.shared_library(tmp_path / "lib" / "libnvinfer.so.11", "int getInferLibVersion(void) { return 110400; }")
    (tmp_path / "lib" / "libnvinfer.so.11.4.0").write_bytes(b"")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "lib"))
    facts = probed("d", "libnvinfer.so.10")
    assert facts.tensorrt == ("libnvinfer.so.11",)
    assert nvidia.lacks_tensorrt_libraries(facts).startswith("found libnvinfer.so.11; ONNX Runtime ")
    gpu.shared_library(tmp_path / "ten" / "libnvinfer.so.10", "int getInferLibVersion(void) { return 101601; }")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "ten"))
    assert probed("e", "libnvinfer.so.10").tensorrt_version == "10.16.1"


def probed(name: str, *libraries: str) -> Facts:
    """Probed again for every `name`: answers about an interpreter are kept."""
    variables = {"LD_LIBRARY_PATH": os.environ["LD_LIBRARY_PATH"], "NAME": name}
    return nvidia.probe(Interpreter(command=(sys.executable, "-P"), variables=variables), libraries=libraries)
