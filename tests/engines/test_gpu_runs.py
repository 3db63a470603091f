"""The runners of NVIDIA's GPUs on a machine that has one, compared with the CPU."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from benchmarks.gpu import PAGE
from packager.engines.environments import nvidia
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.cuda import Cuda
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import Runnable, Runner
from packager.engines.runners.tensorrt import Tensorrt
from packager.engines.runners.tensorrt_native import CHILD, CUDA, TensorrtNative, described, has
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import gpu, models
from tests.toolchain.require import fetched

RUNNERS: tuple[Runner, ...] = (Cuda(), Tensorrt(), TensorrtNative())
Inputs = dict[str, Any]
ROOT = Path(__file__).parents[2]


def usable(runner: Runner) -> Runner:
    if reason := runner.missing():
        pytest.skip(reason)
    return runner


def outputs(runner: Runner, model: Path, samples: list[Inputs], folder: Path) -> list[list[Any]]:
    found = []
    (folder / runner.NAME).mkdir(parents=True, exist_ok=True)
    with runner.open(Runnable(path=model), folder / runner.NAME) as session:
        for index, sample in enumerate(samples):
            place = folder / runner.NAME / str(index)
            place.mkdir()
            numpy.savez(folder / "sample.npz", **sample)
            assert session.run(folder / "sample.npz", place).error == ""
            found.append([numpy.load(place / f"{each}.npy") for each in range(len(list(place.glob("*.npy"))))])
        assert session.placed != 0
        assert runner.NAME == "cpu" or "driver" in session.about
    return found


def assert_alike(runner: Runner, model: Path, samples: list[Inputs], folder: Path, *, share: float) -> None:
    """Outputs that differ by at most this `share` of the largest number."""
    expected = outputs(Cpu(), model, samples, folder)
    for wanted, given in zip(expected, outputs(usable(runner), model, samples, folder), strict=True):
        for before, after in zip(wanted, given, strict=True):
            assert (after.dtype, after.shape) == (before.dtype, before.shape)
            largest = float(numpy.abs(before.astype(numpy.float64)).max(initial=0))
            numpy.testing.assert_allclose(after, before, rtol=0, atol=share * largest)


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.NAME)
def test_a_real_model_computes_on_the_gpu_what_it_computes_on_the_processor(runner: Runner, tmp_path: Path) -> None:
    usable(runner)
    fetched("model-orientation")
    model = models.orientation()
    inputs = onnx.load(model, load_external_data=False).graph.input
    generator = numpy.random.default_rng(0)
    samples: list[Inputs] = [
        {
            each.name: generator.random(
                [size.dim_value or 1 for size in each.type.tensor_type.shape.dim], dtype=numpy.float32
            )
            for each in inputs
        }
        for _ in range(3)
    ]
    assert_alike(runner, model, samples, tmp_path, share=1e-3)


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.NAME)
def test_products_are_not_rounded_to_tf32(runner: Runner, tmp_path: Path) -> None:
    """With TF32 the error of this product is more than 1e-4 of the largest number."""
    usable(runner)
    model = onnx_model("(float[64,512] x) => (float[64,512] y) { y = MatMul (x, w) }", weights={"w": weight(512, 512)})
    samples: list[Inputs] = [{"x": weight(64, 512, seed=1)}]
    assert_alike(runner, saved(tmp_path / "m.onnx", model), samples, tmp_path, share=2e-5)


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.NAME)
def test_shapes_may_change_from_sample_to_sample(runner: Runner, tmp_path: Path) -> None:
    usable(runner)
    model = onnx_model("(float[N,8] x) => (float[N,8] y, int64[2] s) { y = Relu (x) s = Shape (x) }")
    samples: list[Inputs] = [{"x": weight(size, 8, seed=size)} for size in (2, 5, 3)]
    assert_alike(runner, saved(tmp_path / "m.onnx", model), samples, tmp_path, share=1e-6)


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.NAME)
def test_outputs_may_have_a_shape_that_depends_on_numbers(runner: Runner, tmp_path: Path) -> None:
    usable(runner)
    model = onnx_model("(float[4] x) => (int64[1,n] y, float[4] z) { r = Relu (x) y = NonZero (r) z = Neg (r) }")
    samples: list[Inputs] = [{"x": numpy.array(x, numpy.float32)} for x in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 1, 1, 1])]
    assert_alike(runner, saved(tmp_path / "m.onnx", model), samples, tmp_path, share=0)


@pytest.mark.parametrize("package", CUDA)
@pytest.mark.parametrize(
    ("text", "samples"),
    [
        (
            "(float[N,3] x, int64[2] n) => (int64[2] m, float[N,3] y) { y = Neg (x) m = Add (n, n) }",
            [{"x": weight(size, 3, seed=size), "n": numpy.array([size, 1 << 40])} for size in (2, 50_000, 3)],
        ),
        (
            "(float[4] x) => (int64[1,n] y, float[4] z) { r = Relu (x) y = NonZero (r) z = Neg (r) }",
            [{"x": numpy.array(x, numpy.float32)} for x in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 1, 1, 1])],
        ),
        (
            "(float[1,3] x, int64[2] s) => (float[a,b] y) { y = Expand (x, s) }",
            [{"x": weight(1, 3), "s": numpy.array([rows, 3])} for rows in (2, 4)],
        ),
    ],
    ids=["shapes", "allocated", "on-host"],
)
def test_the_program_that_runs_tensorrt_moves_numbers_to_the_gpu_and_back(
    package: str, text: str, samples: list[Inputs], tmp_path: Path
) -> None:
    """TensorRT is a stand-in, because no registry has it; the GPU, its driver and the package are real."""
    facts = nvidia.probe(nvidia.place(""), modules=tuple(CUDA.values()))
    if reason := nvidia.lacks_gpu(facts) or ("" if has(facts, CUDA[package]) else f"{package} is not installed"):
        pytest.skip(reason)
    path = saved(tmp_path / "model" / "m.onnx", onnx_model(text))
    expected = outputs(Cpu(), path, samples, tmp_path)
    shutil.copy(gpu.HERE / "gpu_tensorrt.py", tmp_path / "tensorrt.py")
    modules = ":".join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH", ""))))
    environment = {"PYTHONPATH": modules, "STAND_IN_LOG": str(tmp_path / "log.txt"), "STAND_IN_FOR": "gpu"}
    job = {
        "module": "tensorrt",
        "cuda": package,
        "fp16": False,
        "driver": "",
        **described(Runnable(path=path), tmp_path),
    }
    host = Host(program=CHILD, command=(sys.executable, "-P"), environment=environment)
    with ProcessSession(host, job, tmp_path) as session:
        assert f"through {package} " in session.about
        for index, (sample, wanted) in enumerate(zip(samples, expected, strict=True)):
            folder = tmp_path / "given" / str(index)
            folder.mkdir(parents=True)
            numpy.savez(tmp_path / "sample.npz", **sample)
            assert session.run(tmp_path / "sample.npz", folder).error == ""
            for place, before in enumerate(wanted):
                assert numpy.array_equal(numpy.load(folder / f"{place}.npy"), before)


def test_without_a_gpu_the_benchmark_says_so_and_changes_nothing() -> None:
    before = PAGE.read_bytes()
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu"], capture_output=True, text=True, check=False, cwd=ROOT, env=hidden
    )
    assert (done.returncode, done.stdout.count("\n"), PAGE.read_bytes()) == (0, 1, before), done.stderr
    assert done.stdout.startswith("skipped: ")
