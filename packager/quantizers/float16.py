"""16-bit floats: half the size, and 16-bit arithmetic on processors and providers that support it.

ONNX Runtime's own converter rewrites the graph, because it knows the types of all operators. Weights never pass through
it: shims stand in for them, and a weight whose shim became float16 is converted in a stream from file to file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from packager.core.errors import ModelError
from packager.core.strict_tables import STRICT
from packager.graph import traversal
from packager.graph.weights.half import Halves
from packager.graph.weights.places import take_in
from packager.graph.weights.reading import Weight, read_weight
from packager.rewriting.casts import drop_round_trips, drop_twins
from packager.rewriting.draft import KEEP_INLINE_BYTES, MICROSOFT, Draft
from packager.rewriting.finishing import free_initializers
from packager.rewriting.halving import Misfits
from packager.rewriting.layers import EXCLUDED, is_added, is_excluded, name_of
from packager.rewriting.order import sort_nodes
from packager.rewriting.shields import shielded

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

QUANTIZED = (
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "DynamicQuantizeLSTM",
    "QLinearConv",
    "QLinearMatMul",
)
"""Operators of quantized models."""


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
        kept = self._kept(draft)
        weights = _stand_in(draft)
        _convert(draft, kept)
        del draft.graph.value_info[:]  # some are of shims
        _give_back(draft, weights)
        drop_twins(draft)
        drop_round_trips(draft)
        sort_nodes(draft.proto)
        draft.refuse_unchanged(self.exclude)

    def _kept(self, draft: Draft) -> list[str]:
        """The names of the nodes that stay in float32, which are recorded; unnamed ones get a name."""
        misfits, functions = Misfits(draft), {function.name for function in draft.proto.functions}
        nodes: list[NodeProto] = []
        kept: list[str] = []
        for node in draft.graph.node:
            reason = self._reason(node, functions) or misfits.reason(node)
            before = shielded(draft, node) if reason and any(traversal.subgraphs(node)) else []
            nodes += [*before, node]
            if reason and not is_added(node) and (reason == EXCLUDED or any(map(draft.is_float, node.output))):
                draft.leave(node, reason)
            if reason:
                node.name = node.name or draft.unique(f"{node.output[0]}_node")
                kept += [each.name for each in (*before, node)]
        draft.replace_nodes(nodes)
        return kept

    def _reason(self, node: "NodeProto", functions: set[str]) -> str:
        from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST

        if is_excluded(node, self.exclude):
            return EXCLUDED
        if node.op_type in self.keep_operators:
            return "its operator stays in 32 bits by the configuration"
        if any(traversal.subgraphs(node)):
            return "its branches or body compute in 32 bits"
        if node.op_type in (*DEFAULT_OP_BLOCK_LIST, *functions, "Constant") or node.domain == MICROSOFT:
            return "it computes in 32 bits"
        return ""


def _refuse_quantized(draft: Draft) -> None:
    """Raises ModelError for a quantized model: casts between its operators would break their patterns."""
    found = [node for node in draft.graph.node if node.op_type in QUANTIZED]
    if found:
        raise ModelError(
            f"nothing to quantize: the model is quantized already ({found[0].op_type} '{name_of(found[0])}')",
            hint='use the float32 model that it was made from, or ship it unchanged: quantizer = "none"',
        )


def _stand_in(draft: Draft) -> "dict[str, tuple[TensorProto, Weight]]":
    """Replaces large floats by shims without elements, and returns the originals. Small tensors in files are read into
    the graph, because the converter converts the data it finds there."""
    import onnx

    held = {}
    for tensor in draft.graph.initializer:
        if tensor.data_type != tensor.FLOAT:
            continue
        weight = read_weight(tensor, draft.data_folder)
        if weight.size_bytes >= KEEP_INLINE_BYTES:
            original = onnx.TensorProto()
            original.CopyFrom(tensor)
            held[tensor.name] = (original, weight)
            tensor.CopyFrom(onnx.TensorProto(name=tensor.name, data_type=onnx.TensorProto.FLOAT, dims=[0]))
        elif weight.place:
            take_in(tensor, draft.data_folder)
    return held


def _convert(draft: Draft, kept: Sequence[str]) -> None:
    """Runs ONNX Runtime's converter, and counts the constants that it changed."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    floats = {tensor.name for tensor in draft.graph.initializer if tensor.data_type == tensor.FLOAT}
    try:
        convert_float_to_float16(
            draft.proto,
            keep_io_types=True,
            disable_shape_infer=True,  # models.load has done it
            op_block_list=[],  # those are in `kept`
            node_block_list=list(kept),
        )
    except (AssertionError, ValueError) as error:
        raise ModelError(
            f"ONNX Runtime's float16 converter refuses the model: {error or 'two tensors have one name'}",
            hint="export it in float16, or give each tensor a unique name",
        ) from error
    halves = [tensor for tensor in draft.graph.initializer if tensor.data_type == tensor.FLOAT16]
    draft.changed += sum(tensor.name in floats for tensor in halves)


def _give_back(draft: Draft, held: "Mapping[str, tuple[TensorProto, Weight]]") -> None:
    """Replaces shims by their tensors, in the type that the shims have now."""
    for index, tensor in enumerate(draft.graph.initializer):
        if tensor.name not in held:
            continue
        original, weight = held[tensor.name]
        if tensor.data_type == tensor.FLOAT16:
            draft.fill(index, tensor.FLOAT16, weight.shape, Halves(weight, threads=draft.threads))
        else:
            tensor.CopyFrom(original)
