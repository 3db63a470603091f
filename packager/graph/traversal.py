"""Visits every graph and every node of a model: the main graph, branches, loop bodies and functions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto


def all_nodes(proto: "ModelProto") -> Iterator["NodeProto"]:
    """The nodes of the main graph, of functions, and of their subgraphs, depth first."""
    for body in (proto.graph.node, *(function.node for function in proto.functions)):
        yield from nodes_in(body)


def all_graphs(proto: "ModelProto") -> Iterator["GraphProto"]:
    """The main graph and every subgraph, including those in functions."""
    yield proto.graph
    for node in all_nodes(proto):
        if node.attribute:
            yield from subgraphs(node)


def name_graphs(proto: "ModelProto") -> None:
    """Names unnamed graphs: ORT format drops the names of branches, and ONNX requires one."""
    for graph in all_graphs(proto):
        graph.name = graph.name or "graph"


def nodes_in(nodes: "Iterable[NodeProto]") -> Iterator["NodeProto"]:
    """`nodes` and those of their subgraphs, depth first. Most have no attributes, and a model may have a million nodes:
    a node without attributes costs one test."""
    for node in nodes:
        yield node
        if node.attribute:
            for graph in subgraphs(node):
                yield from nodes_in(graph.node)


def subgraphs(node: "NodeProto") -> Iterator["GraphProto"]:
    """The graphs among the attributes of `node`: branches of an If, the body of a Loop or Scan."""
    for attribute in node.attribute:
        yield from (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs)


def taken_by(node: "NodeProto") -> set[str]:
    """Names of the values that `node` takes, including those that its subgraphs take from outside."""
    names = set(node.input)
    for graph in subgraphs(node) if node.attribute else ():
        names.update(value.name for value in graph.output)  # a subgraph may pass an outer value through
        names.update(name for inner in graph.node for name in taken_by(inner))
    return names


def consumed_by(node: "NodeProto") -> Sequence[str]:
    """Names of the values that `node` takes, once for each use; those that only its subgraphs take are
    last, sorted."""
    inputs: Sequence[str] = node.input
    return (*inputs, *sorted(taken_by(node).difference(inputs))) if node.attribute else inputs
