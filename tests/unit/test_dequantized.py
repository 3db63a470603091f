"""Dequantizing gives the float graph: the same numbers, except for the rounding between operators."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from packager.core.values import Precision
from packager.models.shapes import infer_shapes
from packager.models.traits import traits
from packager.quantizers.dequantized import Dequantized
from tests.cases.onnx_text import onnx_model, quantized_by, weight

Array = NDArray[Any]

STEP = 0.05
"""largest effect of the rounding of activations"""


def dequantized(model: onnx.ModelProto, folder: Path = Path()) -> onnx.ModelProto:
    """Dequantize `model`; the result passes ONNX's checker and computes in float."""
    content = quantized_by(Dequantized(), model.SerializeToString(), folder)
    found = onnx.load_from_string(content)
    assert traits(infer_shapes(found)).precision is Precision.FLOAT32
    onnx.checker.check_model(found, full_check=True)
    return found


def run(model: onnx.ModelProto, **inputs: Array) -> list[Array]:
    """Outputs of the graph without any optimization."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [numpy.asarray(each) for each in session.run(None, inputs)]


def difference(one: onnx.ModelProto, two: onnx.ModelProto, **inputs: Array) -> float:
    """The largest difference between their outputs, whose numbers must vary enough for it to mean something."""
    pairs = zip(run(one, **inputs), run(two, **inputs), strict=True)
    found = [(a.astype(numpy.float32), b.astype(numpy.float32)) for a, b in pairs]
    assert all(numpy.ptp(a) > 20 * STEP for a, _ in found)
    return max(float(numpy.abs(a - b).max()) for a, b in found)


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def constants(model: onnx.ModelProto) -> dict[str, Array]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def integers(dtype: str, *shape: int, low: int = -100, high: int = 100, seed: int = 0) -> Array:
    return numpy.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def scales(count: int) -> Array:
    return numpy.linspace(0.01, 0.05, count, dtype=numpy.float32)


S8: dict[str, Array] = {"s": numpy.array(STEP, numpy.float32), "z": numpy.array(0, numpy.int8)}

CONVOLUTION = """(float[1,3,8,8] x) => (float[1,4,8,8] y) {
    xq = QuantizeLinear (x, s, z)
    xd = DequantizeLinear (xq, s, z)
    wd = DequantizeLinear <axis = 0> (wq, ws, wz)
    bd = DequantizeLinear <axis = 0> (bq, bs, bz)
    c = Conv <pads = [1,1,1,1]> (xd, wd, bd)
    yq = QuantizeLinear (c, s, z)
    y = DequantizeLinear (yq, s, z)
}"""


def convolution(**changes: Array) -> onnx.ModelProto:
    """As quantizers write it: weights per channel, the bias as 32-bit integers in steps of both scales' product."""
    weights = {
        **S8,
        "wq": integers("int8", 4, 3, 3, 3),
        "ws": scales(4) / 10,
        "wz": numpy.zeros(4, numpy.int8),
        "bq": integers("int32", 4, low=-9000, high=9000),
        "bs": scales(4) / 10 * numpy.float32(STEP),
        "bz": numpy.zeros(4, numpy.int32),
        **changes,
    }
    return onnx_model(CONVOLUTION, weights=weights)


