"""Takes the layout of TensorFlow and JAX, channels last, off the border of a graph where it costs a Transpose."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager.graph.traversal import taken_by
from packager.samples.sample import arrays_of, write_arrays

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

Order = tuple[int, ...]
"""axes of the new tensor in terms of the old one, as in numpy.transpose"""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Inputs and outputs that have channels first now, with the order of their axes in the framework's tensor."""

    inputs: Mapping[str, Order] = field(default_factory=dict)
    outputs: Mapping[str, Order] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.inputs, *self.outputs)


def take_off(proto: "ModelProto") -> Taken:
    """Removes Transposes between channels last and channels first at inputs and outputs, in place, and pairs of
    Transposes that undo each other."""
    graph = proto.graph
    remove_pairs(graph)
    inputs = {each.name: order for each in graph.input if (order := _freed_input(graph, each))}
    outputs = {each.name: order for each in graph.output if (order := _freed_output(graph, each))}
    return Taken(inputs=inputs, outputs=outputs)


def rearrange(folder: Path, taken: Taken) -> None:
    """Gives the samples and the recorded outputs below `folder` the layout of the graph."""
    for kind, orders in (("samples", taken.inputs), ("recorded", taken.outputs)):
        for path in sorted((folder / kind).iterdir()) if orders else ():
            arrays = arrays_of(path)
            moved = {name: each.transpose(orders[name]) for name, each in arrays.items() if name in orders}
            write_arrays(path, {**arrays, **moved})


def remove_pairs(graph: "GraphProto") -> None:
    """Removes Transposes inside the graph whose input is the Transpose that they undo."""
    while pair := next(_pairs(graph), None):
        first, second = pair
        for node in _users(graph, second.output[0]):
            _rename(node, second.output[0], first.input[0])
        graph.node.remove(second)
        if not _users(graph, first.output[0]):
            graph.node.remove(first)


def _pairs(graph: "GraphProto") -> "Iterator[tuple[NodeProto, NodeProto]]":
    made = {node.output[0]: node for node in graph.node if node.op_type == "Transpose"}
    outputs = {each.name for each in graph.output}
    for second in made.values():
        first = made.get(second.input[0])
        if first is None or {first.output[0], second.output[0]} & outputs or not _is_renamable(graph, second.output[0]):
            continue
        order, back = _order(first), _order(second)
        if order and [order[axis] for axis in back] == sorted(order):
            yield first, second


def _freed_input(graph: "GraphProto", value: "ValueInfoProto") -> Order:
    """Removes the Transposes of an input that nothing else uses; returns their order, empty if there are none."""
    users = _users(graph, value.name)
    orders = {_order(node) if node.op_type == "Transpose" else () for node in users}
    order = next(iter(orders), ())
    is_alone = len(orders) == 1 and _is_channels_first(order) and not {n.output[0] for n in users} & _outputs(graph)
    if not is_alone or not all(_is_renamable(graph, node.output[0]) for node in users):
        return ()
    for node in users:
        for user in _users(graph, node.output[0]):
            _rename(user, node.output[0], value.name)
        graph.node.remove(node)
    _reorder(value, order)
    return order


def _freed_output(graph: "GraphProto", value: "ValueInfoProto") -> Order:
    """Removes the Transpose that makes an output which nothing else uses; returns the order that undoes it."""
    node = next((each for each in graph.node if value.name in each.output), None)
    if node is None or node.op_type != "Transpose" or _users(graph, value.name):
        return ()
    order = _order(node)
    back = tuple(sorted(range(len(order)), key=lambda axis: order[axis]))
    maker = next((each for each in graph.node if node.input[0] in each.output), None)
    if not _is_channels_first(back) or maker is None or not _is_renamable(graph, node.input[0]):
        return ()
    if node.input[0] in _outputs(graph):
        return ()
    old = node.input[0]
    graph.node.remove(node)
    for user in _users(graph, old):
        _rename(user, old, value.name)
    maker.output[:] = [value.name if name == old else name for name in maker.output]
    _reorder(value, back)
    return back


def _is_channels_first(order: Order) -> bool:
    """Whether the last axis becomes the second one, as for pictures: 0, 3, 1, 2."""
    return len(order) >= 3 and order == (0, len(order) - 1, *range(1, len(order) - 1))


def _order(node: "NodeProto") -> Order:
    return next((tuple(each.ints) for each in node.attribute if each.name == "perm"), ())


def _outputs(graph: "GraphProto") -> set[str]:
    return {each.name for each in graph.output}


def _users(graph: "GraphProto", name: str) -> "list[NodeProto]":
    return [node for node in graph.node if name in taken_by(node)]


def _is_renamable(graph: "GraphProto", name: str) -> bool:
    """Whether only nodes of the graph itself use the value, none in a branch or loop."""
    return all(name in node.input for node in _users(graph, name))


def _rename(node: "NodeProto", old: str, new: str) -> None:
    node.input[:] = [new if name == old else name for name in node.input]


def _reorder(value: "ValueInfoProto", order: Order) -> None:
    sizes = [type(each).FromString(each.SerializeToString()) for each in value.type.tensor_type.shape.dim]
    del value.type.tensor_type.shape.dim[:]
    value.type.tensor_type.shape.dim.extend(sizes[axis] for axis in order)
