"""Quantizes tables of embeddings, which a Gather reads rows of, in blocks."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from packager.graph.rewriting.blocks import BlockQuantizer, Blocks
from packager.graph.rewriting.draft import KEEP_INLINE_BYTES, MICROSOFT, Draft
from packager.graph.rewriting.layers import EXCLUDED, attribute, is_excluded
from packager.graph.traversal import nodes_in
from packager.graph.weights.reading import Weight

if TYPE_CHECKING:
    from onnx import NodeProto

STANDARD = ("", "ai.onnx")


def quantize_tables(draft: Draft, writer: BlockQuantizer, exclude: Collection[str] = ()) -> None:
    """Replaces every Gather that reads rows of a constant matrix by com.microsoft's GatherBlockQuantized.

    That dequantizes only the rows it reads. Other Gathers of float tables, except small ones, are recorded in
    `draft.left`.
    """
    draft.replace_nodes(with_tables(draft, writer, draft.graph.node, exclude))
    if any(node.domain == MICROSOFT for node in draft.graph.node):
        draft.import_opset(MICROSOFT)


def with_tables(
    draft: Draft, writer: BlockQuantizer, nodes: "Iterable[NodeProto]", exclude: Collection[str]
) -> "list[NodeProto]":
    """`nodes` of the main graph, a branch or a loop, in which quantized tables are read."""
    return [
        made for node in nodes for made in (_quantized(draft, writer, node, exclude) if _is_gather(node) else [node])
    ]


def tables_of(draft: Draft) -> set[str]:
    """Names of the constants that a Gather reads."""
    return {node.input[0] for node in nodes_in(draft.graph.node) if _is_gather(node)} & set(draft.constants)


def _is_gather(node: "NodeProto") -> bool:
    return bool(node.op_type == "Gather" and node.domain in STANDARD)


def _quantized(
    draft: Draft, writer: BlockQuantizer, node: "NodeProto", exclude: Collection[str]
) -> "Iterator[NodeProto]":
    tensor = draft.constants.get(node.input[0])
    if tensor is None or tensor.data_type != tensor.FLOAT:
        yield node  # it reads a computed value, or integers
        return
    weight = draft.weight(node.input[0])
    if weight.size_bytes < KEEP_INLINE_BYTES:
        yield node
        return
    if reason := _unfit(node, weight, writer, exclude):
        draft.leave(node, reason)
        yield node
        return
    draft.changed += 1
    matrix = writer.shared(node.input[0])
    if matrix:
        yield from _of_matrix(draft, writer, node, matrix)
        return
    table = writer.table(node.input[0])
    yield _gather([table.name, node.input[1], table.scales], list(node.output), node.name, writer.block_size, table, 1)


def _of_matrix(draft: Draft, writer: BlockQuantizer, node: "NodeProto", matrix: Blocks) -> "Iterator[NodeProto]":
    """Rows of a table whose integers are those of a MatMulNBits, (rows, blocks, bytes of a block)."""
    import numpy
    from onnx import helper

    (output,) = node.output
    scales, rows, shape, sizes = (draft.unique(f"{output}_{part}") for part in ("scales", "blocks", "shape", "sizes"))
    apart = draft.add(f"{output}_apart", numpy.array([0, 0, 1], numpy.int64))
    width = draft.add(f"{output}_width", numpy.array([matrix.rows], numpy.int64))
    yield helper.make_node("Reshape", [matrix.scales, apart], [scales], draft.unique(f"{scales}_node"))
    yield _gather([matrix.name, node.input[1], scales], [rows], node.name, writer.block_size, matrix, 2)
    yield helper.make_node("Shape", [node.input[1]], [shape], draft.unique(f"{shape}_node"))
    yield helper.make_node("Concat", [shape, width], [sizes], draft.unique(f"{sizes}_node"), axis=0)
    yield helper.make_node("Reshape", [rows, sizes], [output], draft.unique(f"{output}_node"))


def _gather(inputs: list[str], outputs: list[str], name: str, block_size: int, table: Blocks, axis: int) -> "NodeProto":
    from onnx import helper

    return helper.make_node(
        "GatherBlockQuantized",
        inputs,
        outputs,
        name,
        domain=MICROSOFT,
        gather_axis=0,
        quantize_axis=axis,
        block_size=block_size,
        bits=table.bits,
    )


def _unfit(node: "NodeProto", weight: Weight, writer: BlockQuantizer, exclude: Collection[str]) -> str:
    if is_excluded(node, exclude):
        return EXCLUDED
    if attribute(node, "axis", 0) not in (0, -len(weight.shape)) or len(weight.shape) != 2:
        return "it does not read rows of a matrix"
    if writer.bits == 4 and weight.shape[1] % 2:
        return "its rows have an odd number of columns"
    return ""
