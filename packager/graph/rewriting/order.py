"""Sorts nodes."""

from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.connections import indexed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import ModelProto, NodeProto


def sort_nodes(proto: "ModelProto") -> None:
    """Sorts the nodes of the graph into execution order. ONNX Runtime does so when it loads a model, but its float16
    converter does not; the ONNX checker refuses other orders. Cycles are left to the checker."""
    if _is_sorted(proto.graph.node):
        return
    nodes = list(proto.graph.node)
    order = indexed(nodes).execution_order()
    if len(order) == len(nodes) and order != sorted(order):
        del proto.graph.node[:]
        proto.graph.node.extend(nodes[index] for index in order)


def _is_sorted(nodes: "Iterable[NodeProto]") -> bool:
    """Whether no node takes a value of a later one: then sorting would change nothing, and this test is one pass."""
    made: set[str] = {""}
    missed: set[str] = set()
    for node in nodes:
        for name in traversal.consumed_by(node):
            if name not in made:
                missed.add(name)
        for name in node.output:
            if name in missed:
                return False
            made.add(name)
    return True
