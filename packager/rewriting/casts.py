"""Removes superfluous casts of ONNX Runtime's float16 converter."""

from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.rewriting.draft import Draft
from packager.rewriting.shields import rename_taken

if TYPE_CHECKING:
    from onnx import NodeProto


def drop_twins(draft: Draft) -> None:
    """Merges casts of the same value: the converter writes one for every node that stays in float32."""
    nodes: dict[tuple[str, ...], NodeProto] = {}
    for node in draft.graph.node:
        nodes.setdefault(tuple(node.output), node)
    if len(nodes) < len(draft.graph.node):
        draft.replace_nodes(list(nodes.values()))


def drop_round_trips(draft: Draft) -> None:
    """Removes round trips through float16, of values that go from an input or a node that stays in float32 to another
    one, or to an output."""
    from onnx import TensorProto

    narrowed = {
        node.output[0]: node.input[0]
        for node in draft.graph.node
        if _is_cast(node, TensorProto.FLOAT16) and _is_converter_s(node)
    }
    renamed: dict[str, str] = {}
    nodes = []
    for node in draft.graph.node:
        wide = narrowed.get(node.input[0], "") if _is_cast(node, TensorProto.FLOAT) else ""
        if wide and node.output[0] not in draft.outputs:
            renamed[node.output[0]] = wide
        elif wide and wide not in renamed:  # an output keeps its name: its producer takes that
            renamed[wide] = node.output[0]
        else:
            nodes.append(node)
    if renamed:
        draft.replace_nodes(nodes)
        _rename(draft, renamed)


def _rename(draft: Draft, names: dict[str, str]) -> None:
    """Renames values, and drops casts without consumers."""

    def final(name: str) -> str:
        return final(names[name]) if name in names else name

    rename_taken(draft.graph.node, {name: final(name) for name in names})
    for node in draft.graph.node:
        node.output[:] = [final(name) for name in node.output]
    taken = draft.outputs.union(*(traversal.taken_by(node) for node in draft.graph.node))
    draft.replace_nodes([node for node in draft.graph.node if node.op_type != "Cast" or node.output[0] in taken])


def _is_converter_s(node: "NodeProto") -> bool:
    """Whether the converter made it, and not the author of the model to round a value."""
    return str(node.input[0]).endswith("_cast_to_fp16") or str(node.output[0]).startswith("graph_input_cast_")


def _is_cast(node: "NodeProto", element: int) -> bool:
    return node.op_type == "Cast" and any(each.name == "to" and each.i == element for each in node.attribute)
