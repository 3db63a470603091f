"""Divides a graph into stretches that run one after the other, so that the observed values need not be in memory all at
once.

Every value is computed once, by the same nodes as in the whole graph; a stretch takes the values it needs from earlier
ones. Dequantized numbers and constants are the exception: each stretch that needs them computes them itself, so that
integer kernels find the integers they come from.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.graph import traversal
from packager.graph.connections import Connections, indexed
from packager.graph.constants import fed_inputs

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

GROUP_BYTES = 48 * 2**20
"""Maximum size of the values to observe in one stretch: a 320x320 segmentation net has some 360 MB of them."""
DRAWN = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial")


@dataclass(frozen=True)
class Stretch:
    """Nodes that run together."""

    nodes: tuple[int, ...]
    """indices into the nodes of the graph"""
    takes: tuple[str, ...]
    """inputs of the graph, and values of earlier stretches"""
    gives: tuple[str, ...]
    """observed values, and those that later stretches take"""
    seen: tuple[str, ...]
    """values to observe after it"""
    ends: tuple[str, ...]
    """values that are not needed after it"""


def sizes_of(proto: "ModelProto", names: Iterable[str], shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Sizes of the values `names` in float32 for inputs of `shapes`; 0 if unknown before a run."""
    import onnx

    fixed = onnx.ModelProto()
    fixed.CopyFrom(proto)
    for value in (each for each in fixed.graph.input if each.name in shapes):
        value.type.tensor_type.shape.CopyFrom(onnx.TensorShapeProto())
        for size in shapes[value.name]:
            value.type.tensor_type.shape.dim.add(dim_value=size)
    del fixed.graph.value_info[:]
    keep(fixed.graph.output, [onnx.ValueInfoProto(name=value.name) for value in proto.graph.output])
    try:
        graph = onnx.shape_inference.infer_shapes(fixed, data_prop=True).graph
    except (onnx.shape_inference.InferenceError, ValueError):
        return dict.fromkeys(names, 0)
    tensors = {value.name: value.type.tensor_type for value in (*graph.value_info, *graph.output)}
    shapes_of = {name: tensor.shape.dim for name, tensor in tensors.items() if tensor.HasField("shape")}
    return {
        name: 4 * math.prod(each.dim_value for each in shapes_of[name]) if name in shapes_of else 0 for name in names
    }


def grouped(names: Sequence[str], sizes: Mapping[str, int], limit: int = GROUP_BYTES) -> list[list[str]]:
    """`names` in groups, in their order, each of at most `limit` bytes or of one name."""
    groups: list[list[str]] = []
    room = 0
    for name in names:
        room -= sizes[name]
        if not groups or room < 0:
            groups.append([])
            room = limit - sizes[name]
        groups[-1].append(name)
    return groups


def stretches(graph: "GraphProto", groups: Sequence[Sequence[str]], *, is_whole: bool = False) -> list[Stretch]:
    """A stretch for each of `groups`, with the nodes that it needs and no earlier one has; with all of them in the
    first one if `is_whole`."""
    needed = _needed(graph, [[name for group in groups for name in group]] if is_whole else groups)
    return list(_described(graph, groups, [*needed, *[[]] * (len(groups) - len(needed))]))


def _needed(graph: "GraphProto", groups: Sequence[Sequence[str]]) -> list[list[int]]:
    """The nodes of every stretch."""
    connections = indexed(graph.node)
    producers = connections.producers
    repeated = _repeated(graph, connections)
    made: set[int] = set()

    def is_missing(name: str) -> bool:
        number = producers.get(name)
        return number is not None and (number not in made or number in repeated)

    found = []
    for group in groups:
        own = connections.ancestors([name for name in group if producers[name] not in made], is_missing)
        made |= own
        found.append(sorted(own))
    return found


def _repeated(graph: "GraphProto", connections: Connections[int]) -> set[int]:
    """Nodes that are repeated in each stretch: constants, computations on constants only, and dequantization."""
    inputs = _inputs(graph)
    fixed: set[int] = set()
    for number, node in enumerate(graph.node):
        is_fed = not inputs.isdisjoint(connections.consumed(number))
        if node.op_type not in DRAWN and not is_fed and fixed.issuperset(connections.sources(number)):
            fixed.add(number)
    return fixed | {number for number, node in enumerate(graph.node) if node.op_type == "DequantizeLinear"}


def _inputs(graph: "GraphProto") -> set[str]:
    return {value.name for value in fed_inputs(graph)}


def _described(
    graph: "GraphProto", groups: Sequence[Sequence[str]], nodes: Sequence[Sequence[int]]
) -> Iterator[Stretch]:
    outputs = [{name for number in each for name in graph.node[number].output if name} for each in nodes]
    everywhere = _inputs(graph).union(*outputs)
    takes = [
        ({name for number in each for name in traversal.taken_by(graph.node[number])} & everywhere) - own
        for each, own in zip(nodes, outputs, strict=True)
    ]
    made: set[str] = set()
    for index, own in enumerate(outputs):
        later = set().union(*takes[index + 1 :], *groups[index + 1 :])
        fresh = own - made
        made |= own
        yield Stretch(
            nodes=tuple(nodes[index]),
            takes=tuple(sorted(takes[index])),
            gives=tuple(sorted(fresh & (later | set(groups[index])))),
            seen=tuple(groups[index]),
            ends=tuple(sorted((takes[index] | fresh | set(groups[index])) - later)),
        )


def keep(field: Any, values: Iterable[Any]) -> None:
    """Removes everything but `values` from a repeated field."""
    kept = list(values)
    del field[:]
    field.extend(kept)
