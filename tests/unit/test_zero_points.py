"""Zero points that a model leaves to its reader are written out, with the type that they have."""

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto

from packager.graph.traversal import all_nodes
from tests.cases.onnx_text import loaded, onnx_model
from tests.cases.zero_points import LAYOUTS, X, pair
from tests.unit.test_dequantized import run

TYPES = ("UINT8", "INT8", "UINT16", "INT16", "UINT4", "INT4", "FLOAT8E4M3FN", "FLOAT8E5M2")


def types(model: onnx.ModelProto) -> list[str]:
    """Type of the zero point of every conversion."""
    constants = {each.name: each.data_type for each in model.graph.initializer}
    nodes = [node for node in all_nodes(model) if node.op_type in ("QuantizeLinear", "DequantizeLinear")]
    return [TensorProto.DataType.Name(constants[node.input[2]]) for node in nodes]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", TYPES)
def test_a_zero_point_has_the_type_of_output_dtype(tmp_path: Path, kind: str, layout: str) -> None:
    scale, attributes = LAYOUTS[layout]
    model = pair(TensorProto.DataType.Value(kind), scale, **attributes)
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert types(found) == [kind, kind]
    assert not any(each.name == "output_dtype" for node in found.graph.node for each in node.attribute)
    (expected,), (ours,) = run(model, x=X), run(found, x=X)
    assert len(numpy.unique(expected)) > 4
    numpy.testing.assert_array_equal(ours, expected)


def test_it_has_unsigned_bytes_or_the_type_of_the_input_without_the_attribute(tmp_path: Path) -> None:
    model = onnx_model(
        """(float[2, 4] x, int8[2, 4] w, bool b) => (float[2, 4] y, float[2, 4] z, float[2, 4] u)
        <float s = {0.1}, int8 p = {0}, int32[4] bias = {1, 2, 3, 4}> {
            a = QuantizeLinear (x, s)
            y = DequantizeLinear (a, s)
            t = Transpose (w)
            v = Transpose (t)
            z = DequantizeLinear (v, s)
            u = If (b) <
                then_branch = t () => (float[2, 4] c) { i = QuantizeLinear (x, s, p) c = DequantizeLinear (i, s) },
                else_branch = e () => (float[2, 4] d) { i = QuantizeLinear (x, s) d = DequantizeLinear (i, s) }
            >
        }"""
    )
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert types(found) == ["UINT8", "UINT8", "INT8", "INT8", "INT8", "UINT8", "UINT8"]
    for condition in (True, False):
        feeds: dict[str, NDArray[Any]] = {
            "x": X[:2, :4],
            "w": (X[:2, 4:] * 40).astype(numpy.int8),
            "b": numpy.array(condition),
        }
        for expected, ours in zip(run(model, **feeds), run(found, **feeds), strict=True):
            numpy.testing.assert_array_equal(ours, expected)


def test_functions_get_theirs_and_32_bits_none(tmp_path: Path) -> None:
    function = """<opset_import: ["" : 21], domain: "own"> rounded (a, s) => (b) {
        q = QuantizeLinear <output_dtype = 3> (a, s)
        b = DequantizeLinear (q, s)
    }"""
    model = onnx_model(
        "(float[4, 8] x) => (float[4, 8] y) <float s = {0.1}> { h = own.rounded (x, s) y = own.rounded (h, s) }",
        opsets={"": 21, "own": 1},
        ir_version=10,
        functions=function,
    )
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert types(found) == ["INT8"] * 4
    numpy.testing.assert_array_equal(run(found, x=X)[0], run(model, x=X)[0])
    model = onnx_model("(int32[4] x) => (float[4] y) <float s = {0.1}> { y = DequantizeLinear (x, s) }")
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert list(found.graph.node[0].input) == ["x", "s"]