def test_a_quantized_convolution_becomes_a_float_one_within_a_step() -> None:
    model = convolution()
    found = dequantized(model)
    assert operators(found) == ["Conv", "Identity"], "the output keeps its name"
    assert found.graph.output == model.graph.output
    assert found.graph.input == model.graph.input
    held = constants(found)
    assert {name: array.dtype for name, array in held.items()} == {"wd": numpy.float32, "bd": numpy.float32}
    original = constants(model)
    assert numpy.array_equal(held["wd"], original["wq"] * original["ws"].reshape(4, 1, 1, 1))
    assert numpy.array_equal(held["bd"], original["bq"].astype(numpy.float32) * original["bs"])
    x = integers("int8", 1, 3, 8, 8, low=-20, high=20, seed=3) * numpy.float32(STEP)
    assert 0 < difference(model, dequantized(model), x=x.astype(numpy.float32)) <= STEP / 2 + 1e-5


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ws": numpy.array(0.01, numpy.float32), "wz": numpy.array(0, numpy.int8)}, "per tensor"),
        ({"wz": numpy.array([3, -5, 0, 100], numpy.int8)}, "asymmetric, per channel"),
        (
            {"wq": integers("uint8", 4, 3, 3, 3, low=0, high=255), "wz": numpy.array([128, 0, 255, 7], numpy.uint8)},
            "uint8",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_weights_are_taken_as_they_were_meant(changes: Mapping[str, Array], expected: str) -> None:
    model = convolution(**changes)
    held = {**constants(model)}
    shape = (-1, 1, 1, 1) if held["ws"].ndim else ()
    meant = (held["wq"].astype(numpy.float32) - held["wz"].reshape(shape)) * held["ws"].reshape(shape)
    assert numpy.array_equal(constants(dequantized(model))["wd"], meant), expected


@pytest.mark.parametrize("axis", [1, -1], ids=["axis 1", "axis -1"])
@pytest.mark.parametrize("has_zero", [True, False], ids=["asymmetric", "without zero points"])
def test_weights_alone_may_be_quantized_along_any_axis(axis: int, has_zero: bool) -> None:
    graph = f"""(float[2,16] x) => (float[2,8] y) {{
        w = DequantizeLinear <axis = {axis}> (wq, s{", z" if has_zero else ""})
        y = MatMul (x, w)
    }}"""
    weights: dict[str, Array] = {"wq": integers("int8", 16, 8), "s": scales(8)}
    if has_zero:
        weights["z"] = integers("int8", 8, seed=2)
    model = onnx_model(graph, weights=weights)
    found = dequantized(model)
    assert operators(found) == ["MatMul"]
    assert difference(model, found, x=numpy.asarray(weight(2, 16), numpy.float32)) < 1e-4


@pytest.mark.parametrize(("axis", "block"), [(0, 4), (1, 4), (-1, 4), (0, 16)], ids=str)
@pytest.mark.parametrize("dtype", ["int8", "uint4"])
def test_weights_may_be_quantized_by_blocks(axis: int, block: int, dtype: str) -> None:
    shape = (16, 8)
    blocks = tuple(size // block if index == axis % 2 else size for index, size in enumerate(shape))
    numbers = integers("int8", *shape, low=0, high=15)
    element = {"int8": TensorProto.INT8, "uint4": TensorProto.UINT4}[dtype]
    zeros = integers("int8", *blocks, low=0, high=15, seed=1)
    graph = f"""(float[2,16] x) => (float[2,8] y) {{
        w = DequantizeLinear <axis = {axis}, block_size = {block}> (wq, s, z)
        y = MatMul (x, w)
    }}"""
    step = numpy.random.default_rng(5).uniform(0.01, 0.5, blocks).astype(numpy.float32)
    model = onnx_model(graph, weights={"s": step}, opsets={"": 21}, ir_version=10)
    for name, array in (("wq", numbers), ("z", zeros)):
        model.graph.initializer.append(helper.make_tensor(name, element, array.shape, array.flatten().tolist()))
    found = dequantized(model)
    assert operators(found) == ["MatMul"]
    assert difference(model, found, x=numpy.asarray(weight(2, 16), numpy.float32)) < 1e-4


def test_float16_scales_names_and_bytes_stay() -> None:
    graph = "(float16[2,16] x) => (float16[2,8] y) { w = DequantizeLinear (wq, s) y = MatMul (x, w) }"
    weights = {"wq": integers("int8", 16, 8), "s": numpy.array(0.03, numpy.float16)}
    model = onnx_model(graph, weights=weights, opsets={"": 19}, ir_version=9)
    found = onnx.load_from_string(quantized_by(Dequantized(), model.SerializeToString(), Path()))
    assert constants(found)["w"].dtype == numpy.float16
    expected = weights["wq"].astype(numpy.float32) * weights["s"].astype(numpy.float32)
    assert numpy.array_equal(constants(found)["w"], expected.astype(numpy.float16))
    graph = "(float[4] x) => (float[4] y) { q = QuantizeLinear (x, s) y = DequantizeLinear (q, s) }"
    found = dequantized(onnx_model(graph, weights={"s": numpy.array(0.02, numpy.float32)}))
    assert operators(found) == ["Clip"]
    assert numpy.allclose(run(found, x=numpy.array([-1, 0.5, 5, 9], numpy.float32))[0], [0, 0.5, 5, 5.1])
    content = convolution().SerializeToString()
    assert quantized_by(Dequantized(), content, Path()) == quantized_by(Dequantized(), content, Path())


def test_weights_in_a_data_file_are_read_from_there_and_others_stay(tmp_path: Path) -> None:
    model = convolution()
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    apart = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    assert any(tensor.external_data for tensor in apart.graph.initializer)
    assert dequantized(apart, tmp_path) == dequantized(convolution())
    graph = """(float[2,16] x) => (float[2,8] y) {
        w = DequantizeLinear (wq, s)
        m = MatMul (x, w)
        y = MatMul (m, v)
    }"""
    weights = {"wq": integers("int8", 16, 8), "s": numpy.array(0.03, numpy.float32), "v": weight(8, 8)}
    onnx.save(
        onnx_model(graph, weights=weights),
        tmp_path / "m.onnx",
        save_as_external_data=True,
        location="w.bin",
        size_threshold=200,
    )
    apart = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    found = onnx.load_from_string(quantized_by(Dequantized(), apart.SerializeToString(), tmp_path))
    kept = {tensor.name: tensor.external_data[0].value for tensor in found.graph.initializer if tensor.external_data}
    assert kept == {"v": "w.bin"}


def test_weights_that_several_operators_use_are_made_once_in_each_scale() -> None:
    graph = """(float[2,8] x) => (float[2,8] y) {
        w = DequantizeLinear (wq, s)
        a = MatMul (x, w)
        y = MatMul (a, w)
    }"""
    model = onnx_model(graph, weights={"wq": integers("int8", 8, 8), "s": numpy.array(0.03, numpy.float32)})
    found = dequantized(model)
    assert list(constants(found)) == ["w"]
    assert difference(model, found, x=numpy.asarray(weight(2, 8), numpy.float32)) < 1e-3
    graph = """(float[2,8] x) => (float[2,8] y) {
        w = DequantizeLinear (wq, s)
        v = DequantizeLinear (wq, t)
        a = MatMul (x, w)
        y = MatMul (a, v)
    }"""
    weights = {"wq": integers("int8", 8, 8), "s": numpy.array(0.03, numpy.float32), "t": numpy.array(0.07, "float32")}
    model = onnx_model(graph, weights=weights)
    found = dequantized(model)
    assert sorted(constants(found)) == ["v", "w"]
    assert difference(model, found, x=numpy.asarray(weight(2, 8), numpy.float32)) < 1e-3


def test_activations_that_go_to_several_operators_go_there_unrounded() -> None:
    graph = """(float[2,8] x) => (float[2,8] y, float[2,8] n) {
        q = QuantizeLinear (x, s, z)
        a = DequantizeLinear (q, s, z)
        b = DequantizeLinear (q, s, z)
        t = Neg (a)
        tq = QuantizeLinear (t, s, z)
        td = DequantizeLinear (tq, s, z)
        n = Neg (td)
        y = Add (a, b)
    }"""
    model = onnx_model(graph, weights=S8)
    found = dequantized(model)
    assert operators(found) == ["Neg", "Neg", "Add"]
    assert constants(found) == {}
    assert [list(node.input) for node in found.graph.node] == [["x"], ["t"], ["x", "x"]]
    x = numpy.asarray(weight(2, 8), numpy.float32)
    assert 0 < difference(model, found, x=x) <= STEP + 1e-6


def test_scales_and_zero_points_may_be_nodes() -> None:
    graph = """(float[2,16] x) => (float[2,8] y) {
        s = Constant <value = float {0.05}> ()
        z = Constant <value = int8 {0}> ()
        k = Constant <value = float[1] {2.0}> ()
        xq = QuantizeLinear (x, s, z)
        xd = DequantizeLinear (xq, s, z)
        w = DequantizeLinear (wq, s, z)
        m = MatMul (xd, w)
        y = Mul (m, k)
    }"""
    model = onnx_model(graph, weights={"wq": integers("int8", 16, 8)})
    found = dequantized(model)
    assert operators(found) == ["Constant", "MatMul", "Mul"], "the constant that is still used"
    x = (integers("int8", 2, 16, seed=3) * numpy.float32(STEP)).astype(numpy.float32)
    assert difference(model, found, x=x) < 1e-3


RELU_LEFT_OUT = """(float[2,16] x) => (float[2,8] y) {
    xq = QuantizeLinear (x, s, z)
    xd = DequantizeLinear (xq, s, z)
    m = MatMul (xd, w)
    mq = QuantizeLinear (m, t, lowest)
    r = DequantizeLinear (mq, t, lowest)
    y = MatMul (r, v)
}"""


@pytest.mark.parametrize(("dtype", "opset"), [("uint8", 10), ("int8", 10), ("uint8", 13), ("int8", 21), ("uint16", 21)])
def test_a_relu_that_the_limits_of_the_quantization_stood_for_stays(dtype: str, opset: int) -> None:
    """Quantizers omit it: values below the zero point become zero without it."""
    limits = numpy.iinfo(dtype)
    greatest = 6.0
    weights = {
        **S8,
        "w": weight(16, 8),
        "v": weight(8, 8, seed=1),
        "t": numpy.array(greatest / (limits.max - limits.min), numpy.float32),
        "lowest": numpy.array(limits.min, dtype),
    }
    model = onnx_model(RELU_LEFT_OUT, weights=weights, opsets={"": opset}, ir_version=10 if opset > 17 else 8)
    found = dequantized(model)
    assert operators(found) == ["MatMul", "Clip", "MatMul"]
    x = (integers("int8", 2, 16, low=-60, high=60, seed=3) * numpy.float32(STEP)).astype(numpy.float32)
    assert difference(model, found, x=x) < 3 * greatest / (limits.max - limits.min) * 8


def test_limits_are_by_channel_and_of_unsigned_bytes_without_a_zero_point() -> None:
    model = onnx_model(
        RELU_LEFT_OUT,
        weights={
            **S8,
            "w": weight(16, 8),
            "v": weight(8, 8, seed=1),
            "t": scales(8) * 10,
            "lowest": numpy.zeros(8, numpy.uint8),
        },
    )
    found = dequantized(model)
    (clip,) = (node for node in found.graph.node if node.op_type == "Clip")
    assert [float(constants(found)[name]) for name in clip.input[1:]] == [0.0]
    graph = """(float[4] x) => (float[4] y) {
        q = QuantizeLinear (x, s)
        d = DequantizeLinear (q, s)
        y = Neg (d)
    }"""
    found = dequantized(onnx_model(graph, weights={"s": numpy.array(0.02, numpy.float32)}))
    assert operators(found) == ["Clip", "Neg"]
    (y,) = run(found, x=numpy.array([-1, 0.5, 5, 9], numpy.float32))
    assert numpy.allclose(y, [0, -0.5, -5, -5.1])


@pytest.mark.parametrize(("dtype", "least"), [("uint8", 0), ("uint16", 0), ("uint4", 0), ("int4", -8), ("int8", -128)])
@pytest.mark.parametrize("is_given", [True, False])
def test_limits_are_those_of_the_integers(dtype: str, least: int, is_given: bool) -> None:
    kind = TensorProto.DataType.Value(dtype.upper())
    zero = helper.make_tensor("z", kind, [], [least if is_given else 0])
    graph = """(float[4] x) => (float[4] y) {
        q = QuantizeLinear (x, s, z)
        d = DequantizeLinear (q, s, z)
        y = Neg (d)
    }"""
    model = onnx_model(graph, weights={"s": numpy.array(0.25, numpy.float32)}, opsets={"": 21}, ir_version=10)
    model.graph.initializer.append(zero)
    if not is_given:
        for node in model.graph.node[:2]:
            del node.input[2]
        model.graph.node[0].attribute.append(helper.make_attribute("output_dtype", kind))
    found = dequantized(model)
    x = numpy.array([-3, 0.5, 2, 1e6], numpy.float32)
    expected, (ours,) = run(model, x=x)[0], run(found, x=x)
    is_limited = is_given or not dtype.startswith("int")
    assert (operators(found)[0] == "Clip") is is_limited
    assert numpy.array_equal(ours, expected if is_limited else -x)


PAIR = """(float[2, 4] x) => (float[2, 4] y) {
    q = QuantizeLinear <axis = 1> (x, s, z)
    d = DequantizeLinear <axis = 1> (q, t, p)
    y = Neg (d)
}"""


@pytest.mark.parametrize(
    "changes",
    [
        {"t": numpy.array(0.1, numpy.float32)},
        {"p": numpy.array(7, numpy.int8)},
        {"s": scales(4), "z": numpy.zeros(4, numpy.int8)},
        {"s": scales(4), "t": scales(4)[::-1], "z": numpy.zeros(4, numpy.int8), "p": numpy.zeros(4, numpy.int8)},
    ],
    ids=["scale", "zero point", "one scale and many", "scales in another order"],
)
def test_a_pair_that_does_more_than_round_stays(changes: Mapping[str, Array]) -> None:
    weights = {**S8, "t": S8["s"], "p": S8["z"], **changes}
    model = onnx_model(PAIR, weights=weights)
    found = onnx.load_from_string(quantized_by(Dequantized(), model.SerializeToString(), Path()))
    x = numpy.random.default_rng(0).standard_normal((2, 4)).astype(numpy.float32)
    numpy.testing.assert_array_equal(run(found, x=x)[0], run(model, x=x)[0])


def test_pairs_along_two_axes_and_integers_stay() -> None:
    weights = {"s": scales(2), "z": numpy.zeros(2, numpy.int8), "t": scales(2), "p": numpy.zeros(2, numpy.int8)}
    model = onnx_model(PAIR.replace("2, 4", "2, 2").replace("axis = 1", "axis = 0", 1), weights=weights)
    found = onnx.load_from_string(quantized_by(Dequantized(), model.SerializeToString(), Path()))
    x = numpy.random.default_rng(0).standard_normal((2, 2)).astype(numpy.float32)
    numpy.testing.assert_array_equal(run(found, x=x)[0], run(model, x=x)[0])
    graph = """(int32[4] x) => (float[4] y) {
        q = QuantizeLinear (x, s, z)
        d = DequantizeLinear (q, s, z)
        y = Neg (d)
    }"""
    model = infer_shapes(onnx_model(graph, weights=S8))
    found = onnx.load_from_string(quantized_by(Dequantized(), model.SerializeToString(), Path()))
    assert operators(found) == ["QuantizeLinear", "DequantizeLinear", "Neg"]


def test_weights_that_are_quantized_when_the_model_runs_are_taken_as_they_are() -> None:
    graph = """(float[2,16] x) => (float[2,8] y) {
        wq = QuantizeLinear (w, s)
        wd = DequantizeLinear (wq, s)
        y = MatMul (x, wd)
    }"""
    found = dequantized(onnx_model(graph, weights={"w": weight(16, 8), "s": numpy.array(0.02, numpy.float32)}))
    assert operators(found) == ["MatMul"]
    assert numpy.array_equal(constants(found)["w"], weight(16, 8))


BRANCHES = """(bool c, float[1,8] x) => (float[1,8] y) {
    xq = QuantizeLinear (x, s, z)
    xd = DequantizeLinear (xq, s, z)
    w = DequantizeLinear (wq, s, z)
    y = If (c) <
        then_branch = t () => (float[1,8] a) { a = MatMul (xd, w) },
        else_branch = e () => (float[1,8] b) { b = Neg (xd) }
    >
}"""


@pytest.mark.parametrize("condition", [True, False])
def test_branches_take_the_unrounded_values_too(condition: bool) -> None:
    model = onnx_model(BRANCHES, weights={**S8, "wq": integers("int8", 8, 8)})
    found = dequantized(model)
    assert operators(found) == ["If"]
    assert list(constants(found)) == ["w"]
    inside = Counter(name for each in found.graph.node[0].attribute for node in each.g.node for name in node.input)
    assert inside == Counter(x=2, w=1)
    x = (integers("int8", 1, 8, seed=3) * numpy.float32(STEP)).astype(numpy.float32)
    assert difference(model, found, c=numpy.array(condition), x=x) < 1e-3


def test_what_a_branch_alone_takes_is_not_dropped() -> None:
    graph = """(bool c, float[1,8] x) => (float[1,8] y) {
        xq = QuantizeLinear (x, s, z)
        y = If (c) <
            then_branch = t () => (float[1,8] a) { a = DequantizeLinear (xq, s, z) },
            else_branch = e () => (float[1,8] b) { d = DequantizeLinear (wq, s, z) b = Add (x, d) }
        >
    }"""
    model = onnx_model(graph, weights={**S8, "wq": integers("int8", 1, 8)})
    found = onnx.load_from_string(quantized_by(Dequantized(), model.SerializeToString(), Path()))
    onnx.checker.check_model(found, full_check=True)
    x = (integers("int8", 1, 8, seed=3) * numpy.float32(STEP)).astype(numpy.float32)
    for condition in (True, False):
        assert difference(model, found, c=numpy.array(condition), x=x) == 0.0


def test_quantized_inputs_and_outputs_stay_and_a_float_graph_is_untouched() -> None:
    graph = """(float[2,8] x) => (int8[2,8] q, float[2,8] y) {
        q = QuantizeLinear (x, s, z)
        d = DequantizeLinear (q, s, z)
        y = Neg (d)
    }"""
    model = onnx_model(graph, weights=S8)
    found = onnx.load_from_string(quantized_by(Dequantized(), model.SerializeToString(), Path()))
    assert operators(found) == ["QuantizeLinear", "Neg"]
    x = numpy.asarray(weight(2, 8), numpy.float32)
    assert difference(model, found, x=x) <= STEP
    graph = "(int8[2,8] q) => (float[2,8] y) { d = DequantizeLinear (q, s, z) y = Neg (d) }"
    model = onnx_model(graph, weights=S8)
    found = onnx.load_from_string(quantized_by(Dequantized(), model.SerializeToString(), Path()))
    assert operators(found) == ["DequantizeLinear", "Neg"]
    assert difference(model, found, q=integers("int8", 2, 8)) == 0.0
    model = onnx_model(
        "(float[2,8] x) => (float[2,8] y) { m = MatMul (x, w) y = Relu (m) }", weights={"w": weight(8, 8)}
    )
    assert dequantized(model) == model
