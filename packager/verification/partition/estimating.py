"""Estimates from a graph alone how long a run takes on a provider and on the CPU.

Only layers count: convolutions, products and recurrences take nearly all of the time on both.
"""

import math
from collections.abc import Iterator, Sequence, Set

from packager.core.cost import Cost, Estimate, LayerCost, LayerKind
from packager.graph.view import Graph, Node, Value
from packager.graph.work import layers

BYTES = {
    "float": 4, "float16": 2, "bfloat16": 2, "double": 8, "bool": 1,
    "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
}  # fmt: skip


def estimated(graph: Graph, partitions: Sequence[Sequence[str]], cost: Cost) -> Estimate:
    """The times of a run of `graph`, of which the provider with `cost` takes the nodes in `partitions`, by name."""
    taken = {name for names in partitions for name in names}
    work = layers(graph)
    inside = [layer for name, each in work.items() if name in taken for layer in each]
    slower = max(LayerKind, key=lambda kind: _loss_ms(inside, kind, cost))
    slow = [layer for layer in inside if layer.kind is slower]
    return Estimate(
        cpu_ms=sum(cost.cpu.ms(layer) for each in work.values() for layer in each),
        work_ms=sum(map(cost.cpu.ms, inside)),
        own_ms=sum(map(cost.own.ms, inside)) + cost.node_ms * len(taken),
        calls_ms=cost.call_ms * len(partitions),
        copies_ms=_crossing(graph, partitions) / (cost.copy_gb_s * 1e6) if cost.copy_gb_s else 0.0,
        slower=slower if _loss_ms(inside, slower, cost) > 0 else None,
        slower_ms=sum(map(cost.own.ms, slow)),
        slower_cpu_ms=sum(map(cost.cpu.ms, slow)),
        open_value=next(_open(graph, work.keys() & taken), ""),
    )


def _loss_ms(inside: Sequence[LayerCost], kind: LayerKind, cost: Cost) -> float:
    """How much longer the layers of `kind` take on the provider than on the CPU."""
    return sum(cost.own.ms(layer) - cost.cpu.ms(layer) for layer in inside if layer.kind is kind)


def _crossing(graph: Graph, partitions: Sequence[Sequence[str]]) -> int:
    """Bytes that enter the partitions and leave them in one run."""
    return sum(_size_bytes(graph.value(name)) for names in partitions for name in _border(graph, frozenset(names)))


def _border(graph: Graph, names: Set[str]) -> Iterator[str]:
    """Values that a partition takes from outside, and those that it gives, each once."""
    nodes = [node for node in graph.nodes if node.name in names]
    made = {name: node for node in nodes for name in node.outputs if name}
    taken = dict.fromkeys(name for node in nodes for name in node.consumed if name)
    yield from (name for name in taken if name not in made and not graph.value(name).is_constant)
    for name in made:
        goes_on = any(consumer.name not in names for consumer in graph.consumers.get(name, ()))
        if goes_on or name in graph.outputs:
            yield name


def _size_bytes(value: Value) -> int:
    """Its size; an open dimension counts as 1, an unknown type as one of 4 bytes."""
    return BYTES.get(value.element, 4) * math.prod(size if isinstance(size, int) else 1 for size in value.shape or ())


def _open(graph: Graph, names: Set[str]) -> Iterator[str]:
    """Values of the nodes `names` of which more than the first size, the batch, is open."""
    for node in graph.nodes:
        if node.name in names:
            yield from (name for name in _values(node) if not _is_fixed(graph.value(name)))


def _values(node: Node) -> Iterator[str]:
    yield from (name for name in (*node.inputs, *node.outputs) if name)


def _is_fixed(value: Value) -> bool:
    return value.shape is not None and all(isinstance(size, int) for size in value.shape[1:])
