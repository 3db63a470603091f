"""Errors of layers: equal to numpy's for their outputs and weights, whichever quantizer made the integers."""

import io
import math
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx.numpy_helper
import pytest

from packager.core.errors import ModelError
from packager.files.processes.channel import Channel
from packager.graph.rewriting.stretches import GROUP_BYTES
from packager.graph.weights.streaming import CHUNK_ELEMENTS
from packager.quantization.measurement import LayerError, layer_errors
from packager.quantization.measurement.comparison import ComparisonJob, compared
from packager.quantization.measurement.layers import SAMPLES, _draft, _pairs, spread
from packager.quantization.measurement.stored import weight_sums
from packager.quantization.measurement.subject import MeasuredGraph
from packager.quantizers import QUANTIZERS, Calibration, Quantizer, StaticQdq
from tests.cases.measurement_cases import READER, classifier, inputs, quantized, samples, subject
from tests.cases.onnx_text import onnx_model, weight


def made(kind: str, **settings: Any) -> Quantizer:
    quantizer: Any = QUANTIZERS[kind](**settings)
    return quantizer  # type: ignore[no-any-return]


def static(**settings: Any) -> Quantizer:
    return StaticQdq(calibration=Calibration(samples="unused"), **settings)


def weight_sqnr(original: MeasuredGraph, found: MeasuredGraph) -> dict[str, float | None]:
    before, after = _draft(original), _draft(found)
    sums = {pair.name: weight_sums(before, after, pair.node, pair.value) for pair in _pairs(before, after)}
    return {name: each.sqnr_db if each else None for name, each in sums.items()}


def scaled(w: Any, factors: Any) -> Any:
    return (w * factors).astype(numpy.float32)


FORMS = [
    static(),
    static(per_channel=False),
    static(weights="uint8"),
    made("dynamic"),
    made("dynamic", per_channel=False),
    made("weight-only", bits=8, block_size=16),
]


@pytest.mark.parametrize("quantizer", FORMS, ids=lambda each: f"{each.NAME} {getattr(each, 'per_channel', '')}")
@pytest.mark.parametrize("is_transposed", [False, True], ids=["MatMul", "Gemm, transposed"])
def test_eight_bits_lose_what_rounding_to_a_step_does(
    tmp_path: Path, quantizer: Quantizer, is_transposed: bool
) -> None:
    """Noise of a step s is s^2 / 12. Columns differ a hundredfold, so that scales on a wrong axis are far off."""
    w = scaled(weight(64, 16), numpy.logspace(0, 2, 16))
    operator = "Gemm <transB = 1>" if is_transposed else "MatMul"
    model = onnx_model(
        f"(float[1, 64] x) => (float[1, 16] y) {{ y = {operator} (x, w) }}", weights={"w": w.T if is_transposed else w}
    )
    (found,) = weight_sqnr(subject(model, tmp_path), quantized(model, tmp_path, quantizer)).values()
    if quantizer.NAME == "weight-only":
        steps = numpy.abs(w.reshape(4, 16, 16)).max(1) * 2 / 255
    elif getattr(quantizer, "per_channel", True):
        steps = numpy.abs(w).max(0) * 2 / 254
    else:
        steps = numpy.abs(w).max() * 2 / 254
    if getattr(quantizer, "weights", "") == "uint8":  # from the least to the greatest
        steps = (numpy.maximum(w.max(0), 0) - numpy.minimum(w.min(0), 0)) / 255
    expected = 10 * numpy.log10((w.astype(float) ** 2).mean() / (steps**2 / 12).mean())
    assert found == pytest.approx(expected, abs=1.5)


def test_four_bits_lose_24_db_more_than_eight_of_the_same_blocks(tmp_path: Path) -> None:
    model = onnx_model("(float[1, 100] x) => (float[1, 7] y) { y = MatMul (x, w) }", weights={"w": weight(100, 7)})
    four, eight = (
        weight_sqnr(subject(model, tmp_path), quantized(model, tmp_path, made("weight-only", bits=bits)))["y"]
        for bits in (4, 8)
    )
    assert four is not None
    assert eight is not None
    assert eight - four == pytest.approx(24, abs=2)


@pytest.mark.parametrize("quantizer", [static(), made("dynamic", operators=("Conv",))], ids=["static", "dynamic"])
def test_convolutions_have_scales_along_their_first_dimension(tmp_path: Path, quantizer: Quantizer) -> None:
    w = scaled(weight(4, 3, 3, 3), numpy.array([1, 10, 100, 1000]).reshape(4, 1, 1, 1))
    model = onnx_model(
        "(float[1, 3, 8, 8] x) => (float[1, 4, 6, 6] y) { y = Conv <kernel_shape = [3, 3]> (x, w, b) }",
        weights={"w": w, "b": weight(4)},
    )
    (found,) = weight_sqnr(subject(model, tmp_path), quantized(model, tmp_path, quantizer, widest=1e4)).values()
    assert found is not None
    assert 38 < found < 50


def test_scales_follow_the_operator(tmp_path: Path) -> None:
    w = scaled(weight(3, 4, 2, 2), numpy.array([1, 10, 100, 1000]).reshape(1, 4, 1, 1))
    model = onnx_model(
        "(float[1, 3, 4, 4] x) => (float[1, 4, 5, 5] y) { y = ConvTranspose <kernel_shape = [2, 2]> (x, w) }",
        weights={"w": w},
    )
    (found,) = weight_sqnr(subject(model, tmp_path), quantized(model, tmp_path)).values()
    assert found is not None
    assert 38 < found < 50
    rows = 2 * CHUNK_ELEMENTS // 512 + 3
    w = scaled(weight(rows, 512), numpy.logspace(0, 3, rows)[:, None])
    model = onnx_model(
        f"(float[1, 512] x) => (float[1, {rows}] y) {{ y = Gemm <transB = 1> (x, w) }}", weights={"w": w}
    )
    (found,) = weight_sqnr(subject(model, tmp_path), quantized(model, tmp_path)).values()
    assert found is not None
    assert 38 < found < 50


