"""Quantizes tables of embeddings, which a Gather reads rows of, in blocks."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from packager.graph.rewriting.blocks import BlockQuantizer
from packager.graph.rewriting.draft import KEEP_INLINE_BYTES, MICROSOFT, Draft
from packager.graph.rewriting.layers import EXCLUDED, attribute, is_excluded
from packager.graph.weights.reading import Weight

if TYPE_CHECKING:
    from onnx import NodeProto

STANDARD = ("", "ai.onnx")


def quantize_tables(draft: Draft, writer: BlockQuantizer, exclude: Collection[str] = ()) -> None:
    """Replaces every Gather that reads rows of a constant matrix by com.microsoft's GatherBlockQuantized.

    That dequantizes only the rows it reads. Other Gathers of float tables, except small ones, are recorded in
    `draft.left`.
    """
    nodes = [
        _quantized(draft, writer, node, exclude) if node.op_type == "Gather" and node.domain in STANDARD else node
        for node in draft.graph.node
    ]
    draft.replace_nodes(nodes)
    if any(node.domain == MICROSOFT for node in nodes):
        draft.import_opset(MICROSOFT)


def _quantized(draft: Draft, writer: BlockQuantizer, node: "NodeProto", exclude: Collection[str]) -> "NodeProto":
    from onnx import helper

    tensor = draft.constants.get(node.input[0])
    if tensor is None or tensor.data_type != tensor.FLOAT:
        return node  # it reads a computed value, or integers
    weight = draft.weight(node.input[0])
    if weight.size_bytes < KEEP_INLINE_BYTES:
        return node
    if reason := _unfit(node, weight, writer, exclude):
        draft.leave(node, reason)
        return node
    draft.changed += 1
    table = writer.table(node.input[0])
    return helper.make_node(
        "GatherBlockQuantized",
        [table.name, node.input[1], table.scales],
        list(node.output),
        node.name,
        domain=MICROSOFT,
        gather_axis=0,
        quantize_axis=1,
        block_size=writer.block_size,
        bits=writer.bits,
    )


def _unfit(node: "NodeProto", weight: Weight, writer: BlockQuantizer, exclude: Collection[str]) -> str:
    if is_excluded(node, exclude):
        return EXCLUDED
    if attribute(node, "axis", 0) not in (0, -len(weight.shape)) or len(weight.shape) != 2:
        return "it does not read rows of a matrix"
    if writer.bits == 4 and weight.shape[1] % 2:
        return "its rows have an odd number of columns"
    return ""
