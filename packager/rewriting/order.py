"""The order of nodes."""

from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.view import running_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import ModelProto, NodeProto


def sort_nodes(proto: "ModelProto") -> None:
    """Puts the nodes of the graph in an order in which they can run. ONNX Runtime does so, too, and its own float16
    converter leaves them in another; the ONNX checker refuses that. A circle is left to the checker."""
    if _is_sorted(proto.graph.node):
        return
    nodes = list(proto.graph.node)
    taken = [traversal.taken_by(node) for node in nodes]
    order = running_order(taken, [list(node.output) for node in nodes])
    if len(order) == len(nodes) and order != sorted(order):
        del proto.graph.node[:]
        proto.graph.node.extend(nodes[index] for index in order)


def _is_sorted(nodes: "Iterable[NodeProto]") -> bool:
    """Whether no node takes what a later one makes: sorting would change nothing, and this is one look at each."""
    made: set[str] = {""}
    missed: set[str] = set()
    for node in nodes:
        for name in traversal.taken_by(node) if node.attribute else node.input:
            if name not in made:
                missed.add(name)
        for name in node.output:
            if name in missed:
                return False
            made.add(name)
    return True
