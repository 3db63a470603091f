"""Computes MatMulNBits with integer activations in a fixed order.

With `accuracy_level = 4`, which ONNX Runtime sets for low-bit weights, it rounds activations to 8 bits, block by block,
and sums the blocks in an order that depends on the processor. The same rounding, written out, before a product of
32-bit floats gives the same numbers up to their last bits, and the same last bits everywhere.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

OPERATOR = "MatMulNBits"
SIGN = OPERATOR.encode()
INTEGER_LEVEL = 4
FLOAT_LEVEL = 1
LARGEST = 127.0
"""Largest of the 8-bit numbers that activations become."""
SMALLEST = 1e-30
"""Divisor of a block that is all zeros."""


def ordered(proto: "ModelProto") -> bool:
    """Rewrites `proto`; False if there was nothing to rewrite."""
    changes = [_order(graph) for graph in traversal.all_graphs(proto)]
    return any(changes)


def _order(graph: "GraphProto") -> bool:
    nodes = [each for node in graph.node for each in (_written_out(node) if _is_integer(node) else [node])]
    if len(nodes) == len(graph.node):
        return False
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    return True


def _is_integer(node: "NodeProto") -> bool:
    return node.op_type == OPERATOR and _attribute(node, "accuracy_level") == INTEGER_LEVEL and not _is_ragged(node)


def _is_ragged(node: "NodeProto") -> bool:
    """Whether the last block is shorter than the others."""
    return _attribute(node, "K") % _attribute(node, "block_size") != 0


def _attribute(node: "NodeProto", name: str) -> int:
    return next((each.i for each in node.attribute if each.name == name), 0)


def _written_out(node: "NodeProto") -> "Iterator[NodeProto]":
    """`node` on floats, after nodes that round its activations."""
    from onnx import helper

    prefix = f"{node.output[0]}_rounded"
    yield from _rounding(node.input[0], prefix, _attribute(node, "block_size"))
    product = type(node).FromString(node.SerializeToString())
    product.input[0] = prefix
    level = next(each for each in product.attribute if each.name == "accuracy_level")
    level.CopyFrom(helper.make_attribute("accuracy_level", FLOAT_LEVEL))
    yield product


def _rounding(x: str, y: str, block_size: int) -> "Iterator[NodeProto]":
    """Makes `y`: `x` rounded to steps of a 127th of the largest number of each block."""
    from onnx import TensorProto, helper

    def constant(name: str, element: int, *values: float) -> "NodeProto":
        tensor = helper.make_tensor(name, element, [len(values)], values)
        return helper.make_node("Constant", [], [f"{y}.{name}"], value=tensor)

    def made(op: str, names: str, to: str, **attributes: Any) -> "NodeProto":
        return helper.make_node(op, [f"{y}.{name}" for name in names.split()], [f"{y}.{to}"], **attributes)

    yield constant("form", TensorProto.INT64, -1, 1, block_size)
    yield constant("largest", TensorProto.FLOAT, LARGEST)
    yield constant("smallest", TensorProto.FLOAT, SMALLEST)
    yield helper.make_node("Shape", [x], [f"{y}.shape"])
    yield helper.make_node("Reshape", [x, f"{y}.form"], [f"{y}.blocks"])
    yield made("Abs", "blocks", "sizes")
    yield made("MaxPool", "sizes", "most", kernel_shape=[block_size])
    yield made("Max", "most smallest", "divisor")
    yield made("Div", "largest divisor", "steps")
    yield made("Mul", "blocks steps", "scaled")
    yield made("Round", "scaled", "whole")
    yield made("Div", "most largest", "step")
    yield made("Mul", "whole step", "back")
    yield helper.make_node("Reshape", [f"{y}.back", f"{y}.shape"], [y])
