"""Turns operators that multiply uint8 by int8 into products of uint8 by uint8, which are exact on every processor.

An int8 number b with zero point z becomes b + 128 with zero point z + 128, which represents the same: (b + 128) - (z +
128). Sums have 32 bits before and after, so the result is bit for bit that of a processor that multiplies uint8 by int8
exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.engines.session.exact.elements import Elements
from packager.graph import traversal
from packager.graph.names import free_name
from packager.graph.weights.reading import read_weight

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

SHIFT = 128


@dataclass(frozen=True)
class Operand:
    """One of the 8-bit operands of an operator, by the positions of its inputs."""

    value: int
    zero_point: int


@dataclass(frozen=True)
class Product:
    """The operands of an operator: it multiplies `left` by each of `rights`."""

    left: Operand | None
    """None if the operator itself quantizes floats to uint8"""
    rights: tuple[Operand, ...]


PRODUCTS = {
    "MatMulInteger": Product(Operand(0, 2), (Operand(1, 3),)),
    "ConvInteger": Product(Operand(1, 3), (Operand(0, 2),)),  # ONNX Runtime multiplies the weights by the picture
    "QLinearMatMul": Product(Operand(0, 2), (Operand(3, 5),)),
    "QLinearConv": Product(Operand(0, 2), (Operand(3, 5),)),
    "QGemm": Product(Operand(0, 2), (Operand(3, 5),)),
    "MatMulIntegerToFloat": Product(Operand(0, 4), (Operand(1, 5),)),
    "DynamicQuantizeMatMul": Product(None, (Operand(1, 3),)),
    "DynamicQuantizeLSTM": Product(None, (Operand(1, 9), Operand(2, 11))),
    "QAttention": Product(Operand(0, 6), (Operand(1, 7),)),
}
"""Operator -> its operands. ONNX Runtime's and the standard's of one name have the same inputs."""


def unsaturated(proto: "ModelProto", data_folder: Path) -> bool:
    """Rewrites `proto`, whose external data lie in `data_folder`; False if there was nothing to rewrite."""
    return _unsaturated(proto.graph, data_folder, None)


def _unsaturated(graph: "GraphProto", data_folder: Path, outer: Elements | None) -> bool:
    elements = Elements(graph, outer)
    inner = [each for node in graph.node for each in traversal.subgraphs(node)]
    changes = [_unsaturated(each, data_folder, elements) for each in inner]
    return _Shifts(graph, data_folder, elements).apply() or any(changes)


class _Shifts:
    """Rewrites the products of one graph."""

    def __init__(self, graph: "GraphProto", data_folder: Path, elements: Elements) -> None:
        self.graph, self.data_folder, self.elements = graph, data_folder, elements
        self.constants = {tensor.name: tensor for tensor in graph.initializer}
        self.taken = {name for node in graph.node for name in (*node.input, *node.output)} | set(self.constants)
        self.made: dict[str, str] = {}
        """value -> the value shifted by 128"""
        self.nodes: list[NodeProto] = []

    def apply(self) -> bool:
        for node in self.graph.node:
            for operand in self._saturating(node):
                self._shift(node, operand)
            self.nodes.append(node)
        if not self.made:
            return False
        nodes = [_copy(node) for node in self.nodes]
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        self._remove_unread()
        return True

    def _saturating(self, node: "NodeProto") -> Iterator[Operand]:
        """The int8 operands of `node` that are multiplied by uint8."""
        from onnx import TensorProto

        product = PRODUCTS.get(node.op_type)
        if product is None or (product.left and self._element(node, product.left) == TensorProto.INT8):
            return
        yield from (right for right in product.rights if self._element(node, right) == TensorProto.INT8)

    def _element(self, node: "NodeProto", operand: Operand) -> int:
        """Its type, which is also that of its zero point."""
        names = [node.input[at] for at in (operand.value, operand.zero_point) if at < len(node.input)]
        return next((found for found in map(self.elements.of, names) if found), 0)

    def _shift(self, node: "NodeProto", operand: Operand) -> None:
        node.input[operand.value] = self._higher(node.input[operand.value])
        while len(node.input) <= operand.zero_point:
            node.input.append("")
        point = node.input[operand.zero_point]
        node.input[operand.zero_point] = self._higher(point) if point else self._constant_shift()

    def _higher(self, name: str) -> str:
        """The value `name` plus 128, as uint8."""
        if name not in self.made:
            self.made[name] = self._free(f"{name}_higher")
            if name in self.constants:
                self._add_constant(name, self.made[name])
            else:
                self._add_nodes(name, self.made[name])
        return self.made[name]

    def _add_constant(self, name: str, higher: str) -> None:
        import numpy
        from onnx import TensorProto

        signed = read_weight(self.constants[name], self.data_folder).array()
        # Flipping the highest bit adds 128 modulo 256.
        content = (signed.view(numpy.uint8) ^ numpy.uint8(SHIFT)).tobytes()
        self.graph.initializer.append(
            TensorProto(name=higher, data_type=TensorProto.UINT8, dims=signed.shape, raw_data=content)
        )

    def _add_nodes(self, name: str, higher: str) -> None:
        """Adds nodes that compute the shift at run time, for values that are not constants of this graph."""
        from onnx import TensorProto, helper

        wide, sums = self._free(f"{name}_wide"), self._free(f"{name}_sums")
        self.nodes += [
            helper.make_node("Cast", [name], [wide], to=TensorProto.INT32),
            helper.make_node("Add", [wide, self._number("shift", TensorProto.INT32)], [sums]),
            helper.make_node("Cast", [sums], [higher], to=TensorProto.UINT8),
        ]

    def _constant_shift(self) -> str:
        """The zero point of an operand that had none."""
        from onnx import TensorProto

        return self._number("zero_higher", TensorProto.UINT8)

    def _number(self, name: str, element: int) -> str:
        """The number 128 as a constant."""
        from onnx import helper

        key = f" {name}"  # not the name of a value: those are looked up in the same table
        if key not in self.made:
            self.made[key] = self._free(name)
            self.graph.initializer.append(helper.make_tensor(self.made[key], element, [], [SHIFT]))
        return self.made[key]

    def _free(self, name: str) -> str:
        free = free_name(name, self.taken)
        self.taken.add(free)
        return free

    def _remove_unread(self) -> None:
        """Removes signed weights that are not read any more: keeping both would double the memory."""
        read = {name for node in self.graph.node for name in traversal.taken_by(node)}
        read |= {value.name for value in self.graph.output}
        kept = [_copy(tensor) for tensor in self.graph.initializer if tensor.name in read]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)


def _copy(message: Any) -> Any:
    """A copy: a message taken out of a protobuf list must not be put back itself."""
    copied = type(message)()
    copied.CopyFrom(message)
    return copied
