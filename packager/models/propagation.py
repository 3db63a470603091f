"""Bounds what ONNX's shape inference keeps of computed shapes: a message for each number, and a chain of Concat that
takes its input twice doubles them at every node."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

MOST_NUMBERS = 2_000_000
"""of all computed shapes together: some 200 MB"""
RANK = 64
"""numbers of a Shape, at most"""
Lengths = dict[str, int]
"""Value -> the most numbers that are known of it."""


def is_bounded(proto: "ModelProto") -> bool:
    """Whether the numbers of all computed shapes are few enough to be kept."""
    nodes = list(traversal.all_nodes(proto))
    if not any(node.op_type == "Concat" for node in nodes):
        return True
    known = {(each.domain, each.name): each.node for each in proto.functions}
    factors: dict[tuple[str, str], int] = {}
    for name in known:
        _add_factor(name, known, factors)
    lengths: Lengths = {}
    for graph in traversal.all_graphs(proto):
        lengths |= {each.name: length for each in graph.initializer if (length := _length(each))}
    return _sum(nodes, lengths, factors) <= MOST_NUMBERS


def _add_factor(
    name: tuple[str, str],
    known: "Mapping[tuple[str, str], Iterable[NodeProto]]",
    factors: dict[tuple[str, str], int],
) -> None:
    """How many numbers a function of the model keeps for each of an input; functions that it calls first."""
    if name in factors:
        return
    factors[name] = 1  # no function calls itself: such models are refused
    nodes = list(known[name])
    for node in nodes:
        if (node.domain, node.op_type) in known:
            _add_factor((node.domain, node.op_type), known, factors)
    made = {output for node in nodes for output in node.output}
    taken = {value: 1 for node in nodes for value in node.input if value not in made}
    factors[name] = max(1, _sum(nodes, taken, factors))


def _sum(nodes: "Iterable[NodeProto]", lengths: Lengths, factors: Mapping[tuple[str, str], int]) -> int:
    """The numbers that all outputs of `nodes` have; adds them to `lengths`. Stops when there are too many."""
    total = 0
    for node in nodes:
        length = _made(node, [lengths.get(name, 0) for name in node.input], factors)
        if length:
            total += length * len(node.output)
            lengths.update(dict.fromkeys(node.output, length))
        if total > MOST_NUMBERS:
            break
    return total


def _made(node: "NodeProto", taken: list[int], factors: Mapping[tuple[str, str], int]) -> int:
    if node.op_type == "Shape":
        return RANK
    if node.op_type == "Constant":
        return max(
            (_length(each.t) if each.HasField("t") else len(each.ints) or 1 for each in node.attribute), default=0
        )
    if node.op_type == "Concat":
        return sum(taken)
    return max(taken, default=0) * factors.get((node.domain, node.op_type), 1)


def _length(tensor: "TensorProto") -> int:
    """Numbers of a tensor that may be a shape, or a part of one."""
    if tensor.data_type not in (tensor.INT64, tensor.INT32) or len(tensor.dims) > 1:
        return 0
    return tensor.dims[0] if tensor.dims else 1
