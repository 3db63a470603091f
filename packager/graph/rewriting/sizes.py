"""Sizes that a graph computes with: what follows for the integers of a shape before anything runs."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.graph.rewriting.finishing import constant_of

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

STANDARD = ("", "ai.onnx")
LONGEST = 64
"""Most integers of a constant that is read: shapes and places have few."""


@dataclass(frozen=True)
class Size:
    """A number, times open dimensions by their names, which are sorted."""

    factor: int
    open: tuple[str, ...] = ()

    def __mul__(self, other: "Size") -> "Size":
        return Size(self.factor * other.factor, tuple(sorted((*self.open, *other.open))))

    def over(self, other: "Size") -> "Size | None":
        """The quotient if there is no remainder, whatever the open dimensions are."""
        rest = Counter(self.open)
        rest.subtract(other.open)
        if other.factor < 1 or self.factor % other.factor or min(rest.values(), default=0) < 0:
            return None
        return Size(self.factor // other.factor, tuple(sorted(rest.elements())))


ONE = Size(1)
Elements = tuple[Size | None, ...]
"""None for a number of which nothing is known"""


@dataclass(frozen=True)
class Numbers:
    """The integers of a value with one dimension, or with none."""

    elements: Elements
    is_scalar: bool = False


class GraphSizes:
    """Known shapes and integers of a graph's values."""

    def __init__(self, graph: "GraphProto", shapes: Mapping[str, tuple[Size, ...]]) -> None:
        """`shapes` has the sizes of each dimension of the values whose number of dimensions is known."""
        self.shapes = shapes
        self.numbers: dict[str, Numbers] = {}
        self.chains: dict[str, NodeProto] = {}
        """value -> the node that computes its integers"""
        for tensor in graph.initializer:
            self._note_constant(tensor.name, tensor)
        for node in graph.node:
            if node.op_type == "Constant" and node.domain in STANDARD and len(node.attribute) == 1:
                self._note_constant(node.output[0], constant_of(node))
            elif node.op_type in RULES and node.domain in STANDARD:
                found = RULES[node.op_type](self, node)
                if found is not None:
                    self.numbers[node.output[0]] = found
                    self.chains[node.output[0]] = node

    def _note_constant(self, name: str, tensor: "TensorProto | None") -> None:
        from onnx import TensorProto, numpy_helper

        if tensor is None or tensor.data_type not in (TensorProto.INT64, TensorProto.INT32):
            return
        if len(tensor.dims) > 1 or math.prod(tensor.dims) > LONGEST or tensor.data_location == tensor.EXTERNAL:
            return
        integers = numpy_helper.to_array(tensor).reshape(-1).tolist()
        self.numbers[name] = Numbers(tuple(map(Size, integers)), is_scalar=not tensor.dims)

    def of(self, node: "NodeProto", index: int) -> Numbers | None:
        """Known integers of an input."""
        return self.numbers.get(node.input[index]) if index < len(node.input) else None

    def integers(self, node: "NodeProto", index: int, default: Sequence[int] = ()) -> Sequence[int] | None:
        """The integers of an input if all of them are known; `default` for an input that is left out."""
        if index >= len(node.input) or not node.input[index]:
            return default
        return plain(self.numbers.get(node.input[index]))


def plain(numbers: Numbers | None) -> tuple[int, ...] | None:
    """The integers, if all of them are known."""
    if numbers is None or any(each is None or each.open for each in numbers.elements):
        return None
    return tuple(each.factor for each in numbers.elements if each is not None)


def attribute(node: "NodeProto", name: str, default: Any) -> Any:
    from onnx import helper

    return next((helper.get_attribute_value(each) for each in node.attribute if each.name == name), default)


