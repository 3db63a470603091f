"""Groups the nodes that a provider can run into partitions, like ONNX Runtime for providers that compile graphs.

Written from CreateSupportedPartitionNodeGroups in core/providers/partitioning_utils.cc.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set

from packager.graph.view import Graph, Node
from packager.verification.partition.unit import NodeUnit

Joins = Callable[[NodeUnit, Set[str]], bool]
"""Whether a supported unit may join a partition that so far computes the values in the set."""
Keeps = Callable[[tuple[Node, ...]], bool]
"""Whether a partition with these nodes is kept."""


def partitions(
    graph: Graph,
    supported: Set[str],
    *,
    units: Sequence[NodeUnit] | None = None,
    joins: Joins | None = None,
    keeps: Keeps | None = None,
) -> tuple[tuple[str, ...], ...]:
    """Names of the nodes of each partition. `supported` names nodes; for a unit its target decides.

    Nodes need not be connected to share a partition: it grows as long as no node outside of it has to run between two
    of its own. Without `units` every node is one. `joins` is called once for each supported unit.
    """
    if units is None:
        units = [NodeUnit(target=node, inputs=(), outputs=()) for node in graph.nodes]
    takers = _takers(units, graph)
    waits_for = {unit.target.name: 0 for unit in units}
    for taker in (unit for behind in takers.values() for unit in behind):
        waits_for[taker.target.name] += 1

    found: list[tuple[Node, ...]] = []
    group: list[Node] = []
    border: set[str] = set()  # units that take a value from the group
    made: set[str] = set()  # outputs of the targets in the group
    refused: set[str] = set()
    ready = deque(unit for unit in units if not waits_for[unit.target.name])
    postponed: deque[NodeUnit] = deque()
    while ready or postponed:
        if not ready:  # only units that must run after the group are left
            found.append(tuple(group))
            group, border, made = [], set(), set()
            ready, postponed = postponed, ready
            continue
        unit = ready.popleft()
        name = unit.target.name
        is_taken = name in supported and name not in refused and (joins is None or joins(unit, made))
        if not is_taken:
            refused.add(name)
            if name in border:
                postponed.append(unit)
                continue
        else:
            group += unit.nodes
            made.update(unit.target.outputs)
        for taker in takers[name]:
            if is_taken:
                border.add(taker.target.name)
            waits_for[taker.target.name] -= 1
            if not waits_for[taker.target.name]:
                ready.append(taker)
    found.append(tuple(group))
    return tuple(tuple(node.name for node in nodes) for nodes in found if nodes and (keeps is None or keeps(nodes)))


def _takers(units: Sequence[NodeUnit], graph: Graph) -> Mapping[str, tuple[NodeUnit, ...]]:
    """Target of a unit -> the units that take its outputs, once for every time."""
    unit_of = {node.name: unit for unit in units for node in unit.nodes}
    return {
        unit.target.name: tuple(
            unit_of[consumer.name]
            for node in unit.nodes
            for consumer in graph.successors[node.name]
            if unit_of[consumer.name] is not unit
        )
        for unit in units
    }
