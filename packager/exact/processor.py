"""Whether the processor loses part of 8-bit products, as ONNX Runtime computes them on it: measured, not looked up."""

from functools import cache
from typing import Any

LONG = 64
"""Numbers in the product that is measured: enough for whole vectors of any processor."""


@cache
def saturates() -> bool:
    """Whether products of uint8 by int8 saturate, as they do with AVX2 and AVX-512 where there is no VNNI.

    Their sums of two have 16 bits there (vpmaddubsw, github.com/microsoft/onnxruntime/issues/16472). Products of any
    other two 8-bit types are exact on every processor. Call it in processes that have loaded ONNX Runtime anyway.
    """
    import numpy

    largest = {"a": numpy.full((1, LONG), 255, numpy.uint8), "b": numpy.full((LONG, 1), 127, numpy.int8)}
    (found,) = _product().run(None, largest)
    return bool(found[0, 0] != LONG * 255 * 127)


def _product() -> Any:
    """A session of y = a x b."""
    import onnxruntime
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["a", "b"], ["y"])],
        "product",
        [
            helper.make_tensor_value_info("a", TensorProto.UINT8, [1, LONG]),
            helper.make_tensor_value_info("b", TensorProto.INT8, [LONG, 1]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1])],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 10)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
