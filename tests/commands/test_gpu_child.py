"""The program that runs TensorRT: its decisions and its protocol, with stand-ins for TensorRT and pycuda."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.core.errors import ModelError, ToolError
from packager.engines.runners import tensorrt_child as child
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import Outcome, Pace, Runnable
from packager.engines.runners.tensorrt_child import RefusedError, Span, choose, fitting, have, widened
from packager.engines.runners.tensorrt_native import CHILD, described
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.onnx_text import weight as numbers
from tests.toolchain import gpu

F32 = numpy.float32


def test_layers_say_how_precise_they_are() -> None:
    for version, module in (("10.16.1.11", "tensorrt"), ("11.4.0.106", "tensorrt"), ("1.7.1.116", "tensorrt_rtx")):
        plain = choose(version, module, fp16=False, is_quantized=True)
        assert (plain.is_strongly_typed, plain.flags, plain.cleared) == (True, (), ("TF32",))
        assert plain.words == "strongly typed, TF32 off"
    plain = choose("10.3.0", "tensorrt", fp16=True, is_quantized=False)
    assert (plain.is_strongly_typed, plain.flags, plain.words) == (False, ("FP16",), "fp16 allowed, TF32 off")
    assert choose("10.3.0", "tensorrt", fp16=True, is_quantized=True).flags == ("FP16", "INT8")
    with pytest.raises(RefusedError, match=r"^TensorRT 11\.4\.0\.106 computes as precisely as the graph says: give it"):
        choose("11.4.0.106", "tensorrt", fp16=True, is_quantized=False)
    with pytest.raises(RefusedError, match=r"^TensorRT for RTX 1\.7\.1 "):
        choose("1.7.1", "tensorrt_rtx", fp16=True, is_quantized=False)


def test_ranges_grow_to_what_samples_ask_for_and_are_fastest_for_the_last() -> None:
    first = widened({}, {"x": (1, 8)})
    assert first == {"x": Span((1, 8), (1, 8), (1, 8))}
    assert have(first, {"x": (1, 8)})
    assert not have(first, {"x": (2, 8)})
    second = widened(first, {"x": (4, 2)})
    assert second == {"x": Span((1, 2), (4, 2), (4, 8))}
    assert have(second, {"x": (3, 5)})
    assert not have(second, {"x": (5, 5)})
    assert widened(second, {"x": (7,)}) == {"x": Span.of((7,))}
    assert not have(second, {"x": (1, 8), "y": (1,)})


def test_other_numbers_and_mistakes_are_told() -> None:
    with pytest.raises(RefusedError, match="input x holds float64, and TensorRT reads it as float32"):
        fitting("x", numpy.zeros(3), numpy.dtype(F32))
    with pytest.raises(RefusedError, match="holds <U1, and TensorRT"):
        fitting("x", numpy.array(["a"]), numpy.dtype(F32))
    scalar = numpy.asarray(1, F32)
    assert fitting("x", scalar, numpy.dtype(F32)).shape == ()
    assert fitting("x", numpy.zeros((4, 6), F32)[:, ::2], numpy.dtype(F32)).flags.c_contiguous
    with pytest.raises(KeyError):
        child.said(KeyError("name"))
    assert child.said(RefusedError("no\n room")) == "no room"
    assert child.said(RuntimeError("cuda\n says")) == "cuda says"
    assert child.said(MemoryError()) == "MemoryError"
    assert str(CHILD.parent) not in sys.path
    assert json.dumps(str(CHILD)).endswith('packager/engines/runners/tensorrt_child.py"')


def weight(*shape: int, seed: int = 0) -> Any:
    return numbers(*shape, seed=seed)


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the stand-ins log their calls."""
    monkeypatch.setenv("PYTHONPATH", str(gpu.modules(tmp_path / "modules")))
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "log.txt"))
    return tmp_path / "log.txt"


def opened(model: onnx.ModelProto, folder: Path, **options: object) -> ProcessSession:
    runnable = Runnable(path=saved(folder / "model" / "m.onnx", model))
    job = {"module": "tensorrt", "cuda": "pycuda", "fp16": False, "driver": "580.95.05", **described(runnable, folder)}
    host = Host(program=CHILD, command=(sys.executable, "-P"), environment=dict(os.environ))
    return ProcessSession(host, {**job, **options}, folder)


