"""Engines other than ONNX Runtime compute what it computes, and say what they cannot."""

import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import onnx
import pytest

from packager.core.errors import ModelError
from packager.engines.runners import RUNNERS, Pace, Runnable
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.litert_child import LAST, arranged
from packager.verification.bisection import ErrorLimits, Side, bisect
from packager.verification.parity import Tolerance
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.engines.test_runners_isolated import PICTURE, Array, convolution, ready, run, worst
from tests.toolchain import models

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="one of them has wheels for no other system"
)

ENGINES = ("openvino", "mnn", "tract", "iree")
WORDS = {
    "openvino": "OpenVINO 2026.4.1 on the CPU, in float32",
    "openvino-ep": "ONNX Runtime 1.24.1, OpenVINO on the CPU",
    "mnn": "MNN 3.6.1 on the CPU, high precision",
    "tract": "tract 0.23.9",
    "iree": "IREE 3.13.0 on the CPU",
}
TYPES = """(float[n,4] x, int64[n] i, uint8[2,3] u) => (float[n,4] y, int64[n] j, float[2,3] v) {
    y = Softmax <axis = -1> (x)
    j = Add (i, i)
    v = Cast <to = 1> (u)
}"""


def first(name: str) -> Any:
    return ready(name)[0]


def feed_of_types(rows: int) -> dict[str, Array]:
    return {
        "x": weight(rows, 4),
        "i": numpy.arange(rows, dtype=numpy.int64) * 1000,
        "u": numpy.arange(250, 256, dtype=numpy.uint8).reshape(2, 3),
    }


@pytest.mark.parametrize("name", WORDS)
def test_a_convolution_is_the_same_in_every_engine(name: str, tmp_path: Path) -> None:
    runner, model = first(name), convolution(tmp_path)
    found = run(runner, model, tmp_path, PICTURE)
    assert found.outcome.error == ""
    assert worst(found, run(Cpu(), model, tmp_path, PICTURE)) < 1e-6
    assert (found.about, runner.identity() != "", runner.ROUNDING) == (WORDS[name], True, 0.0)


@pytest.mark.parametrize("name", ENGINES)
def test_outputs_have_the_types_and_sizes_that_the_model_declares(name: str, tmp_path: Path) -> None:
    """MNN computes in 32-bit integers alone; sizes differ from sample to sample."""
    model = saved(tmp_path / "types.onnx", onnx_model(TYPES))
    for rows in (2, 3):
        found = run(first(name), model, tmp_path, feed_of_types(rows))
        expected = run(Cpu(), model, tmp_path, feed_of_types(rows))
        assert found.outcome.error == ""
        assert [each.dtype for each in found.outputs] == [each.dtype for each in expected.outputs]
        assert [each.shape for each in found.outputs] == [each.shape for each in expected.outputs]
        assert worst(found, expected) < 1e-6


@pytest.mark.parametrize("name", ["openvino", "tract", "iree"])
def test_an_input_that_passes_through_keeps_its_numbers(name: str, tmp_path: Path) -> None:
    """OpenVINO calls such an input by the output's name; MNN crashes."""
    model = saved(tmp_path / "m.onnx", onnx_model("(float[3] x) => (float[3] y) { y = Max (x) }"))
    (output,) = run(first(name), model, tmp_path, {"x": weight(3)}).outputs
    numpy.testing.assert_array_equal(output, weight(3))