def test_what_stays_in_float_or_passes_numbers_on_is_no_layer(tmp_path: Path) -> None:
    original = subject(classifier(), tmp_path)
    found = quantized(classifier(), tmp_path, static(exclude=("h",)))
    assert weight_sqnr(original, found).keys() == {"h", "y"}
    assert weight_sqnr(original, found)["h"] is None
    assert weight_sqnr(original, original) == {"h": None, "y": None}
    model = onnx_model(
        """(float[1, 16] x) => (float[2, 8] y) {
            shape = Constant <value = int64[2] {2, 8}> ()
            h = Gemm (x, w)
            a = Add (h, b)
            y = Reshape (a, shape)
        }""",
        weights={"w": weight(16, 16), "b": weight(16)},
    )
    before, after = (_draft(each) for each in (subject(model, tmp_path), quantized(model, tmp_path)))
    assert [(pair.name, pair.node.op_type) for pair in _pairs(before, after)] == [("h", "Gemm"), ("a", "Add")]
    assert after.producers["y"].op_type == "DequantizeLinear"
    graph = "(float[n, 16] x) => (float[n, 16] y, int64[2] s) { y = Relu (x) s = Shape (x) }"
    found = sums(onnx_model(graph), onnx_model(graph), tmp_path, ["s", "y"])
    assert list(found) == ["y"]
    assert found["y"].sqnr_db == math.inf
    other = onnx_model("(float[n, 16] x) => (float[16, n] y) { y = Transpose (x) }")
    with pytest.raises(ModelError, match=r"value 'y' has shape \[16, 1\] on sample 0, and \[1, 16\] in the float"):
        sums(onnx_model(graph), other, tmp_path, ["y"])


def test_groups_of_values_change_no_figure(tmp_path: Path) -> None:
    """Three quantized convolutions with their activations: values all at once, one by one, and in pairs."""
    text = """(float[n, 3, 16, 16] x) => (float[n, 4, 16, 16] y) {
        a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)
        b = Relu (a)
        c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, v)
        d = Relu (c)
        e = Add (d, b)
        f = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (e, v)
        y = Sigmoid (f)
    }"""
    model = onnx_model(text, weights={"w": weight(4, 3, 3, 3), "v": weight(4, 4, 3, 3, seed=1)})
    original, found = subject(model, tmp_path), quantized(model, tmp_path)
    names = [pair.value for pair in _pairs(_draft(original), _draft(found))]
    assert len(names) > 3
    one, other = (onnx.ModelProto.FromString(each.graph) for each in (original, found))
    size = 4 * 4 * 16 * 16
    at_once, alone, by_two = (
        sums(one, other, tmp_path, names, reader="tests.cases.measurement_cases:pictures", group_bytes=each)
        for each in (1 << 30, 1, 2 * size)
    )
    assert set(at_once) == set(names)
    assert all(0 < each.sqnr_db < 80 for each in at_once.values())
    assert at_once == alone == by_two


def test_layers_are_compared_on_few_samples_from_the_first_to_the_last() -> None:
    assert spread(0) == []
    assert spread(3) == [0, 1, 2]
    assert spread(SAMPLES) == list(range(SAMPLES))
    assert spread(32) == [0, 10, 20, 31]
    for count in range(SAMPLES, 100):
        assert len(set(spread(count))) == SAMPLES
        assert {0, count - 1} <= set(spread(count))


def test_only_the_chosen_samples_are_run_and_nothing_without_layers(tmp_path: Path) -> None:
    one = onnx_model("(float[n, 16] x) => (float[n, 16] y) { y = Relu (x) }")
    other = onnx_model("(float[n, 16] x) => (float[n, 16] y) { y = Abs (x) }")
    found = sums(one, other, tmp_path, ["y"], count=6, chosen=[1, 4])
    given = [each["x"].astype(float) for each in inputs(6)]
    expected = sum(float((numpy.maximum(given[number], 0) ** 2).sum()) for number in (1, 4))
    assert found["y"].signal == pytest.approx(expected)
    model = subject(onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"), tmp_path)
    none: tuple[LayerError, ...] = layer_errors(model, model, samples(), tmp_path / "absent", lambda *each: None)
    assert none == ()


def sums(
    one: onnx.ModelProto,
    other: onnx.ModelProto,
    folder: Path,
    names: list[str],
    *,
    reader: str = READER,
    count: int = 2,
    chosen: list[int] | None = None,
    group_bytes: int = GROUP_BYTES,
) -> Any:
    """Sums that the child's code compares, without the process."""
    job = ComparisonJob(
        original=str(subject(one, folder).written(folder / "one.onnx")),
        original_folder=str(folder),
        quantized=str(subject(other, folder).written(folder / "other.onnx")),
        quantized_folder=str(folder),
        values=names,
        reader=reader,
        description={"count": count},
        count=count,
        chosen=list(range(count)) if chosen is None else chosen,
        group_bytes=group_bytes,
    )
    return compared(job, Channel(io.StringIO(), io.StringIO()))
