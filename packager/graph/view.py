"""A graph as the checks see it: nodes, types, shapes and the small constants, without the weights.

Read from an ORT-format file (`packager.compile.reader`) or from an ONNX one (`packager.models.graphs`).
"""

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packager.core.signature import Dimension

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

    @cached_property
    def producers(self) -> Mapping[str, Node]:
        """Value -> the node that makes it."""
        return {output: node for node in self.nodes for output in node.outputs if output}

    @cached_property
    def consumers(self) -> Mapping[str, tuple[Node, ...]]:
        """Value -> the nodes of this graph that take it, in their order."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                if name:
                    found.setdefault(name, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}


def running_order(taken: Sequence[Collection[str]], made: Sequence[Collection[str]]) -> list[int]:
    """Indices of nodes in execution order: the given one if it is valid.

    `taken` and `made` are the names of the values that each node consumes and produces. Nodes in a cycle are left out.
    """
    makers = {name: index for index, names in enumerate(made) for name in names if name}
    needed = [{makers[name] for name in names if name in makers} for names in taken]
    waiting = [len(nodes) for nodes in needed]
    after: dict[int, list[int]] = {}
    for index, nodes in enumerate(needed):
        for node in nodes:
            after.setdefault(node, []).append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    order = []
    while ready:
        order.append(heapq.heappop(ready))
        for index in after.get(order[-1], ()):
            waiting[index] -= 1
            if waiting[index] == 0:
                heapq.heappush(ready, index)
    return order
