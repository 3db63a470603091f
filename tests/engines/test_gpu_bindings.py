"""The program that runs TensorRT, against the real Python modules of TensorRT 10, 11 and for RTX and of cuda-core."""

import ctypes
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.core.errors import ToolError
from packager.engines.environments import nvidia
from packager.engines.environments.cuda import LOCK
from packager.engines.environments.environment import folder_for, make_once
from packager.engines.runners import cuda, tensorrt
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import Runnable
from packager.engines.runners.tensorrt_child import Choices, choose
from packager.engines.runners.tensorrt_native import CHILD, RTX_GPUS, described
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import gpu
from tests.toolchain.gpu_attributes import CUDA_CORE, TENSORRT, used
from tests.toolchain.require import require
from tests.toolchain.unpacking import unpack

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="TensorRT's modules are those of Linux")

TOOLS = Path(__file__).parents[1] / "toolchain"

GPUS = frozenset({"PycudaGpu", "CoreGpu"})

LIBRARIES = ("libnvinfer", "libnvinfer_plugin", "libnvonnxparser")

ENTRIES = """
createInferBuilder_INTERNAL createInferRefitter_INTERNAL createInferRuntime_INTERNAL createNvOnnxParser_INTERNAL
createNvOnnxParserRefitter_INTERNAL getBuilderPluginRegistry getNvOnnxParserVersion getPluginRegistry
initLibNvInferPlugins
""".split()
"""Symbols that TensorRT's Python module needs from its libraries, which no registry has: it loads with empty ones."""

VERSIONS = {
    "10": ("tensorrt_bindings", "10.16.1"),
    "11": ("tensorrt_bindings", "11.4.0"),
    "rtx": ("tensorrt_rtx_bindings", "1.7.1"),
}


@cache
def site(version: str) -> Path:
    """A folder with TensorRT's Python module of the `version`, from locked wheels."""
    lock = TOOLS / f"gpu_tensorrt_{version}.txt"
    folder = folder_for("gpu-bindings", lock.read_text(encoding="utf-8"))
    try:
        make_once(folder, lambda made: unpack(lock, made))
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    return folder


