"""Computes Softmax in 64 bits: the 32-bit kernel sums eight or sixteen numbers at once, the width of the vectors.

Its sums differ in the last bits from one processor to the next. The 64-bit kernel is the same on all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.engines.session.exact.elements import Elements
from packager.graph import traversal
from packager.graph.connections import connected

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

OPERATORS = ("Softmax", "LogSoftmax")
SIGN = b"Softmax"
"""Byte string in every model that has one of them."""


def widened(proto: "ModelProto", *, is_optimized: bool) -> None:
    """Rewrites `proto`. With `is_optimized`, Softmax of quantized values stays: it becomes an 8-bit operator."""
    from onnx import TensorProto
    from onnx.shape_inference import infer_shapes

    others = _has_other_floats(proto)
    typed = infer_shapes(proto) if others else proto
    unsaid = TensorProto.UNDEFINED if others else TensorProto.FLOAT
    for graph, known in zip(traversal.all_graphs(proto), list(traversal.all_graphs(typed)), strict=True):
        _Widening(graph, Elements(known), unsaid, is_optimized).apply()


def _has_other_floats(proto: "ModelProto") -> bool:
    """Whether a value may have floats other than 32-bit ones."""
    from onnx import TensorProto

    others = (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
    return any(element in others for graph in traversal.all_graphs(proto) for element in Elements(graph).known.values())


@dataclass(frozen=True)
class _Widening:
    graph: "GraphProto"
    elements: Elements
    unsaid: int
    """the type of values whose type is unknown"""
    is_optimized: bool

    def apply(self) -> None:
        producers = connected(self.graph.node).producers
        nodes = [
            each
            for node in self.graph.node
            for each in (self._wide(node) if self._is_narrow(node, producers) else [node])
        ]
        copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
        del self.graph.node[:]
        self.graph.node.extend(copies)

    def _is_narrow(self, node: "NodeProto", producers: "Mapping[str, NodeProto]") -> bool:
        from onnx import TensorProto

        if node.op_type not in OPERATORS or self._element(node) in (TensorProto.UNDEFINED, TensorProto.DOUBLE):
            return False
        producer = producers.get(node.input[0])
        return not (self.is_optimized and producer is not None and producer.op_type == "DequantizeLinear")

    def _element(self, node: "NodeProto") -> int:
        return self.elements.of(node.input[0]) or self.unsaid

    def _wide(self, node: "NodeProto") -> "Iterator[NodeProto]":
        from onnx import TensorProto, helper

        wide, result = f"{node.output[0]}_wide", f"{node.output[0]}_wide_result"
        yield helper.make_node("Cast", [node.input[0]], [wide], to=TensorProto.DOUBLE)
        inner = helper.make_node(node.op_type, [wide], [result], name=node.name)
        inner.attribute.extend(node.attribute)
        yield inner
        yield helper.make_node("Cast", [result], list(node.output), to=self._element(node))
