"""Re-encodes signed quantized activations as unsigned ones: identical values, integers 128 higher.

For providers made for uint8 activations (QNN, NNAPI). No number is rounded differently: scales stay the same, and x /
scale + zero_point saturates at 0 and 255 instead of -128 and 127.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.graph import traversal
from packager.rewriting.draft import Draft

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

SHIFT = 128
SUFFIX = "_unsigned"
"""Suffix of the names of the added zero points."""


@dataclass(frozen=True, kw_only=True)
class Unsigned:
    NAME: ClassVar[str] = "unsigned"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["unsigned"] = "unsigned"
    """how the variant is made"""

    def quantize(self, draft: Draft) -> None:
        _shift(draft.proto, draft.data_folder)


def _shift(proto: "ModelProto", data_folder: Path) -> None:
    """Gives every QuantizeLinear to int8 of the main graph, and the DequantizeLinear after it, an unsigned zero point.

    Values with other consumers, or that are outputs of the graph, are left alone, because their type would change
    there.
    """
    graph = proto.graph
    points = _ZeroPoints(graph, data_folder)
    takers: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in traversal.taken_by(node):
            takers.setdefault(name, []).append(node)
    leaving = {value.name for value in graph.output}
    described = {value.name: value for value in graph.value_info}
    for node in graph.node:
        if node.op_type != "QuantizeLinear" or len(node.input) < 3 or not points.is_int8(node.input[2]):
            continue
        (value,) = node.output
        pair = [node, *takers.get(value, ())]
        if value in leaving or any(
            each.op_type != "DequantizeLinear" or each.input[0] != value or not points.is_int8(each.input[2])
            for each in pair[1:]
        ):
            continue
        for each in pair:
            each.input[2] = points.unsigned(each.input[2])
        if value in described:
            described[value].type.tensor_type.elem_type = points.UINT8
    points.add()


class _ZeroPoints:
    """The zero points of a graph, and their unsigned counterparts."""

    def __init__(self, graph: "GraphProto", data_folder: Path) -> None:
        from onnx import TensorProto

        self.INT8, self.UINT8 = TensorProto.INT8, TensorProto.UINT8
        self.graph, self.data_folder = graph, data_folder
        self.constants = {tensor.name: tensor for tensor in graph.initializer}
        self.made: dict[str, str] = {}

    def is_int8(self, name: str) -> bool:
        return name in self.constants and self.constants[name].data_type == self.INT8

    def unsigned(self, name: str) -> str:
        if name not in self.made:
            self.made[name] = name + SUFFIX
            while self.made[name] in self.constants:
                self.made[name] += "_"
        return self.made[name]

    def add(self) -> None:
        """Adds the counterparts to the graph and removes unused zero points."""
        import numpy
        from onnx import numpy_helper

        for name, twin in self.made.items():
            signed = numpy_helper.to_array(self.constants[name], str(self.data_folder))
            shifted = (signed.astype(numpy.int16) + SHIFT).astype(numpy.uint8)
            self.graph.initializer.append(numpy_helper.from_array(shifted, twin))
        read = {name for node in self.graph.node for name in traversal.taken_by(node)}
        unread = {name for name in self.made if name not in read}
        kept = [tensor for tensor in self.graph.initializer if tensor.name not in unread]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)
