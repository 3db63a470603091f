"""A graph as the checks see it: nodes, types, shapes and the small constants, without the weights.

Read from an ORT-format file (`packager.compile.reader`) or from an ONNX one (`packager.models.graphs`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from packager.core.signature import Dimension
from packager.graph.connections import Connections

if TYPE_CHECKING:
    import numpy

SMALL_BYTES = 65536
"""Maximum size of constants that are read: shapes, axes, scales and zero points, but not weights."""

Attribute = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value that flows between nodes, or a constant."""

    name: str
    element: str = ""
    """ONNX's name of the element type in lower case (`float`, `uint8`, `int4`); empty if unknown or not a tensor"""
    shape: tuple[Dimension, ...] | None = None
    """None if even the number of dimensions is unknown"""
    is_constant: bool = False
    constant: "numpy.ndarray | None" = field(default=None, repr=False, compare=False)
    """its numbers if it `is_constant` and small"""

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The shape if every dimension is known."""
        if self.shape is None or not all(isinstance(dimension, int) for dimension in self.shape):
            return None
        return tuple(dimension for dimension in self.shape if isinstance(dimension, int))


@dataclass(frozen=True, kw_only=True)
class Node:
    name: str
    """unique in its graph: unnamed nodes take the name of their first output"""
    op: str
    domain: str
    """empty for ai.onnx"""
    since_version: int
    """the operator set version that defined this form of the operator; 0 if the file does not say"""
    inputs: tuple[str, ...]
    """names of values; empty for an omitted optional input"""
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    """numbers, strings and lists of them, without tensors and graphs"""
    subgraphs: "tuple[Graph, ...]" = ()

    @property
    def operator(self) -> str:
        """`Op`, or `domain::Op`."""
        return f"{self.domain}::{self.op}" if self.domain else self.op

    @property
    def consumed(self) -> tuple[str, ...]:
        """Names of the values it takes, once for each use; those that only its subgraphs take come last, sorted."""
        if not self.subgraphs:
            return self.inputs
        inside = {name for graph in self.subgraphs for node in graph.nodes for name in node.consumed}
        inside.update(name for graph in self.subgraphs for name in graph.outputs)
        return (*self.inputs, *sorted(inside.difference(self.inputs)))


@dataclass(frozen=True, kw_only=True)
class Graph:
    nodes: tuple[Node, ...]
    """in a valid execution order"""
    values: Mapping[str, Value]
    inputs: tuple[str, ...]
    """without the initializers"""
    outputs: tuple[str, ...]
    opsets: Mapping[str, int] = field(default_factory=dict)

    def value(self, name: str) -> Value:
        """The value called `name`; an empty one if the graph says nothing about it."""
        return self.values.get(name) or Value(name=name)

    def all_nodes(self) -> Iterator[Node]:
        """Its nodes and those of every subgraph."""
        for node in self.nodes:
            yield node
            for subgraph in node.subgraphs:
                yield from subgraph.all_nodes()

    def inside(self) -> Iterator[tuple[Node, "Graph"]]:
        """Each subgraph and the node that owns it; constants around it, and values that it does not describe, are as
        here."""
        constants = {name: value for name, value in self.values.items() if value.is_constant}
        for node in self.nodes:
            for subgraph in node.subgraphs:
                said = {name: value for name, value in subgraph.values.items() if value.shape is not None}
                yield node, replace(subgraph, values={**self.values, **said, **constants})

    @cached_property
    def connections(self) -> Connections[Node]:
        return Connections(self.nodes, lambda node: node.consumed, lambda node: node.outputs)

    @property
    def producers(self) -> Mapping[str, Node]:
        """Value -> the node that makes it."""
        return self.connections.producers

    @property
    def consumers(self) -> Mapping[str, Sequence[Node]]:
        """Value -> the nodes of this graph that take it, in their order, once for each use."""
        return self.connections.consumers

    @cached_property
    def successors(self) -> Mapping[str, Sequence[Node]]:
        """Name of a node -> the nodes that take its outputs, in their order, once for each use."""
        found: dict[str, list[Node]] = {node.name: [] for node in self.nodes}
        for node in self.nodes:
            for source in self.connections.sources(node):
                found[source.name].append(node)
        return found

    def gives_output(self, node: Node) -> bool:
        """Whether `node` computes an output of the graph."""
        return any(name in self.outputs for name in node.outputs)
