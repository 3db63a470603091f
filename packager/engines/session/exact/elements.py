"""Element types of the values of a graph, as far as it declares them or its operators imply them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

KEEPING = frozenset(
    "Concat Expand Flatten Gather Identity MaxPool Pad Relu Reshape Slice Split Squeeze Transpose Unsqueeze".split()
)
"""Operators whose outputs have the type of their first input."""


class Elements:
    """The element types in one graph, as numbers of onnx.TensorProto.DataType."""

    def __init__(self, graph: "GraphProto", outer: "Elements | None" = None) -> None:
        """`outer` are those of the graph around a branch or a body, which reads its values."""
        self.outer = outer
        self.known = {tensor.name: tensor.data_type for tensor in graph.initializer}
        for value in (*graph.input, *graph.output, *graph.value_info):
            if element := value.type.tensor_type.elem_type:
                self.known.setdefault(value.name, element)
        for node in graph.node:
            for name, element in self._made(node):
                self.known.setdefault(name, element)

    def of(self, name: str) -> int:
        """The type of the value `name`; 0 if unknown."""
        return self.known.get(name, 0) or (self.outer.of(name) if self.outer else 0)

    def _made(self, node: "NodeProto") -> Iterator[tuple[str, int]]:
        """The outputs of `node` whose type it determines; nodes come in execution order."""
        from onnx import TensorProto

        if node.op_type == "DynamicQuantizeLinear":
            yield from zip(node.output, (TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8), strict=False)
        elif node.op_type == "QuantizeLinear":
            said = next((each.i for each in node.attribute if each.name == "output_dtype"), 0)
            yield node.output[0], said or (self.of(node.input[2]) if len(node.input) > 2 else TensorProto.UINT8)
        elif node.op_type == "Cast":
            yield node.output[0], next(each.i for each in node.attribute if each.name == "to")
        elif node.op_type in KEEPING and node.input:
            yield from ((name, self.of(node.input[0])) for name in node.output)
        elif node.op_type == "Constant":
            yield from ((node.output[0], each.t.data_type) for each in node.attribute if each.name == "value")
