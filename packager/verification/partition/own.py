"""Tells a model's own nodes from those that its contract added: a provider is judged by the former.

A runtime's rewrites keep the name of one of the nodes that they join. Where a node of the contract and one of the model
become one (two casts in a row, or the same cast of one value) with the contract's name, it replaces the model's.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from packager.core.contract import ADDED
from packager.graph.view import Graph, Node


@dataclass(frozen=True, kw_only=True)
class Border:
    """The border between a contract and its model, before a runtime's rewrites."""

    made: Set[str] = frozenset()
    """values that the contract's nodes make"""
    given: Set[str] = frozenset()
    """those that the model takes: its inputs"""

    def own_part(self, graph: Graph) -> Graph:
        """The model in `graph`: values between it and the contract are its inputs and outputs. `graph` itself without
        a contract."""
        own = self._own(graph)
        nodes = tuple(self._without_added(node) for node in graph.nodes if node.name in own)
        if nodes == graph.nodes:
            return graph
        made = {name for node in nodes for name in node.outputs if name}
        taken = dict.fromkeys(name for node in nodes for name in node.consumed if name)
        others = (name for node in graph.nodes if node.name not in own for name in node.consumed)
        return replace(
            graph,
            nodes=nodes,
            inputs=tuple(name for name in taken if name not in made and not graph.value(name).is_constant),
            outputs=tuple(name for name in dict.fromkeys((*others, *graph.outputs)) if name in made),
        )

    def _own(self, graph: Graph) -> Set[str]:
        """Names of the model's nodes."""
        taken = {name for node in graph.nodes if not node.name.startswith(ADDED) for name in node.consumed}
        return {node.name for node in graph.nodes if not self._is_added(node, taken)}

    def _is_added(self, node: Node, taken: Set[str]) -> bool:
        """Whether a node is the contract's alone, given the values that nodes with the model's names take."""
        return node.name.startswith(ADDED) and all(
            (name.startswith(ADDED) or name in self.made) and (name not in taken or name in self.given)
            for name in node.outputs
            if name
        )

    def _without_added(self, node: Node) -> Node:
        """`node` without the contract's nodes in its branches."""
        return replace(node, subgraphs=tuple(map(self.own_part, node.subgraphs))) if node.subgraphs else node


def border_of(graph: Graph) -> Border:
    """The border in a model with its contract, as it was before any rewrite."""
    made = {name for node in _nodes(graph, is_added=True) for name in node.outputs if name}
    taken = {name for node in _nodes(graph, is_added=False) for name in node.consumed}
    return Border(made=frozenset(made), given=frozenset(made & taken))


def _nodes(graph: Graph, *, is_added: bool) -> Iterator[Node]:
    return (node for node in graph.all_nodes() if node.name.startswith(ADDED) is is_added)
