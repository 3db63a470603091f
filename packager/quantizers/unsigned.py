"""Re-encodes signed quantized activations as unsigned ones: identical values, integers 128 higher.

For providers made for uint8 activations (QNN, NNAPI). No number is rounded differently: scales stay the same, and x /
scale + zero_point saturates at 0 and 255 instead of -128 and 127.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.graph.rewriting.draft import Draft

if TYPE_CHECKING:
    from onnx import NodeProto

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
        """Gives every QuantizeLinear to int8 of the main graph, and the DequantizeLinear after it, an unsigned zero
        point.

        Values with other consumers, or that are outputs of the graph, are left alone, because their type would change
        there.
        """
        from onnx import TensorProto

        points = _ZeroPoints(draft)
        described = {value.name: value for value in draft.graph.value_info}
        for node in draft.graph.node:
            if node.op_type != "QuantizeLinear" or not points.is_int8(node):
                continue
            (value,) = node.output
            pair = [node, *draft.consumers.get(value, ())]
            if value in draft.outputs or any(
                each.op_type != "DequantizeLinear" or each.input[0] != value or not points.is_int8(each)
                for each in pair[1:]
            ):
                continue
            for each in pair:
                each.input[2] = points.unsigned(each.input[2])
            kept = [each for each in node.attribute if each.name != "output_dtype"]  # the type of the zero point before
            del node.attribute[:]
            node.attribute.extend(kept)
            if value in described:
                described[value].type.tensor_type.elem_type = TensorProto.UINT8


@dataclass(frozen=True)
class _ZeroPoints:
    """The zero points of a graph, and their unsigned counterparts."""

    draft: Draft
    made: dict[str, str] = field(default_factory=dict)

    def is_int8(self, node: "NodeProto") -> bool:
        """Whether `node`, which quantizes or dequantizes, says so."""
        constant = self.draft.constants.get(node.input[2]) if len(node.input) > 2 else None
        return constant is not None and constant.data_type == constant.INT8

    def unsigned(self, name: str) -> str:
        """The counterpart of `name`, added to the graph the first time."""
        import numpy

        if name not in self.made:
            shifted = (self.draft.weight(name).array().astype(numpy.int16) + SHIFT).astype(numpy.uint8)
            self.made[name] = self.draft.add(name + SUFFIX, shifted)
        return self.made[name]
