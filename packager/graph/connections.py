"""Connections of a graph: which node produces a value, and which nodes consume it.

Quantizers, bisections and predictions of partitions ask this of protobuf messages, of views and of indices alike.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import NodeProto

NodeType = TypeVar("NodeType")


@dataclass(frozen=True, eq=False)
class Connections(Generic[NodeType]):
    """The nodes of one graph, connected by the names of values."""

    nodes: Sequence[NodeType]
    """in the order of the graph"""
    consumed: Callable[[NodeType], Iterable[str]]
    """the values that a node consumes, once for each use, including those that its subgraphs take from outside"""
    produced: Callable[[NodeType], Iterable[str]]

    @cached_property
    def producers(self) -> dict[str, NodeType]:
        """Value -> the node that produces it."""
        return {name: node for node in self.nodes for name in self.produced(node) if name}

    @cached_property
    def consumers(self) -> dict[str, list[NodeType]]:
        """Value -> the nodes that consume it, in their order, once for each use."""
        consumers: dict[str, list[NodeType]] = {}
        for node in self.nodes:
            for name in self.consumed(node):
                if name:
                    consumers.setdefault(name, []).append(node)
        return consumers

    def sources(self, node: NodeType) -> list[NodeType]:
        """The nodes whose values `node` consumes, once for each use."""
        producers = self.producers
        return [producers[name] for name in self.consumed(node) if name in producers]

    def ancestors(self: "Connections[int]", names: Iterable[str], through: Callable[[str], bool] = bool) -> set[int]:
        """The nodes that compute `names` directly, or through values for which `through` is true."""
        found: set[int] = set()
        waiting = list(names)
        while waiting:
            node = self.producers.get(waiting.pop())
            if node is not None and node not in found:
                found.add(node)
                waiting.extend(name for name in self.consumed(node) if through(name))
        return found

    def execution_order(self: "Connections[int]") -> list[int]:
        """The nodes in execution order: the given one if it is valid. Nodes in a cycle are left out."""
        sources = [set(self.sources(node)) for node in self.nodes]
        waiting = [len(nodes) for nodes in sources]
        after: dict[int, list[int]] = {}
        for index, nodes in enumerate(sources):
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


def connected(nodes: "Iterable[NodeProto]") -> "Connections[NodeProto]":
    """The connections of `nodes`, which are all of a graph or a function."""
    return Connections(tuple(nodes), traversal.consumed_by, lambda node: node.output)


def indexed(nodes: "Iterable[NodeProto]") -> Connections[int]:
    """Like `connected`, with nodes known by their index: indices can be sorted and collected."""
    held = tuple(nodes)
    return numbered([traversal.consumed_by(node) for node in held], [node.output for node in held])


def numbered(consumed: Sequence[Iterable[str]], produced: Sequence[Iterable[str]]) -> Connections[int]:
    """The connections of nodes that consume and produce the given values."""
    return Connections(range(len(consumed)), consumed.__getitem__, produced.__getitem__)
