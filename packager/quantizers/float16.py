"""16-bit floats: half the size, and 16-bit arithmetic on processors and providers that support it.

The schemas of the operators say which nodes can take and give float16, and which of their values follow one another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from packager.core.errors import ModelError
from packager.core.strict_tables import STRICT
from packager.graph import traversal
from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.elements import elements_of
from packager.graph.rewriting.finishing import free_initializers
from packager.graph.rewriting.halving import Misfits
from packager.graph.rewriting.layers import EXCLUDED, is_added, is_excluded, name_of
from packager.graph.rewriting.narrowing import Types, narrow

if TYPE_CHECKING:
    from onnx import NodeProto

QUANTIZED = (
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "DynamicQuantizeLSTM",
    "QLinearConv",
    "QLinearMatMul",
)
"""Operators of quantized models."""

WIDE = (
    "BitCast",
    "Constant",
    "CumSum",
    "Max",
    "Min",
    "NonMaxSuppression",
    "Range",
    "RoiAlign",
    "TopK",
    "Upsample",
)
"""Operators that stay in 32 bits although their schemas allow float16: bits, long sums, coordinates, comparisons.
ONNX Runtime's converter leaves them, too (`DEFAULT_OP_BLOCK_LIST` in onnxruntime/transformers/float16.py)."""


@dataclass(frozen=True, kw_only=True)
class Float16:
    NAME: ClassVar[str] = "float16"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["float16"] = "float16"
    """how the variant is made"""
    keep_operators: tuple[str, ...] = ()
    """operators that stay in float32, besides those without float16"""
    exclude: tuple[str, ...] = ()
    """nodes, by name, that stay in float32"""

    def quantize(self, draft: Draft) -> None:
        draft.refuse_unknown(self.exclude)
        _refuse_quantized(draft)
        draft.hoist_constants()
        free_initializers(draft.proto)  # inputs keep their type, constants need not
        types = Types(elements_of(draft), draft.opset)
        narrow(draft, types, self._kept(draft, types))
        del draft.graph.value_info[:]  # they have the types of before
        draft.refuse_unchanged(self.exclude)

    def _kept(self, draft: Draft, types: Types) -> frozenset[int]:
        """The places of the nodes that stay in 32 bits; those with floats are recorded."""
        misfits, kept = Misfits(draft), []
        for place, node in enumerate(draft.graph.node):
            reason = self._reason(node, types) or misfits.reason(node)
            if not reason:
                continue
            kept.append(place)
            if not is_added(node) and (reason == EXCLUDED or any(map(types.is_float, node.output))):
                draft.leave(node, reason)
        return frozenset(kept)

    def _reason(self, node: "NodeProto", types: Types) -> str:
        if is_excluded(node, self.exclude):
            return EXCLUDED
        if node.op_type in self.keep_operators:
            return "its operator stays in 32 bits by the configuration"
        if any(traversal.subgraphs(node)):
            return "its branches or body compute in 32 bits"
        if node.op_type in WIDE or node.domain not in ("", "ai.onnx"):
            return "it computes in 32 bits"
        if node.op_type.startswith("Scatter") and any(each.name == "reduction" for each in node.attribute):
            return "it computes in 32 bits"  # ONNX Runtime has no kernel that adds up in 16
        return types.obstacle(node)


def _refuse_quantized(draft: Draft) -> None:
    """Raises ModelError for a quantized model: casts between its operators would break their patterns."""
    found = [node for node in draft.graph.node if node.op_type in QUANTIZED]
    if found:
        raise ModelError(
            f"nothing to quantize: the model is quantized already ({found[0].op_type} '{name_of(found[0])}')",
            hint='use the float32 model that it was made from, or ship it unchanged: quantizer = "none"',
        )
