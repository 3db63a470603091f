"""Tells a model's own nodes from those that its contract added: a provider is judged by the former."""

from collections.abc import Iterator
from dataclasses import replace

from packager.core.contract import ADDED
from packager.graph.view import Graph, Node


def is_added(node: Node) -> bool:
    """Whether a contract added it. What the runtime makes of such nodes keeps their names, with an ending."""
    return node.name.startswith(ADDED)


def own_part(graph: Graph) -> Graph:
    """The model in `graph`: values between it and the contract are its inputs and outputs. `graph` itself without a
    contract."""
    if not any(map(is_added, graph.all_nodes())):
        return graph
    nodes = tuple(_without_added(node) for node in graph.nodes if not is_added(node))
    made = {name for node in nodes for name in node.outputs if name}
    taken = dict.fromkeys(name for node in nodes for name in node.consumed if name)
    return replace(
        graph,
        nodes=nodes,
        inputs=tuple(name for name in taken if name not in made and not graph.value(name).is_constant),
        outputs=tuple(dict.fromkeys(_given(graph, made))),
    )


def _without_added(node: Node) -> Node:
    """`node` without the contract's nodes in its branches."""
    return replace(node, subgraphs=tuple(map(own_part, node.subgraphs))) if node.subgraphs else node


def _given(graph: Graph, made: set[str]) -> Iterator[str]:
    """Values of the model that the contract takes or that leave the graph."""
    yield from (name for node in graph.nodes if is_added(node) for name in node.consumed if name in made)
    yield from (name for name in graph.outputs if name in made)
