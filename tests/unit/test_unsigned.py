"""Signed quantized activations rewritten as unsigned ones: the same numbers, and the providers' partitions."""

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto

from packager.quantizers.unsigned import Unsigned
from tests.cases.onnx_text import onnx_model, quantized_by

CONVOLUTION = """
    (float[1, 2, 4, 4] x) => (float[1, 3, 4, 4] y)
    <float s = {0.02}, int8 z = {-3}, float t = {0.05}, int8 n = {7}, int8 o = {0},
     int8[3, 2, 1, 1] weights = {1, -2, 3, -128, 127, 6}> {
        [q] a = QuantizeLinear (x, s, z)
        [d] b = DequantizeLinear (a, s, z)
        [w] v = DequantizeLinear (weights, s, o)
        [conv] e = Conv (b, v)
        [r] f = QuantizeLinear (e, t, n)
        [u] y = DequantizeLinear (f, t, n)
    }"""


def unsigned(model: onnx.ModelProto, folder: Path = Path()) -> onnx.ModelProto:
    rewritten = onnx.load_model_from_string(quantized_by(Unsigned(), model.SerializeToString(), folder))
    onnx.checker.check_model(rewritten, full_check=True)
    return rewritten


def run(model: onnx.ModelProto, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Run node by node: no rewrite of ONNX Runtime's may hide a difference."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": x})
    return np.asarray(y)


def zero_points(model: onnx.ModelProto) -> dict[str, int]:
    """Name of each node that has a zero point -> the point's element type."""
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    return {node.name: types[node.input[2]] for node in model.graph.node if len(node.input) > 2 and node.name != "conv"}


@pytest.mark.parametrize("size", [0.5, 3.0, 100.0], ids=["inside", "at the edges", "cut off"])
def test_every_number_is_the_same(size: float) -> None:
    model = onnx_model(CONVOLUTION)
    x = (np.random.default_rng(1).normal(size=(1, 2, 4, 4)) * size).astype(np.float32)
    np.testing.assert_array_equal(run(unsigned(model), x), run(model, x))


def test_activations_change_alone_and_shared_zero_points_stay() -> None:
    found = zero_points(unsigned(onnx_model(CONVOLUTION)))
    assert found.pop("w") == TensorProto.INT8
    assert found == dict.fromkeys("qdru", TensorProto.UINT8)
    model = onnx_model(CONVOLUTION.replace("(weights, s, o)", "(weights, s, z)"))
    found = zero_points(unsigned(model))
    assert (found["w"], found["q"]) == (TensorProto.INT8, TensorProto.UINT8)
    rewritten = unsigned(onnx_model(CONVOLUTION))
    names = Counter(tensor.name for tensor in rewritten.graph.initializer)
    assert names == Counter(["s", "t", "o", "weights", "z_unsigned", "n_unsigned"])
    model = onnx.shape_inference.infer_shapes(onnx_model(CONVOLUTION))
    noted = {value.name: value.type.tensor_type.elem_type for value in unsigned(model).graph.value_info}
    assert (noted["a"], noted["f"]) == (TensorProto.UINT8, TensorProto.UINT8)
    graph = onnx_model(CONVOLUTION).SerializeToString()
    assert quantized_by(Unsigned(), graph, Path()) == quantized_by(Unsigned(), graph, Path())


@pytest.mark.parametrize(
    "graph",
    [
        "(float[4] x) => (int8[4] a) <float s = {0.1}, int8 z = {0}> { a = QuantizeLinear (x, s, z) }",
        """(float[4] x) => (float[4] y) <float s = {0.1}, int8 z = {0}, int64[1] shape = {4}> {
            a = QuantizeLinear (x, s, z) b = Reshape (a, shape) y = DequantizeLinear (b, s, z) }""",
        """(float[4] x, int8[1] z) => (float[4] y) <float s = {0.1}> {
            a = QuantizeLinear (x, s, z) y = DequantizeLinear (a, s, z) }""",
        """(float[4] x, bool c) => (float[4] y) <float s = {0.1}, int8 z = {0}> {
            a = QuantizeLinear (x, s, z)
            y = If (c) <then_branch = t () => (float[4] p) { p = DequantizeLinear (a, s, z) },
                        else_branch = e () => (float[4] r) { r = DequantizeLinear (a, s, z) }> }""",
        """(float[4] x) => (float[4] y) <float s = {0.1}, uint8 z = {9}> {
            a = QuantizeLinear (x, s, z) y = DequantizeLinear (a, s, z) }""",
        """(float[4] x) => (float[4] y) <float s = {0.1}> {
            a = QuantizeLinear (x, s) y = DequantizeLinear (a, s) }""",
    ],
    ids=["an output", "another operator", "a computed zero point", "a branch", "unsigned already", "no zero point"],
)
def test_what_is_more_than_a_pair_of_constants_is_left_alone(graph: str) -> None:
    model = onnx_model(graph)
    assert unsigned(model) == model


def test_zero_points_outside_the_file_are_found(tmp_path: Path) -> None:
    model = onnx_model(CONVOLUTION)
    x = np.ones((1, 2, 4, 4), np.float32)
    expected = run(model, x)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    rewritten = quantized_by(
        Unsigned(), onnx.load(tmp_path / "m.onnx", load_external_data=False).SerializeToString(), tmp_path
    )
    (tmp_path / "unsigned.onnx").write_bytes(rewritten)
    np.testing.assert_array_equal(run(onnx.load(tmp_path / "unsigned.onnx"), x), expected)
