"""Moves added nodes into the only branch that needs them, so that runs that take the other branch do not compute them.

The encoder of a model that makes texts is in a branch of the first run: what prepares a picture for it belongs there.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

MAIN = ("", 0)
"""the graph itself, as a place that needs a value; branches are places by the first output of their If, and a number"""


def sink(core: "Sequence[NodeProto]", added: "Sequence[NodeProto]", outputs: frozenset[str]) -> "list[NodeProto]":
    """Nodes of `added`, in order of computation, that stay; the others go to the branches of `core`, in place.

    `outputs` are the graph's.
    """
    branches = {(node.output[0], number): graph for node in core for number, graph in enumerate(_branches(node))}
    needed: dict[str, set[tuple[str, int]]] = {name: {MAIN} for name in outputs}
    for node in core:
        _need(needed, node)
    for node in added:
        for name in traversal.taken_by(node):
            needed.setdefault(name, set())
    kept: list[NodeProto] = []
    moved: dict[tuple[str, int], list[NodeProto]] = {}
    for node in reversed(added):
        places = {place for name in node.output for place in needed.get(name, ())}
        (place,) = places if len(places) == 1 else (MAIN,)
        (kept if place == MAIN else moved.setdefault(place, [])).append(node)
        for name in traversal.taken_by(node):
            needed[name].add(place)
    for place, nodes in moved.items():
        _put_first(branches[place], nodes[::-1])
    return kept[::-1]


def _branches(node: "NodeProto") -> "Iterator[GraphProto]":
    return traversal.subgraphs(node) if node.op_type == "If" and not node.domain else iter(())


def _need(needed: dict[str, set[tuple[str, int]]], node: "NodeProto") -> None:
    """Adds the places where `node` needs its values."""
    inner = list(_branches(node))
    for name in set(node.input) if inner else traversal.taken_by(node):
        needed.setdefault(name, set()).add(MAIN)
    for number, graph in enumerate(inner):
        taken = {value.name for value in graph.output}.union(*(traversal.taken_by(each) for each in graph.node))
        for name in taken:
            needed.setdefault(name, set()).add((node.output[0], number))


def _put_first(graph: "GraphProto", nodes: "list[NodeProto]") -> None:
    after = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *after])