@pytest.fixture(scope="module")
def empty_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty stand-ins for the libraries of TensorRT 10 and 11."""
    folder = tmp_path_factory.mktemp("libraries")
    source = "\n".join(f"void *{name}(void) {{ return 0; }}" for name in ENTRIES)
    for major in ("10", "11"):
        for name in LIBRARIES:
            gpu.shared_library(folder / f"{name}.so.{major}", source)
    return folder


def run(version: str, program: Path, *arguments: str, libraries: Path | None = None) -> Any:
    environment = {"PYTHONPATH": str(site(version)), **({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})}
    command = [sys.executable, "-P", str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("version", VERSIONS)
def test_everything_that_is_asked_of_tensorrt_is_there(version: str, empty_libraries: Path) -> None:
    module, release = VERSIONS[version]
    paths = used(CHILD, TENSORRT, GPUS, is_inside=False)
    assert len(paths) > 40
    flags = choose(release, module, fp16=version == "10", is_quantized=True)
    paths |= {f"BuilderFlag.{flag}" for flag in (*flags.flags, *flags.cleared)}
    paths |= {"IOutputAllocator", "ILogger.log"}
    assert run(version, TOOLS / "gpu_lacking.py", module, *sorted(paths), libraries=empty_libraries) == []


def test_everything_that_is_asked_of_cuda_core_is_there() -> None:
    paths = used(CHILD, CUDA_CORE, frozenset({"CoreGpu"}), is_inside=True)
    assert len(paths) > 10
    assert run("rtx", TOOLS / "gpu_lacking.py", "cuda.core", *sorted(paths)) == []


@pytest.mark.parametrize("version", ["11", "rtx"])
def test_what_tensorrt_10_is_told_by_flags_is_not_in_later_versions(version: str, empty_libraries: Path) -> None:
    paths = ["BuilderFlag.FP16", "BuilderFlag.INT8"]
    lacking = run(version, TOOLS / "gpu_lacking.py", VERSIONS[version][0], *paths, libraries=empty_libraries)
    assert lacking == paths
    assert choose(VERSIONS[version][1], VERSIONS[version][0], fp16=False, is_quantized=True) == Choices(True)


def test_tensorrt_for_rtx_runs_on_the_gpus_that_it_lists() -> None:
    print_members = (
        "import json, tensorrt_rtx_bindings as t; print(json.dumps(sorted(t.ComputeCapability.__members__)))"
    )
    command = [sys.executable, "-P", "-c", print_members]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(site("rtx"))})
    members = {name[2:] for name in json.loads(done.stdout) if name.startswith("SM")}
    assert members == {f"{major}{minor}" for major, minor in RTX_GPUS}


def built(folder: Path, model: onnx.ModelProto, *samples: Mapping[str, Any]) -> dict[str, Any]:
    """The engine that TensorRT for RTX builds from the model, without a GPU."""
    path = saved(folder / "model" / "m.onnx", model)
    job = described(Runnable(path=path), folder)
    found: dict[str, Any] = run(
        "rtx", TOOLS / "gpu_build.py", str(CHILD), job["model"], job["data_folder"], json.dumps(samples)
    )
    return found


def test_tensorrt_builds_a_model_with_tf32_off(tmp_path: Path) -> None:
    model = onnx_model("(float[1,8] x) => (float[1,8] y) { y = MatMul (x, w) }", weights={"w": weight(8, 8)})
    found = built(tmp_path, model)
    assert found["size"] > 1000
    assert (found["tf32"], found["spans"], found["types"]) == (False, [], {"x": "float32"})


def test_tensorrt_builds_for_every_shape_that_samples_have(tmp_path: Path) -> None:
    model = onnx_model(
        "(float[N,3,H] x, float[1] k) => (float[N,3,H] y, int64[3] s) { r = Relu (x) y = Add (r, k) s = Shape (x) }"
    )
    found = built(tmp_path, model, {"x": [2, 3, 8], "k": [1]}, {"x": [4, 3, 2], "k": [1]})
    assert found["size"] > 1000
    assert found["spans"] == ["x"]
    assert "x has dynamic" in built(tmp_path, model)["refused"] or "profile" in built(tmp_path, model)["refused"]


def test_tensorrt_takes_inputs_that_are_shapes(tmp_path: Path) -> None:
    model = onnx_model("(float[1,3] x, int64[2] s) => (float[a,b] y) { y = Expand (x, s) }")
    found = built(tmp_path, model, {"x": [1, 3], "s": [2, 3]}, {"x": [1, 3], "s": [4, 3]})
    assert (found["size"] > 1000, found["spans"]) == (True, ["s"])


def test_tensorrt_finds_weights_beside_the_model_and_not_beside_its_copy(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    model = onnx_model("(float[1,64] x) => (float[1,64] y) { y = MatMul (x, w) }", weights={"w": weight(64, 64)})
    onnx.save_model(model, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    job = described(Runnable(path=folder / "m.onnx"), tmp_path)
    assert run("rtx", TOOLS / "gpu_build.py", str(CHILD), job["model"], str(folder), "[]")["size"] > 64 * 64 * 4
    refused = run("rtx", TOOLS / "gpu_build.py", str(CHILD), job["model"], str(tmp_path), "[]")["refused"]
    assert "Failed to import initializer: w" in refused


def test_tensorrt_names_the_node_that_it_refuses(tmp_path: Path) -> None:
    model = onnx_model("(float[2,2] x) => (float y) { a = Relu (x) y = Det (a) }")
    for node in model.graph.node:
        node.name = ""
    assert built(tmp_path, model)["refused"].startswith("node 1 (Det y): checkDet says ")


@pytest.mark.parametrize("zero", [0, 3])
def test_tensorrt_takes_quantized_graphs_that_are_symmetric(zero: int, tmp_path: Path) -> None:
    model = onnx_model(
        f"(float[1,8] x) => (float[1,8] y) <float s = {{0.1}}, int8 z = {{{zero}}}, "
        "float t = {0.01}, int8 n = {0}> { q = QuantizeLinear (x, s, z) a = DequantizeLinear (q, s, z) "
        "b = DequantizeLinear (w, t, n) c = DequantizeLinear (bias, u) ab = MatMul (a, b) y = Add (ab, c) }",
        weights={
            "w": numpy.ones((8, 8), numpy.int8),
            "bias": numpy.arange(8, dtype=numpy.int32),
            "u": numpy.array(0.001, numpy.float32),
        },
    )
    found = built(tmp_path, model)
    if zero:
        assert "Non-zero zero point is not supported" in found["refused"]
    else:
        assert found["size"] > 1000


def test_tensorrt_takes_the_types_that_models_have(tmp_path: Path) -> None:
    model = onnx_model(
        "(bool[3] a, int64[3] b, int32[3] c, float16[3] d, uint8[3] e) => "
        "(bool[3] v, int64[3] w, int32[3] x, float16[3] y, float[3] z) "
        "{ v = Not (a) w = Add (b, b) x = Add (c, c) y = Add (d, d) z = Cast <to = 1> (e) }"
    )
    types = {"a": "bool", "b": "int64", "c": "int32", "d": "float16", "e": "uint8"}
    assert built(tmp_path, model)["types"] == types
    strings = onnx_model("(string[1] x) => (string[1] y) { y = Identity (x) }")
    assert "the model: importInput says" in built(tmp_path, strings)["refused"]
    halves = onnx_model("(bfloat16[3] x) => (bfloat16[3] y) { y = Neg (x) }")
    assert "holds DataType.BF16, which numpy does not have" in built(tmp_path, halves)["refused"]


def test_an_engine_without_a_gpu_is_said_to_be_unusable_in_words(tmp_path: Path) -> None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        found = built(tmp_path, onnx_model("(float[3] x) => (float[3] y) { y = Neg (x) }"))
        assert found["unusable"].startswith("the GPU does not take the engine: ")
        assert "cudaError" in found["unusable"]
    else:
        pytest.skip("this machine has NVIDIA's driver")


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a driver of its own")
def test_cuda_core_moves_numbers_to_the_gpu_and_back(tmp_path: Path) -> None:
    """The driver and TensorRT are stand-ins; cuda-core is the real one."""
    modules, driver = gpu.modules(tmp_path / "modules"), gpu.driver(tmp_path / "driver")
    path = saved(
        tmp_path / "m.onnx", onnx_model("(float[N,3] x) => (float[N,3] y, int64 n) { y = Neg (x) n = Size (x) }")
    )
    job = {
        "module": "tensorrt",
        "cuda": "cuda-core",
        "fp16": False,
        "driver": "",
        **described(Runnable(path=path), tmp_path),
    }
    environment = {"PYTHONPATH": f"{modules}:{site('rtx')}", "LD_LIBRARY_PATH": str(driver)}
    environment["STAND_IN_LOG"] = str(tmp_path / "log.txt")
    host = Host(program=CHILD, command=(sys.executable, "-P"), environment=environment)
    with ProcessSession(host, job, tmp_path) as session:
        assert "NVIDIA Stand-In" in session.about
        assert session.about.endswith("through cuda-core 1.2.2")
        for size in (2, 5, 3):
            x: Any = weight(size, 3, seed=size)
            numpy.savez(tmp_path / "sample.npz", x=x)
            assert session.run(tmp_path / "sample.npz", tmp_path).error == ""
            assert numpy.array_equal(numpy.load(tmp_path / "0.npy"), -x)
            assert numpy.load(tmp_path / "1.npy").tolist() == 3 * size


@pytest.fixture
def onnxruntime_gpu() -> Path:
    """The folder with onnxruntime-gpu alone, of the lock of the environment cuda."""
    found = re.search(r"^onnxruntime-gpu==.*?(?=^\S|\Z)", LOCK.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    lock = found[0]

    def install(made: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "lock.txt").write_text(lock, encoding="utf-8", newline="\n")
            unpack(Path(folder, "lock.txt"), made)

    folder = folder_for("gpu-bindings", lock)
    try:
        make_once(folder, install)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    return folder


def test_onnxruntime_knows_the_options_that_its_providers_are_given(onnxruntime_gpu: Path) -> None:
    """The options are strings in its libraries, which can be read without a GPU."""
    folder = onnxruntime_gpu / "onnxruntime" / "capi"
    for provider, options in (
        ("cuda", cuda.OPTIONS),
        ("tensorrt", tensorrt.provider_options(fp16=False, is_quantized=False)),
    ):
        content = (folder / f"libonnxruntime_providers_{provider}.so").read_bytes()
        assert [name for name in options if name.encode() + b"\0" not in content] == []
        needed = {*nvidia.CUDA_LIBRARIES, *(nvidia.TENSORRT_LIBRARIES if provider == "tensorrt" else ())}
        unknown = {name for name in needed - {"libcudnn.so.9"} if name.encode() + b"\0" not in content}
        assert unknown <= ({"libcublasLt.so.13", "libcurand.so.10"} if provider == "tensorrt" else set())
        assert b"libnvinfer.so.11\0" not in content
