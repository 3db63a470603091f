"""Models that leave a zero point to their reader."""

from typing import Any

import numpy
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tests.cases.onnx_text import onnx_model

LAYOUTS: dict[str, tuple[NDArray[Any], dict[str, int]]] = {
    "tensor": (numpy.array(0.05, numpy.float32), {}),
    "axis": (numpy.linspace(0.02, 0.09, 4, dtype=numpy.float32), {"axis": 0}),
    "block": (numpy.full((4, 2), 0.05, numpy.float32), {"axis": 1, "block_size": 4}),
}

X = numpy.random.default_rng(0).standard_normal((4, 8)).astype(numpy.float32)


def pair(element: int, scale: NDArray[Any], **layout: Any) -> onnx.ModelProto:
    """Rounds x to integers of the type `element`, without zero points."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=element, **layout),
        helper.make_node("DequantizeLinear", ["q", "s"], ["y"], **layout),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 8]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(scale, "s")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def signed() -> onnx.ModelProto:
    """Convolutions between conversions to int8, without any zero point."""
    random = numpy.random.default_rng(0)
    weights = {
        f"w{number}": random.integers(-127, 127, (8, 8 if number else 3, 3, 3)).astype("i1") for number in (0, 1)
    }
    layers = [
        f"""q{number} = QuantizeLinear <output_dtype = 3> ({value}, s) d{number} = DequantizeLinear (q{number}, s)
        v{number} = DequantizeLinear <axis = 0> (w{number}, t)
        {made} = Conv <pads = [1, 1, 1, 1]> (d{number}, v{number})"""
        for number, value, made in ((0, "x", "c"), (1, "c", "y"))
    ]
    scales = {"s": numpy.array(0.03, numpy.float32), "t": numpy.full(8, 0.002, numpy.float32)}
    graph = f"(float[1, 3, 8, 8] x) => (float[1, 8, 8, 8] y) {{ {' '.join(layers)} }}"
    return onnx_model(graph, weights={**weights, **scales}, opsets={"": 21}, ir_version=10)
