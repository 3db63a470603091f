"""Makes the shapes that a graph computes while it runs constants, wherever they are certain before.

Exporters write `x.view(x.size(0), -1)` as Shape, Gather, Unsqueeze, Concat and Reshape. A provider that wants constant
shapes leaves these nodes to the CPU, and computes what is before and behind them in two calls. A Reshape has words for
sizes that are not known: 0 copies the dimension at that place, -1 is what remains. The result is the same whenever the
original runs, for empty inputs, too; anything that is not certain stays as it is.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.connections import connected
from packager.graph.names import all_names, free_name
from packager.graph.rewriting.sizes import ONE, STANDARD, Elements, GraphSizes, Size, attribute, plain

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

SHAPED = ("Expand", "Reshape", "Tile")
"""Operators whose second input is a shape, or numbers of repetitions."""
AXES_IN_INPUT = 13
"""First opset in which Squeeze and Unsqueeze take axes as an input."""
REST = Size(-1)

Shapes = Mapping[str, tuple[Size, ...]]


def has_computed_shapes(proto: "ModelProto") -> bool:
    """Whether a node of the main graph takes a shape that another node computes."""
    made = {name for node in proto.graph.node if node.op_type != "Constant" for name in node.output}
    return any(_shape_of(node) in made for node in proto.graph.node)


def with_own_names(proto: "ModelProto") -> "ModelProto":
    """A copy without inferred shapes, in which every open dimension of an input has a name of its own: exporters give
    unrelated dimensions the same."""
    named = type(proto)()
    named.CopyFrom(proto)
    for graph in traversal.all_graphs(named):
        del graph.value_info[:]
    for value in named.graph.output:
        value.type.tensor_type.ClearField("shape")
    for value in named.graph.input:
        for index, dimension in enumerate(value.type.tensor_type.shape.dim):
            if not dimension.HasField("dim_value"):
                dimension.dim_param = f"{value.name}[{index}]"
    return named


def make_shapes_constant(proto: "ModelProto", inferred: "ModelProto") -> bool:
    """Rewrites the main graph of `proto`; returns whether anything was. `inferred` is the copy `with_own_names`, with
    the shapes that follow."""
    sizes = GraphSizes(proto.graph, _shapes(inferred.graph))
    writer = _Writer(proto, sizes)
    written: list[NodeProto] = []
    for node in proto.graph.node:
        written += writer.rewritten(node) if _shape_of(node) in sizes.chains else (node,)
    if not writer.freed:
        return False
    del proto.graph.node[:]
    proto.graph.node.extend(written)
    _drop(proto.graph, writer.freed, sizes.chains)
    return True


def _shape_of(node: "NodeProto") -> str:
    has_shape = node.op_type in SHAPED and node.domain in STANDARD and len(node.input) == 2
    return str(node.input[1]) if has_shape else ""


def _shapes(graph: "GraphProto") -> Shapes:
    """The sizes of values; an open dimension without a name has that of its place."""
    found = {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if tensor.HasField("shape"):
            found[value.name] = tuple(
                Size(each.dim_value)
                if each.HasField("dim_value")
                else Size(1, (each.dim_param or f"{value.name}[{index}] ",))
                for index, each in enumerate(tensor.shape.dim)
            )
    for tensor in graph.initializer:
        found[tensor.name] = tuple(map(Size, tensor.dims))
    return found


def _drop(graph: "GraphProto", freed: list[str], chains: Mapping[str, "NodeProto"]) -> None:
    """Drops the nodes that computed the values `freed`, where nothing takes them any more."""
    producers = connected(graph.node).producers
    uses = Counter(name for node in graph.node for name in traversal.consumed_by(node) if name)
    uses.update(value.name for value in graph.output)
    dropped: set[str] = set()
    waiting = list(freed)
    while waiting:
        name = waiting.pop()
        node = producers.get(name)
        is_ours = node is not None and (name in chains or node.op_type == "Constant")
        if node is not None and is_ours and name not in dropped and not uses[name]:
            dropped.add(name)
            uses.subtract(each for each in node.input if each)
            waiting += node.input
    kept = [node for node in graph.node if not dropped.intersection(node.output)]
    del graph.node[:]
    graph.node.extend(kept)


@dataclass(frozen=True, kw_only=True)
class _Target:
    """The sizes that a Reshape gives."""

    elements: tuple[Size, ...]
    """`REST` for one of which only that is known"""
    had_rest: bool
    """whether the graph has a -1"""


class _Writer:
    def __init__(self, proto: "ModelProto", sizes: GraphSizes) -> None:
        self.sizes = sizes
        self.graph = proto.graph
        self.opset = max((each.version for each in proto.opset_import if each.domain in STANDARD), default=0)
        self.taken = all_names(proto)
        self.freed: list[str] = []
        """shapes that a node took"""

    def rewritten(self, node: "NodeProto") -> "Iterator[NodeProto]":
        """`node`, or the node in its place, with a constant shape."""
        numbers, data = self.sizes.numbers[node.input[1]], self.sizes.shapes.get(node.input[0])
        shape: tuple[int, ...] | None = None
        axes: tuple[str, tuple[int, ...]] | None = None
        if node.op_type == "Tile":
            shape = plain(numbers)
        elif data is not None and node.op_type == "Expand":
            shape = _expanded(data, numbers.elements)
        elif data is not None and (target := _target(node, data, numbers.elements)):
            axes = _axes(data, target) if any(each.open for each in data) else None
            shape = _constant(data, target)
        if axes:
            self._reshape_by_axes(node, *axes)
        elif shape is not None:
            self._take(node, shape)
        yield node

    def _take(self, node: "NodeProto", shape: tuple[int, ...]) -> None:
        self.freed.append(node.input[1])
        node.input[1] = self._integers(shape, f"{node.input[1]}_constant")
        kept = [each for each in node.attribute if each.name != "allowzero"]
        del node.attribute[:]
        node.attribute.extend(kept)

    def _reshape_by_axes(self, node: "NodeProto", operator: str, axes: tuple[int, ...]) -> None:
        """Providers squeeze open dimensions that they do not reshape."""
        from onnx import helper

        self.freed.append(node.input[1])
        shape = node.input[1]
        del node.input[1:]
        del node.attribute[:]
        node.op_type = operator if axes else "Identity"
        if axes and self.opset >= AXES_IN_INPUT:
            node.input.append(self._integers(axes, f"{shape}_axes"))
        elif axes:
            node.attribute.append(helper.make_attribute("axes", axes))

    def _integers(self, integers: tuple[int, ...], name: str) -> str:
        import numpy
        from onnx import numpy_helper

        free = free_name(name, self.taken)
        self.taken.add(free)
        self.graph.initializer.append(numpy_helper.from_array(numpy.array(integers, numpy.int64), free))
        return free


def _expanded(data: tuple[Size, ...], elements: Elements) -> tuple[int, ...] | None:
    """The constant shape of an Expand: 1 for a dimension that stays as it is."""
    aligned = (*[ONE] * (len(elements) - len(data)), *data)[-len(elements) :] if elements else ()
    made = []
    for own, element in zip(aligned, elements, strict=True):
        if element is None or not _spreads(own, element):
            return None
        made.append(1 if element.open else element.factor)
    return tuple(made)


def _spreads(own: Size, element: Size) -> bool:
    """Whether Expand makes a dimension of size `own` one of size `element`, as far as that is certain."""
    is_number = not element.open and element.factor > 0
    return element == own or (is_number and (bool(own.open) or ONE in (own, element)))


def _target(node: "NodeProto", data: tuple[Size, ...], elements: Elements) -> _Target | None:
    """Shape that a Reshape of `data` gives; None where that is not certain."""
    takes_zero = bool(attribute(node, "allowzero", 0))
    made = [
        data[index] if each == Size(0) and not takes_zero and index < len(data) else each
        for index, each in enumerate(elements)
    ]
    given = [each for each in made if each is not None and each != REST]
    total, product = math.prod(data, start=ONE), math.prod(given, start=ONE)
    if not total.factor or any(each.factor < 1 for each in given) or len(given) + 1 < len(made):
        return None
    rest = total.over(product)
    is_refused = not total.open and not product.open and (rest is None or (len(given) == len(made) and rest != ONE))
    if is_refused or not _is_certain(data, made, takes_zero):
        return None
    filled = tuple((rest or REST) if each is None or each == REST else each for each in made)
    return _Target(elements=filled, had_rest=REST in made)


def _is_certain(data: tuple[Size, ...], made: Sequence[Size | None], takes_zero: bool) -> bool:
    """Whether the sizes are those of any run in which the original succeeds.

    Where one size alone is not a number, it follows from the others. Where several are, a computed 0 copies what is at
    its place, unless `takes_zero`; and beside a 0, a size that is not known could be any. -1 then fails, but ONNX
    Runtime takes 1 for it where a 0 is an empty dimension.
    """
    unknown = [(index, each) for index, each in enumerate(made) if each is None or each.open or each == REST]
    is_in_place = all(each == REST or data[index : index + 1] == (each,) for index, each in unknown)
    is_given = None not in made and REST not in made
    return len(unknown) < 2 or (is_given if takes_zero else is_in_place)


def _axes(data: tuple[Size, ...], target: _Target) -> tuple[str, tuple[int, ...]] | None:
    """Squeeze or Unsqueeze, and the axes that it drops or adds; None for another change."""
    elements = target.elements
    shorter, longer = sorted((data, elements), key=len)
    axes, place = [], 0
    for index, size in enumerate(longer):
        if place < len(shorter) and shorter[place] == size:
            place += 1
        elif size == ONE:
            axes.append(index)
        else:
            return None
    if place < len(shorter):
        return None
    return ("Squeeze" if longer is data else "Unsqueeze"), tuple(axes)


def _constant(data: tuple[Size, ...], target: _Target) -> tuple[int, ...] | None:
    """The constant shape of a Reshape: 0 where a dimension is copied, -1 for at most one that is not."""
    made = []
    for index, size in enumerate(target.elements):
        copied = 0 if data[index : index + 1] == (size,) else -1
        made.append(copied if size.open else size.factor)
    is_rest_safe = target.had_rest or 0 not in made  # -1 fails beside an empty dimension
    return tuple(made) if made.count(-1) == 0 or (made.count(-1) == 1 and is_rest_safe) else None
