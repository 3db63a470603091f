"""The order of nodes."""

from typing import TYPE_CHECKING

from packager import walk
from packager.graph import running_order

if TYPE_CHECKING:
    from onnx import ModelProto


def sort_nodes(proto: "ModelProto") -> None:
    """Puts the nodes of the graph in an order in which they can run. ONNX Runtime does so, too, and its own float16
    converter leaves them in another; the ONNX checker refuses that. A circle is left to the checker."""
    nodes = list(proto.graph.node)
    taken = [walk.taken_by(node) for node in nodes]
    order = running_order(taken, [list(node.output) for node in nodes])
    if len(order) == len(nodes) and order != sorted(order):
        del proto.graph.node[:]
        proto.graph.node.extend(nodes[index] for index in order)