def ran(session: ProcessSession, folder: Path, **inputs: Any) -> tuple[Outcome, list[Any]]:
    place = folder / f"run-{len(list(folder.glob('run-*')))}"
    place.mkdir()
    numpy.savez(folder / "sample.npz", **inputs)
    outcome = session.run(folder / "sample.npz", place)
    return outcome, [numpy.load(place / f"{index}.npy") for index in range(len(list(place.glob("*.npy"))))]


def test_a_model_runs_and_says_what_runs_it(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model(
        "(float[2,3] x, int64[2] n) => (int64[2] m, float[2,3] y) { y = Add (x, w) m = Add (n, n) }",
        weights={"w": weight(2, 3)},
    )
    with opened(model, tmp_path) as session:
        assert session.about == (
            "TensorRT 10.16.1.11 on NVIDIA Stand-In (driver 580.95.05), strongly typed, TF32 off, through pycuda 2026.1"
        )
        assert (session.placed, session.node_count) == (2, 2)
        for factor in (1, 2):
            x, n = weight(2, 3, seed=1) * F32(factor), numpy.array([factor, 1 << 40])
            outcome, outputs = ran(session, tmp_path, x=x, n=n)
            assert outcome.error == ""
            assert [each.dtype for each in outputs] == [numpy.int64, F32]
            assert numpy.array_equal(outputs[0], n + n)
            assert numpy.array_equal(outputs[1], x + weight(2, 3))
    log = stand_ins.read_text()
    assert log.count("network 2\n") == log.count("build [] {}\n") == 1
    assert log.endswith("detached with 0 pieces of memory\nended, contexts ['init']\n")


def test_runs_are_timed_on_one_engine(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model("(float[N,3] x) => (float[N,3] y) { y = Relu (x) }")
    numpy.savez(tmp_path / "sample.npz", x=weight(80_000, 3))  # nine runs take longer than ticks of a coarse clock
    numpy.savez(tmp_path / "other.npz", x=numpy.zeros((2, 3)))
    with opened(model, tmp_path) as session:
        found = session.time(tmp_path / "sample.npz", Pace(warm_up_seconds=0, seconds=60, runs=9))
        assert (found.error, len(found.warm_up_ns), len(found.times_ns)) == ("", 1, 9)
        assert min(found.times_ns) > 0
        assert found.cpu_ns > 0
        assert session.loading.seconds
        assert "holds float64" in session.time(tmp_path / "other.npz", Pace()).error
    assert stand_ins.read_text().count("build") == 1
    assert "detached with 0 pieces" in stand_ins.read_text()


def test_an_engine_is_built_again_for_shapes_that_it_was_not_built_for(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model("(float[N,3] x) => (float[N,3] y) { y = Relu (x) }")
    with opened(model, tmp_path) as session:
        for size in (2, 5, 3, 5):
            outcome, outputs = ran(session, tmp_path, x=weight(size, 3, seed=size))
            assert outcome.error == ""
            assert numpy.array_equal(outputs[0], numpy.maximum(weight(size, 3, seed=size), 0))
    builds = [line for line in stand_ins.read_text().splitlines() if line.startswith("build")]
    assert builds == ["build [] {'x': ((2, 3), (2, 3), (2, 3))}", "build [] {'x': ((2, 3), (5, 3), (5, 3))}"]
    assert "detached with 0 pieces" in stand_ins.read_text()


def test_outputs_whose_shape_depends_on_numbers_are_taken(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model("(float[4] x) => (int64[1,n] y) { y = NonZero (x) }")
    with opened(model, tmp_path) as session:
        for x in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 1, 1, 1]):
            outcome, outputs = ran(session, tmp_path, x=numpy.array(x, F32))
            assert outcome.error == ""
            assert outputs[0].tolist() == [numpy.flatnonzero(x).tolist()]
    assert "detached with 0 pieces" in stand_ins.read_text()


def test_inputs_that_are_shapes_are_given_in_memory_of_the_processor(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model("(float[1,3] x, int64[2] s) => (float[a,b] y) { y = Expand (x, s) }")
    with opened(model, tmp_path) as session:
        for rows in (2, 4):
            outcome, outputs = ran(session, tmp_path, x=weight(1, 3), s=numpy.array([rows, 3]))
            assert outcome.error == ""
            assert outputs[0].shape == (rows, 3)
    assert "values of s: (2, 3) (2, 3) (2, 3)\n" in stand_ins.read_text()
    assert "values of s: (2, 3) (4, 3) (4, 3)\n" in stand_ins.read_text()


def test_weights_in_another_folder_are_found(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model("(float[2] x) => (float[2] y) { y = Add (x, w) }", weights={"w": weight(2)})
    folder = tmp_path / "weights"
    folder.mkdir()
    onnx.save_model(model, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    bare = onnx.load(folder / "m.onnx", load_external_data=False)
    with opened(bare, tmp_path, data_folder=str(folder)) as session:
        outcome, outputs = ran(session, tmp_path, x=weight(2, seed=3))
        assert outcome.error == ""
        assert numpy.array_equal(outputs[0], weight(2, seed=3) + weight(2))


def test_every_node_that_tensorrt_refuses_is_named(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model("(float[2,2] x) => (float y, float z) { a = Relu (x) y = Det (a) z = Det (x) }")
    for node in model.graph.node:
        node.name = ""
    with pytest.raises(ModelError) as error:
        opened(model, tmp_path)
    assert error.value.message == (
        "the runtime cannot load the model: node 1 (Det y): checkNode says not supported; "
        "node 2 (Det z): checkNode says not supported"
    )


def test_what_tensorrt_cannot_do_is_refused_in_words(
    stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match="input x holds 16, which numpy does not have"):
        opened(onnx_model("(bfloat16[2] x) => (bfloat16[2] y) { y = Neg (x) }"), tmp_path)
    monkeypatch.setenv("STAND_IN_TENSORRT", "11.4.0.106")
    with pytest.raises(ModelError, match=r"TensorRT 11\.4\.0\.106 computes as precisely as the graph says"):
        opened(onnx_model("(float[2] x) => (float[2] y) { y = Neg (x) }"), tmp_path, fp16=True)


def test_fp16_is_set_where_tensorrt_has_it(stand_ins: Path, tmp_path: Path) -> None:
    with opened(onnx_model("(float[2] x) => (float[2] y) { y = Neg (x) }"), tmp_path, fp16=True) as session:
        assert "fp16 allowed, TF32 off" in session.about
    assert "network 0\nbuild ['FP16'] {}\n" in stand_ins.read_text()


def test_a_gpu_that_cannot_be_used_is_a_tool_error(stand_ins: Path, tmp_path: Path) -> None:
    driver = tmp_path / "modules" / "pycuda" / "driver.py"
    driver.write_text(driver.read_text() + "\n\ndef init() -> None:\n    raise Error('cuInit failed: no device')\n")
    with pytest.raises(ToolError, match="pycuda finds no GPU that it can use: cuInit failed: no device"):
        opened(onnx_model("(float[2] x) => (float[2] y) { y = Neg (x) }"), tmp_path)


def test_a_sample_that_is_refused_leaves_the_next_one_alone(stand_ins: Path, tmp_path: Path) -> None:
    model = onnx_model("(float[N] x) => (float[N] y) { y = Relu (x) }")
    with opened(model, tmp_path) as session:
        outcome, _ = ran(session, tmp_path, x=numpy.zeros(2))
        assert outcome.error == "input x holds float64, and TensorRT reads it as float32"
        outcome, _ = ran(session, tmp_path, x=numpy.zeros(1 << 19, F32))
        assert outcome.error == "cuMemAlloc failed: out of memory"
        assert ran(session, tmp_path, x=weight(2))[0].error == ""
        outcome, _ = ran(session, tmp_path, x=numpy.zeros(1 << 21, F32))
        assert outcome.error == "TensorRT cannot build an engine: too large"
        assert ran(session, tmp_path, x=weight(2))[0].error == ""