@pytest.mark.parametrize("name", ENGINES)
def test_weights_outside_of_the_model_are_found(name: str, tmp_path: Path) -> None:
    """The graph is in one folder, its weights in another."""
    graph = onnx_model("(float[1,64] x) => (float[1,256] y) { y = MatMul (x, w) }", weights={"w": weight(64, 256)})
    (tmp_path / "weights").mkdir()
    onnx.save(graph, tmp_path / "weights" / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    (tmp_path / "weights" / "m.onnx").rename(tmp_path / "m.onnx")
    model = Runnable(path=tmp_path / "m.onnx", data_folder=tmp_path / "weights")
    feed: dict[str, Array] = {"x": weight(1, 64, seed=1)}
    (output,) = run(first(name), model, tmp_path, feed).outputs
    numpy.testing.assert_allclose(output, feed["x"] @ weight(64, 256), rtol=1e-4, atol=1e-4)


def test_numbers_that_mnn_cannot_hold_are_refused_in_words(tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", onnx_model("(int64[1] i) => (int64[1] j) { j = Add (i, i) }"))
    found = run(first("mnn"), model, tmp_path, {"i": numpy.array([2**40], numpy.int64)})
    assert found.outcome.error == "MNN computes in 32-bit integers, and an input has larger ones"


@pytest.mark.parametrize("name", ENGINES)
def test_an_operator_that_an_engine_lacks_is_named(name: str, tmp_path: Path) -> None:
    model = onnx_model("(float[4] x) => (float[4] y) { y = Relu (x) }", opsets={"": 17, "ours": 1})
    model.graph.node[0].domain = "ours"
    model.graph.node[0].op_type = "Ours"
    with pytest.raises(ModelError) as error:
        first(name).open(Runnable(path=saved(tmp_path / "m.onnx", model)), tmp_path)
    assert "the runtime cannot load the model: " in error.value.message
    assert "Ours" in error.value.message, error.value.message


@pytest.mark.parametrize("name", ENGINES)
def test_strings_are_refused(name: str, tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", onnx_model("(string[1] x) => (string[1] y) { y = Identity (x) }"))
    with pytest.raises(ModelError, match="it has no strings, and 'x' is one"):
        first(name).open(Runnable(path=model), tmp_path)


def test_litert_runs_the_file_that_a_model_was_made_from(tmp_path: Path) -> None:
    """Basic Pitch as its authors publish it: outputs in another order, names with colons."""
    source = tmp_path / "notes.onnx"
    shutil.copyfile(models.basic_pitch(), source)
    shutil.copyfile(models.basic_pitch_tflite(), source.with_suffix(".tflite"))
    audio: dict[str, Array] = {"serving_default_input_2:0": weight(1, 43844, 1)}
    runner = first("litert")
    assert runner.cannot_open(Runnable(path=source)) == "it opens only .tflite files that lie beside a model"
    found = run(runner, Runnable(path=source, source=source), tmp_path, audio)
    assert worst(found, run(Cpu(), source, tmp_path, audio)) < 1e-3
    assert found.about == "LiteRT 2.3.0, built-in kernels"


def test_litert_says_which_file_is_not_there(tmp_path: Path) -> None:
    model = Runnable(path=tmp_path / "graph.onnx", source=tmp_path / "notes.onnx")
    assert RUNNERS["litert"]("")[0].cannot_open(model) == "there is no notes.tflite beside notes.onnx"


@pytest.mark.parametrize(
    ("shape", "sizes", "moved"),
    [
        ((1, 3, 8, 9), [None, 8, 9, 3], (1, 8, 9, 3)),
        ((2, 8, 9, 3), [1, 8, 9, 3], (2, 8, 9, 3)),
        ((1, 3, 8, 9), [1, 5, 5, 5], (1, 3, 8, 9)),
        ((1, 3), [1, 3], (1, 3)),
    ],
)
def test_channels_move_only_where_the_file_has_them_last(
    shape: tuple[int, ...], sizes: list[int | None], moved: tuple[int, ...]
) -> None:
    assert arranged(numpy.zeros(shape), sizes, LAST).shape == moved


def test_times_are_measured_in_the_engine(tmp_path: Path) -> None:
    model = Runnable(path=convolution(tmp_path), threads=1)
    numpy.savez(tmp_path / "sample.npz", allow_pickle=False, **PICTURE)
    for name in ENGINES:
        folder = tmp_path / name
        folder.mkdir()
        with first(name).open(model, folder) as session:
            found = session.time(tmp_path / "sample.npz", Pace(warm_up_seconds=0.01, seconds=0.01, least_runs=3))
            assert session.loading.seconds > 0
        assert (found.error, len(found.times_ns) >= 3, min(found.times_ns) > 0) == ("", True, True)
        assert first(name).cannot_time() == ""


def test_ort_format_is_no_graph() -> None:
    for name in (*ENGINES, "openvino-ep", "directml", "migraphx", "rocm"):
        assert RUNNERS[name]("")[0].cannot_open(Runnable(path=Path("m.ort"))) == "it opens only ONNX graphs"


@pytest.mark.parametrize("name", ENGINES)
def test_a_bisection_names_the_node_at_which_an_engine_parts(name: str, tmp_path: Path) -> None:
    """The second side has another graph, wrong in one node."""
    runner = first(name)
    right = onnx_model("(float[1,8] x) => (float[1,8] y) { a = Relu (x) b = Exp (a) c = Neg (b) y = Add (c, x) }")
    wrong = onnx_model("(float[1,8] x) => (float[1,8] y) { a = Relu (x) b = Exp (a) c = Abs (b) y = Add (c, x) }")
    numpy.savez(tmp_path / "sample.npz", x=weight(1, 8))
    sides = [
        Side(label=label, path=saved(tmp_path / f"{label}.onnx", model), data_folder=None, runner=each)
        for label, model, each in (("cpu", right, Cpu()), (name, wrong, runner))
    ]
    limits = ErrorLimits(tolerance=Tolerance(max_rel_error=1e-3), scales={})
    (tmp_path / "scratch").mkdir()
    found = bisect(
        sides[0], sides[1], [tmp_path / "sample.npz"], tmp_path / "scratch", tmp_path / "evidence", limits=limits
    )
    assert "'c'" in found.words, found.words
