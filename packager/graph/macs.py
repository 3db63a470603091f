"""Counts the MACs of each node, from shapes: the measure of a provider's share of the work.

Only counts the operators that take nearly all the time: convolutions, matrix products, recurrences. A dimension that is
only known at run time counts as 1, which leaves shares correct if it is the batch.
"""

import math
from collections.abc import Callable, Mapping

from packager.graph.view import Graph, Node

Shape = tuple[int, ...]


def macs(graph: Graph) -> Mapping[str, int]:
    """Node name -> MACs of one run, without nodes that have none. Subgraphs count for their node."""
    counted = {node.name: _of(graph, node) for node in graph.nodes}
    return {name: count for name, count in counted.items() if count}


def _of(graph: Graph, node: Node) -> int:
    return macs_of(graph, node) + sum(sum(macs(subgraph).values()) for subgraph in node.subgraphs)


def macs_of(graph: Graph, node: Node) -> int:
    """MACs of one node of `graph`, without those of its subgraphs."""
    counter = COUNTERS.get(node.op)
    return counter(graph, node) if counter else 0


def _shape(graph: Graph, name: str) -> Shape:
    """The shape with 1 for each unknown dimension; empty for an unknown shape."""
    shape = graph.value(name).shape or ()
    return tuple(dimension if isinstance(dimension, int) else 1 for dimension in shape)


def _convolution(weight: int) -> Callable[[Graph, Node], int]:
    """Outputs x kernel x input channels of a group. `weight` is the index of the input with the kernel."""

    def count(graph: Graph, node: Node) -> int:
        kernel = _shape(graph, node.inputs[weight])
        if len(kernel) < 3:
            return 0
        return math.prod(_shape(graph, node.outputs[0])) * math.prod(kernel[1:])

    return count


def _transposed_convolution(graph: Graph, node: Node) -> int:
    kernel = _shape(graph, node.inputs[1])
    return math.prod(_shape(graph, node.inputs[0])) * math.prod(kernel[1:])


def _matrix_product(left: int, right: int) -> Callable[[Graph, Node], int]:
    """Outputs x the dimension that is summed over, which is the last of the left operand unless it is transposed."""

    def count(graph: Graph, node: Node) -> int:
        a, b = _shape(graph, node.inputs[left]), _shape(graph, node.inputs[right])
        if not a or not b:
            return 0
        is_transposed = bool(node.attributes.get("transA", 0))
        inner = a[-2] if is_transposed and len(a) > 1 else a[-1]
        if inner == 1:  # perhaps because it is unknown
            inner = b[-1] if node.attributes.get("transB", 0) else b[-2] if len(b) > 1 else b[-1]
        return math.prod(_shape(graph, node.outputs[0])) * inner

    return count


def _packed_product(graph: Graph, node: Node) -> int:
    """com.microsoft:MatMulNBits: K x N weights, for every row of the input."""
    rows = math.prod(_shape(graph, node.inputs[0])[:-1])
    k, n = node.attributes.get("K", 0), node.attributes.get("N", 0)
    return rows * int(k) * int(n) if isinstance(k, int) and isinstance(n, int) else 0


def _recurrence(graph: Graph, node: Node) -> int:
    """Steps x batch x (input weights W + recurrence weights R), each [directions, gates x hidden, ...]."""
    x = _shape(graph, node.inputs[0])
    weights = sum(math.prod(_shape(graph, name)) for name in node.inputs[1:3])
    return math.prod(x[:2]) * weights


def _attention(graph: Graph, node: Node) -> int:
    """com.microsoft:Attention: the product with the merged weights, then scores and values."""
    x, weights = _shape(graph, node.inputs[0]), _shape(graph, node.inputs[1])
    if len(x) != 3 or len(weights) != 2:
        return 0
    batch, length, hidden = x
    return batch * length * math.prod(weights) + 2 * batch * length * length * hidden


COUNTERS: dict[str, Callable[[Graph, Node], int]] = {
    "Conv": _convolution(1),
    "FusedConv": _convolution(1),
    "NhwcFusedConv": _convolution(1),
    "ConvInteger": _convolution(1),
    "QLinearConv": _convolution(3),
    "ConvTranspose": _transposed_convolution,
    "Gemm": _matrix_product(0, 1),
    "FusedGemm": _matrix_product(0, 1),
    "QGemm": _matrix_product(0, 3),
    "MatMul": _matrix_product(0, 1),
    "FusedMatMul": _matrix_product(0, 1),
    "MatMulInteger": _matrix_product(0, 1),
    "MatMulIntegerToFloat": _matrix_product(0, 1),
    "DynamicQuantizeMatMul": _matrix_product(0, 1),
    "QLinearMatMul": _matrix_product(0, 3),
    "MatMulNBits": _packed_product,
    "LSTM": _recurrence,
    "GRU": _recurrence,
    "RNN": _recurrence,
    "DynamicQuantizeLSTM": _recurrence,
    "Attention": _attention,
}
"""By operator, of ai.onnx and com.microsoft."""