def _shape(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    shape = sizes.shapes.get(node.input[0])
    if shape is None:
        return None
    return Numbers(shape[attribute(node, "start", 0) : attribute(node, "end", len(shape))])


def _gather(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    values, places = sizes.of(node, 0), sizes.of(node, 1)
    indices = plain(places)
    if values is None or values.is_scalar or places is None or indices is None:
        return None
    count = len(values.elements)
    if any(not -count <= index < count for index in indices):
        return None
    return Numbers(tuple(values.elements[index] for index in indices), is_scalar=places.is_scalar)


def _slice(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    values, is_old = sizes.of(node, 0), len(node.input) == 1
    starts = attribute(node, "starts", ()) if is_old else sizes.integers(node, 1)
    ends = attribute(node, "ends", ()) if is_old else sizes.integers(node, 2)
    steps = sizes.integers(node, 4, (1,))
    if values is None or values.is_scalar or not starts or not ends or not steps or steps[0] < 1:
        return None
    return Numbers(values.elements[starts[0] : ends[0] : steps[0]])


def _scalar_to_list(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    value = sizes.of(node, 0)
    return Numbers(value.elements) if value and value.is_scalar else None


def _list_to_scalar(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    value = sizes.of(node, 0)
    is_one = value is not None and not value.is_scalar and len(value.elements) == 1
    return Numbers(value.elements, is_scalar=True) if value and is_one else None


def _reshape(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    value, target = sizes.of(node, 0), sizes.integers(node, 1)
    if value is None or target is None or len(target) > 1 or 0 in target:
        return None
    return Numbers(value.elements, is_scalar=not target)


def _concat(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    parts = [sizes.numbers.get(name) for name in node.input]
    known: list[Size | None] = []
    for part, name in zip(parts, node.input, strict=True):
        if part is not None and not part.is_scalar:
            known += part.elements
        elif len(shape := sizes.shapes.get(name, ())) == 1 and not shape[0].open:
            known += [None] * shape[0].factor
        else:
            return None
    return Numbers(tuple(known))


def _same(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    return sizes.of(node, 0)


def _cast(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    from onnx import TensorProto

    is_integer = attribute(node, "to", 0) in (TensorProto.INT64, TensorProto.INT32)
    return sizes.of(node, 0) if is_integer else None


def _product(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    value = sizes.of(node, 0)
    if value is None or None in value.elements or len(node.input) > 1 or attribute(node, "axes", None):
        return None
    total = math.prod((each for each in value.elements if each is not None), start=ONE)
    return Numbers((total,), is_scalar=value.is_scalar or not attribute(node, "keepdims", 1))


def _computed(sizes: GraphSizes, node: "NodeProto") -> Numbers | None:
    one, other = sizes.of(node, 0), sizes.of(node, 1)
    if one is None or other is None:
        return None
    return Numbers(
        tuple(_result(node.op_type, *pair) for pair in _pairs(one.elements, other.elements)),
        is_scalar=one.is_scalar and other.is_scalar,
    )


def _pairs(one: Elements, other: Elements) -> Iterator[tuple[Size | None, Size | None]]:
    count = max(len(one), len(other)) if one and other else 0
    return zip(*(each * count if len(each) == 1 else each for each in (one, other)), strict=True)


def _result(operator: str, one: Size | None, other: Size | None) -> Size | None:
    if one is None or other is None:
        return None
    if operator == "Mul":
        return one * other
    if operator == "Div" and (exact := one.over(other)):
        return exact
    if one.open or other.open or (operator == "Div" and not (one.factor >= 0 < other.factor)):
        return None
    a, b = one.factor, other.factor
    return Size({"Add": a + b, "Sub": a - b}[operator] if operator != "Div" else a // b)


RULES = {
    "Shape": _shape,
    "Gather": _gather,
    "Slice": _slice,
    "Unsqueeze": _scalar_to_list,
    "Squeeze": _list_to_scalar,
    "Reshape": _reshape,
    "Concat": _concat,
    "Identity": _same,
    "Cast": _cast,
    "ReduceProd": _product,
    "Mul": _computed,
    "Div": _computed,
    "Add": _computed,
    "Sub": _computed,
}
"""Operator -> the integers of its output"""
