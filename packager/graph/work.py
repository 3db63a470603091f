"""The layers of a graph: how many MACs each has, and of which kind."""

from collections.abc import Mapping

from packager.core.cost import NARROWEST, LayerCost, LayerKind
from packager.graph.macs import macs_of
from packager.graph.view import Graph, Node

KERNEL: Mapping[str, int] = {"Conv": 1, "FusedConv": 1, "NhwcFusedConv": 1, "ConvInteger": 1, "QLinearConv": 3}
"""Index of the input with the kernel, [outputs, channels of a group, ...]."""
TRANSPOSED = "ConvTranspose"
FEW_CHANNELS = 8


def layers(graph: Graph) -> Mapping[str, tuple[LayerCost, ...]]:
    """Node name -> its layers, without nodes that have none. Those of subgraphs count for their node."""
    found = {node.name: _layers(graph, node) for node in graph.nodes}
    return {name: each for name, each in found.items() if each}


def _layers(graph: Graph, node: Node) -> tuple[LayerCost, ...]:
    inside = tuple(layer for subgraph in node.subgraphs for each in layers(subgraph).values() for layer in each)
    count = macs_of(graph, node)
    return (_layer(graph, node, count), *inside) if count else inside


def _layer(graph: Graph, node: Node, count: int) -> LayerCost:
    if node.op == TRANSPOSED:
        outputs, *_ = _sizes(graph, node.inputs[1])[1:]
        return LayerCost(kind=LayerKind.NARROW if outputs < NARROWEST else LayerKind.DENSE, macs=count, outputs=outputs)
    if node.op not in KERNEL:
        return LayerCost(kind=LayerKind.PRODUCT, macs=count)
    group = node.attributes.get("group", 1)
    every, channels, *kernel = _sizes(graph, node.inputs[KERNEL[node.op]])
    outputs = every // max(1, group) if isinstance(group, int) else every
    return LayerCost(kind=_kind(group != 1, channels, outputs, kernel), macs=count, outputs=max(1, outputs))


def _kind(is_grouped: bool, channels: int, outputs: int, kernel: list[int]) -> LayerKind:
    if is_grouped and channels == 1:
        return LayerKind.DEPTHWISE
    if outputs < NARROWEST:
        return LayerKind.NARROW
    if all(size == 1 for size in kernel):
        return LayerKind.POINTWISE
    return LayerKind.STEM if channels < FEW_CHANNELS else LayerKind.DENSE


def _sizes(graph: Graph, name: str) -> list[int]:
    """The shape with 1 for each size that is not known."""
    return [size if isinstance(size, int) else 1 for size in graph.value(name).shape or ()]
