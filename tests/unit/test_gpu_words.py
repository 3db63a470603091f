"""Messages for machines without all that NVIDIA's GPUs need: they say how to get it, and show no stack trace."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnxruntime import InferenceSession

from packager.engines.environments import ENVIRONMENTS, nvidia
from packager.engines.environments.cuda import Cuda as Environment
from packager.engines.environments.nvidia import Facts, Interpreter, Module
from packager.engines.runners.cuda import Cuda
from packager.engines.runners.runner import Runnable, Runner
from packager.engines.runners.tensorrt import Tensorrt, is_quantized, provider_options
from packager.engines.runners.tensorrt_native import (
    TensorrtNative,
    described,
    lacks_gpu_for_rtx,
    lacks_memory_module,
    lacks_tensorrt,
)
from tests.cases.gpu_words import H100, WANTED, WHOLE
from tests.cases.onnx_text import onnx_model, saved

USERS = Interpreter(command=("/opt/venv/bin/python",), variables={})

OWN = Interpreter(command=("python",), variables={}, is_own=True)

INSTALL = "`/opt/venv/bin/python -m pip install "


def with_modules(**versions: Module) -> Facts:
    return replace(
        WHOLE, modules={**WHOLE.modules, **{name.replace("__", "."): each for name, each in versions.items()}}
    )


def test_a_machine_lacks_nothing_with_one_of_two_libraries() -> None:
    assert nvidia.lacks_gpu(WHOLE) == ""
    assert nvidia.lacks_driver_for_cuda_13(WHOLE) == ""
    assert nvidia.lacks_onnxruntime_gpu(WHOLE, USERS) == ""
    assert nvidia.lacks_cuda_libraries(WHOLE, USERS) == ""
    assert nvidia.lacks_tensorrt_libraries(WHOLE) == ""
    assert lacks_tensorrt(WHOLE, USERS) == lacks_memory_module(WHOLE, USERS) == lacks_gpu_for_rtx(WHOLE) == ""
    neither = with_modules(cuda__core=Module())
    assert lacks_memory_module(neither, USERS).endswith(
        f"can import neither pycuda nor cuda-core: {INSTALL}cuda-core`, or pycuda"
    )
    assert lacks_memory_module(with_modules(cuda__core=Module(), pycuda__driver=Module(version="2026.1")), USERS) == ""
    broken = with_modules(cuda__core=Module(error="no libcudart"))
    assert "(cuda-core: no libcudart): " in lacks_memory_module(broken, USERS)
    assert "has no numpy: " in lacks_memory_module(with_modules(numpy=Module()), USERS)
    rtx = with_modules(tensorrt=Module(), tensorrt_rtx=Module(version="1.7.1"))
    assert "NVIDIA H100 has compute capability 9.0, and TensorRT for RTX runs on 7.5, " in lacks_gpu_for_rtx(rtx)
    assert lacks_gpu_for_rtx(replace(rtx, gpus=(replace(H100, capability=(8, 9)),))) == ""
    both = with_modules(tensorrt_rtx=Module(version="1.7.1"))
    assert lacks_gpu_for_rtx(both) == ""


def test_why_there_is_no_gpu() -> None:
    for facts, words, end in [
        (
            Facts(driver_error="libcuda.so.1: cannot open", has_driver=False),
            "this machine has no NVIDIA driver (libcuda.so.1: cannot open): ",
            "driver 580 or later; in a container, start it with --gpus all",
        ),
        (
            Facts(driver_error="cuInit says CUDA_ERROR_NO_DEVICE (100)"),
            "finds no GPU that it can use (cuInit says CUDA_ERROR_NO_DEVICE (100)): see what nvidia-smi says",
            "--gpus all",
        ),
        (Facts(cuda=13000), "the NVIDIA driver sees no GPU: ", "hides them when it is empty or -1"),
        (
            Facts(failure="/nope cannot be examined: No such file"),
            "/nope cannot be examined: ",
            "[parity.interpreters]",
        ),
    ]:
        assert words in nvidia.lacks_gpu(facts)
        assert nvidia.lacks_gpu(facts).endswith(end)


def test_what_is_missing_is_named_with_what_has_it() -> None:
    facts = with_modules(onnxruntime=Module(error="No module named 'numpy'"))
    assert "cannot import onnxruntime (No module named 'numpy'): " in nvidia.lacks_onnxruntime_gpu(facts, USERS)
    lost = {**WHOLE.libraries, "libcublasLt.so.13": "not found", "libcublas.so.13": "not found"}
    found = nvidia.lacks_cuda_libraries(replace(WHOLE, libraries=lost), USERS)
    assert "needs libcublasLt.so.13, libcublas.so.13, which /opt/venv/bin/python cannot load (not found): " in found
    assert found.endswith(f"{INSTALL}nvidia-cublas`, or add the folder that has them to LD_LIBRARY_PATH")
    own = nvidia.lacks_cuda_libraries(replace(WHOLE, libraries=lost), OWN)
    assert "which the environment cuda cannot load (not found): `mobpack doctor --install cuda`" in own
    found = nvidia.lacks_driver_for_cuda_13(replace(WHOLE, cuda=12040, release="550.54"))
    assert found.startswith("NVIDIA driver 550.54 supports CUDA 12.4, ")
    assert found.endswith("needs 13.0: install driver 580 or later")
    assert nvidia.lacks_driver_for_cuda_13(replace(WHOLE, cuda=12090, release="")).startswith("NVIDIA driver supports")
    assert nvidia.lacks_driver_for_cuda_13(replace(WHOLE, cuda=13010)) == ""


def test_why_an_interpreter_has_no_onnxruntime_for_gpus() -> None:
    for packages, words in [
        (("", ""), f"has no onnxruntime-gpu: {INSTALL}onnxruntime-gpu=={WANTED}`"),
        (("1.31.1", ""), "has onnxruntime 1.31.1, which supports CPUs only: onnxruntime cannot stay beside it"),
        (("1.31.1", WANTED), f"overwrite each other's files: uninstall both there, then {INSTALL}onnxruntime-gpu=="),
        (("", "1.20.0"), f"has onnxruntime-gpu 1.20.0, but the supported version is {WANTED}: {INSTALL}"),
    ]:
        facts = replace(WHOLE, packages=dict(zip(("onnxruntime", "onnxruntime-gpu"), packages, strict=True)))
        assert nvidia.lacks_onnxruntime_gpu(facts, USERS).startswith("/opt/venv/bin/python has ")
        assert words in nvidia.lacks_onnxruntime_gpu(facts, USERS)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (("libnvinfer.so.11",), f"found libnvinfer.so.11; ONNX Runtime {WANTED} needs libnvinfer.so.10: install "),
        ((), f"libnvinfer.so.10 not found, which ONNX Runtime {WANTED} needs: install TensorRT 10 for CUDA 13"),
        (("libnvinfer.so.10",), "libnvinfer.so.10 is there but cannot be loaded (not found): install "),
    ],
)
def test_the_wrong_version_of_tensorrt_is_named(there: tuple[str, ...], words: str) -> None:
    libraries = {**WHOLE.libraries, "libnvinfer.so.10": "not found"}
    found = nvidia.lacks_tensorrt_libraries(replace(WHOLE, libraries=libraries, tensorrt=there))
    assert found.startswith(words)
    assert found.endswith("add its lib folder to LD_LIBRARY_PATH")


def test_an_interpreter_without_tensorrt_is_told_how_to_get_it() -> None:
    assert lacks_tensorrt(with_modules(tensorrt=Module()), USERS).startswith(
        f"/opt/venv/bin/python has no module tensorrt: {INSTALL}tensorrt`"
    )
    for_rtx = replace(with_modules(tensorrt=Module()), gpus=(replace(H100, capability=(8, 9)),))
    assert lacks_tensorrt(for_rtx, USERS).endswith("or tensorrt-rtx")
    assert "rtx" not in lacks_tensorrt(with_modules(tensorrt=Module()), USERS)  # the H100 has 9.0
    broken = with_modules(tensorrt=Module(error="libnvinfer.so.11: cannot open shared object file"))
    found = lacks_tensorrt(replace(broken, tensorrt=("libnvinfer.so.10",)), USERS)
    assert (
        "cannot import tensorrt (libnvinfer.so.11: cannot open shared object file; found libnvinfer.so.10): " in found
    )


RUNNERS: list[Runner] = [Cuda(), Tensorrt(), TensorrtNative()]


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.NAME)
def test_every_gpu_runner_says_what_this_machine_lacks(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(where: Interpreter, **asked: object) -> Facts:
        return Facts(driver_error="libcuda.so.1: cannot open", has_driver=False)

    monkeypatch.setattr(nvidia, "probe", nothing)
    assert "no NVIDIA driver" in runner.missing()
    assert runner.identity() == ""
    assert runner.label() == runner.NAME
    assert runner.cannot_open(Runnable(path=Path("m.ort"))) == "it opens only ONNX graphs"
    assert runner.cannot_open(Runnable(path=Path("m.onnx"))) == ""


def test_an_environment_that_is_not_installed_is_asked_for_after_the_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(nvidia, "probe", lambda where, **asked: replace(WHOLE, packages={}))
    assert Cuda().missing() == "not installed: run `mobpack doctor --install cuda`"
    assert Tensorrt().missing() == "not installed: run `mobpack doctor --install cuda`"
    assert "/opt/python has no onnxruntime-gpu" in Cuda(interpreter="/opt/python").missing()


def test_tensorrt_is_found_where_the_user_says_and_kept_by_its_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Environment, "missing", lambda self: "")
    monkeypatch.setattr(nvidia, "probe", lambda where, **asked: WHOLE)
    assert Cuda().identity().startswith("NVIDIA H100 (driver 580.95.05), ")
    monkeypatch.setattr(nvidia, "probe", lambda where, **asked: replace(WHOLE, release="590.1"))
    assert Cuda().identity().startswith("NVIDIA H100 (driver 590.1), ")
    assert Cuda(interpreter="/opt/python").identity() == Tensorrt().identity() == TensorrtNative().identity() == ""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/lib/nvidia::/site/tensorrt_libs")
    variables = nvidia.loading(USERS, WHOLE)
    assert variables["LD_LIBRARY_PATH"] == "/site/nvidia/cu13/lib:/site/tensorrt_libs:/usr/lib/nvidia"
    assert variables["NVIDIA_TF32_OVERRIDE"] == "0"
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/tensorrt/lib")
    where = nvidia.place("", Environment())
    assert where.variables["LD_LIBRARY_PATH"].endswith("/nvidia/cudnn/lib:/opt/tensorrt/lib")
    assert nvidia.loading(where, Facts())["LD_LIBRARY_PATH"].endswith("/nvidia/cudnn/lib:/opt/tensorrt/lib")
    assert nvidia.loading(where, Facts())["PYTHONPATH"] == Environment().variables()["PYTHONPATH"]


def test_programs_take_no_modules_of_their_folder_and_doctor_installs_cuda() -> None:
    # Files of ours there are called cuda.py and tensorrt.py.
    assert nvidia.place("/opt/python").variables["PYTHONSAFEPATH"] == "1"
    assert nvidia.place("").command == (sys.executable, "-P")
    assert nvidia.place("", Environment()).is_own
    assert ENVIRONMENTS["cuda"] is Environment


def test_tensorrt_is_told_of_quantized_graphs_and_caches_nothing(tmp_path: Path) -> None:
    plain = saved(tmp_path / "plain.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    quantized = onnx_model(
        "(float[2] x) => (float[2] y) <float s = {0.1}, int8 z = {0}> "
        "{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }"
    )
    assert [is_quantized(plain), is_quantized(saved(tmp_path / "q.onnx", quantized))] == [False, True]
    assert provider_options(fp16=False, is_quantized=True)["trt_int8_enable"] == "1"
    options = provider_options(fp16=True, is_quantized=False)
    assert (options["trt_fp16_enable"], options["trt_int8_enable"]) == ("1", "0")
    assert options["trt_engine_cache_enable"] == options["trt_timing_cache_enable"] == "0"


def test_tensorrt_gets_a_graph_whose_nodes_all_have_names(tmp_path: Path) -> None:
    model = onnx_model("(float[2] x) => (float[2] y, float[2] r) { [kept] r = Relu (x) y = Neg (r) }")
    for node in model.graph.node:
        node.name = node.name if node.name == "kept" else ""
    path = saved(tmp_path / "m" / "m.onnx", model)
    found = described(Runnable(path=path), tmp_path)
    written = onnx.load(found["model"])
    assert [node.name for node in written.graph.node] == ["kept", "y"]
    assert (found["outputs"], found["nodes"], found["is_quantized"]) == (["y", "r"], 2, False)
    assert found["data_folder"] == str(path.parent)
    assert described(Runnable(path=path, data_folder=tmp_path), tmp_path)["data_folder"] == str(tmp_path)


@pytest.mark.parametrize("axis", [None, "default", 0, 1, -1])
@pytest.mark.parametrize("has_zero", [False, True])
def test_tensorrt_gets_biases_as_their_floats(tmp_path: Path, axis: int | None, has_zero: bool) -> None:
    shape = [3, 3] if axis else [3]
    scale: Any = numpy.array(0.5 if axis is None else [0.5, 0.25, 3], numpy.float32)
    numbers = {"b": numpy.arange(numpy.prod(shape), dtype=numpy.int32).reshape(shape) * 1000 - 7, "s": scale}
    if has_zero:
        numbers["z"] = numpy.full(scale.shape, 11, numpy.int32)
    attributes = f"<axis = {axis}>" if isinstance(axis, int) else ""
    model = onnx_model(
        f"(float{shape} x) => (float{shape} y) {{ d = DequantizeLinear {attributes} (b, s{', z' if has_zero else ''}) "
        f"q = QuantizeLinear (x, t) e = DequantizeLinear (q, t) "
        "f = DequantizeLinear (w, t) ef = Mul (e, f) y = Add (ef, d) }",
        weights={**numbers, "t": numpy.array(0.1, numpy.float32), "w": numpy.full(3, 9, numpy.uint8)},
    )
    path = tmp_path / "weights" / "m.onnx"
    path.parent.mkdir()
    onnx.save_model(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    found = described(Runnable(path=path), tmp_path)
    written = onnx.load(found["model"], load_external_data=False)
    onnx.external_data_helper.load_external_data_for_model(written, found["data_folder"])
    assert [node.op_type for node in written.graph.node] == [
        "QuantizeLinear",
        "DequantizeLinear",
        "DequantizeLinear",
        "Mul",
        "Add",
    ]
    assert (found["nodes"], found["is_quantized"]) == (6, True)
    sessions = [InferenceSession(each.SerializeToString()) for each in (onnx.load(path), written)]
    before, after = (session.run(None, {"x": numpy.ones(shape, numpy.float32)})[0] for session in sessions)
    assert numpy.array_equal(before, after)
