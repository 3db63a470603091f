"""Keeps branches and loops in float32 while the graph around them changes its precision."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.rewriting.draft import Draft

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


def shielded(draft: Draft, node: "NodeProto") -> "list[NodeProto]":
    """The nodes to insert before `node`, so that its subgraphs still take float32 values from outside."""
    from onnx import TensorProto, helper

    names = {name: draft.unique(f"{name}_float32") for name in _captured(draft, node)}
    for graph in traversal.subgraphs(node):
        rename_taken(graph.node, names)
    return [
        helper.make_node("Cast", [name], [twin], draft.unique(f"{twin}_cast"), to=TensorProto.FLOAT)
        for name, twin in names.items()
    ]


def _captured(draft: Draft, node: "NodeProto") -> list[str]:
    """The float values of the main graph that the subgraphs of `node` capture."""
    taken = {name for graph in traversal.subgraphs(node) for name in _taken(graph)}
    constants = {each.name for each in draft.graph.initializer if each.data_type == each.FLOAT}
    return sorted(name for name in taken if name in constants or draft.is_float(name))


def _taken(graph: "GraphProto") -> set[str]:
    own = {value.name for value in (*graph.input, *graph.initializer)}
    own |= {name for node in graph.node for name in node.output}
    taken: set[str] = set()
    for node in graph.node:
        taken.update(node.input, *(_taken(inner) for inner in traversal.subgraphs(node)))
    return taken - own


def rename_taken(nodes: "Iterable[NodeProto]", names: Mapping[str, str]) -> None:
    """Makes `nodes`, including those in their subgraphs, take other values."""
    for node in nodes:
        node.input[:] = [names.get(name, name) for name in node.input]
        for inner in traversal.subgraphs(node):
            rename_taken(inner.node, names)
