"""Sizes of pools in branches and bodies: no run from outside sees all of them, so they are computed as the kernels do.

With `ceil_mode`, ONNX's shape inference counts a last window that begins in the padding; ONNX Runtime's kernels leave
it out (`ComputeOutputSize` in core/providers/cpu/nn/pool_attributes.h).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from packager.graph import traversal
from packager.graph.names import all_names, free_name
from packager.models.shapes import infer_shapes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

POOLS = ("AveragePool", "LpPool", "MaxPool")
FIRST_SPATIAL = 2
"""The first dimension that a pool makes smaller."""

Dims = Sequence[int | None]


def correct(proto: "ModelProto") -> list[str]:
    """Puts a Reshape behind every pool in a branch or body of `proto` whose inferred size is not that of the kernel;
    a sentence for each."""
    told: list[str] = []
    done: set[str] = set()
    while found := _first(proto, done):
        graph, node, inferred, made = found
        told.append(
            f"{node.op_type} '{node.name or node.output[0]}' gives {in_words(made)}, where ONNX's shape inference says "
            f"{in_words(inferred)}: a Reshape behind it keeps the size of the kernel"
        )
        target = tuple(0 if one == other else other or 0 for one, other in zip(inferred, made, strict=True))
        put_behind(proto, graph, node, node.output[0], target)
        done.add(node.output[0])
        for each in _inner(proto):
            del each.value_info[:]
        proto.CopyFrom(infer_shapes(proto))
    return told


def _first(proto: "ModelProto", done: set[str]) -> "tuple[GraphProto, NodeProto, Dims, Dims] | None":
    """The first pool, not among those `done`, whose inferred size is wrong: its graph, the node, the inferred sizes and
    the right ones."""
    shapes = _shapes(proto)
    for graph in _inner(proto):
        for node in graph.node:
            is_open = node.op_type in POOLS and node.output[0] not in done
            inferred = shapes.get(node.output[0]) if is_open else None
            made = _made(node, shapes.get(node.input[0])) if inferred else None
            if inferred and made and list(inferred) != made:
                return graph, node, inferred, [*inferred[:FIRST_SPATIAL], *made[FIRST_SPATIAL:]]
    return None


def _inner(proto: "ModelProto") -> "list[GraphProto]":
    return [graph for graph in traversal.all_graphs(proto) if graph is not proto.graph]


def _shapes(proto: "ModelProto") -> Mapping[str, Dims]:
    """The tensors of all graphs whose number of dimensions is known: no name is in two of them."""
    found: dict[str, Dims] = {}
    for graph in traversal.all_graphs(proto):
        for value in (*graph.input, *graph.value_info, *graph.output):
            if value.type.tensor_type.HasField("shape"):
                dims = value.type.tensor_type.shape.dim
                found[value.name] = [each.dim_value if each.HasField("dim_value") else None for each in dims]
    return found


def _made(node: "NodeProto", given: Dims | None) -> list[int | None] | None:
    """The sizes that the kernel gives for an input of the sizes `given`; None if it rounds down, or if they are
    unknown."""
    from onnx.helper import get_attribute_value

    known: dict[str, Any] = {each.name: get_attribute_value(each) for each in node.attribute}
    if given is None or not known.get("ceil_mode") or known.get("auto_pad", b"NOTSET") != b"NOTSET":
        return None
    kernel = known["kernel_shape"]
    rank = len(kernel)
    strides, dilations = known.get("strides", [1] * rank), known.get("dilations", [1] * rank)
    pads = known.get("pads", [0] * 2 * rank)
    sizes: list[int | None] = []
    for axis, size in enumerate(given[FIRST_SPATIAL:]):
        if size is None:
            return None
        before = size + pads[axis]
        room = before + pads[axis + rank] - dilations[axis] * (kernel[axis] - 1) - 1
        count = -(-room // strides[axis]) + 1
        sizes.append(count - 1 if (count - 1) * strides[axis] >= before else count)
    return [*given[:FIRST_SPATIAL], *sizes]


def put_behind(proto: "ModelProto", graph: "GraphProto", node: "NodeProto", name: str, target: tuple[int, ...]) -> None:
    """Puts a Reshape behind the output `name` of `node` in `graph`; a 0 in `target` leaves a size as it is."""
    import numpy
    from onnx import helper, numpy_helper

    taken = all_names(proto)
    rounded, sizes, sized = (free_name(f"{name}_{what}", taken) for what in ("rounded", "sizes", "sized"))
    node.output[list(node.output).index(name)] = rounded
    graph.initializer.append(numpy_helper.from_array(numpy.array(target, numpy.int64), sizes))
    place = list(graph.node).index(node) + 1
    graph.node.insert(place, helper.make_node("Reshape", [rounded, sizes], [name], sized))


def in_words(shape: Dims) -> str:
    return "x".join("?" if size is None else str(size) for size in shape) or "a scalar"
