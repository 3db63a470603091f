"""Compares the weights of a quantized graph with the float ones: the integers in memory, the floats row by row."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.layers import attribute
from packager.graph.weights.reading import Weight
from packager.graph.weights.rounding import unpack
from packager.graph.weights.streaming import CHUNK_ELEMENTS
from packager.graph.weights.sums import Sums, sums_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import NodeProto

BETWEEN = frozenset({"DequantizeLinear", "QuantizeLinear", "Relu", "Clip", "Add", "Mul", "Cast"})
"""Operators that quantizers put after the node that multiplies."""
INTEGER_FORMS = {
    "Conv": "ConvInteger",
    "MatMul": "MatMulInteger",
    "Gemm": "MatMulInteger",
}
BLOCKS = "MatMulNBits"


@dataclass(frozen=True)
class StoredWeight:
    """A weight in integers, in the layout of the float one."""

    rows: "Callable[[int, int], NDArray[Any]]"
    """first and last + 1 -> the numbers that these rows represent"""


def weight_sums(before: Draft, after: Draft, node: "NodeProto", value: str) -> Sums | None:
    """Sums over the float weight of `node` and that of the node in `after` that computes `value`; None if the latter
    has no integer weight."""
    name = next((each for each in node.input[1:2] if each in before.constants), "")
    multiplier = _multiplier(after, node.op_type, value)
    if not name or multiplier is None:
        return None
    weight = before.weight(name)
    if weight.element != "FLOAT" or len(weight.shape) < 2 or not weight.size:
        return None
    is_transposed = node.op_type == "Gemm" and bool(attribute(node, "transB", 0))
    stored = _stored(after, multiplier, weight, is_transposed)
    return _sums(weight, stored) if stored else None


def _multiplier(after: Draft, operator: str, value: str) -> "NodeProto | None":
    """The node of `after` that replaces a node of kind `operator`: the nearest before `value`."""
    kinds = (operator, INTEGER_FORMS.get(operator, ""), BLOCKS)
    waiting = deque([value])
    seen = {value}
    while waiting:
        node = after.producers.get(waiting.popleft())
        if node is None:
            continue
        if node.op_type in kinds:
            return node
        fresh = [name for name in node.input if node.op_type in BETWEEN and name not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return None


def _stored(after: Draft, node: "NodeProto", weight: Weight, is_transposed: bool) -> StoredWeight | None:
    if node.op_type == BLOCKS:
        return _blocks(after, node, is_transposed)
    if node.op_type.endswith("Integer"):
        return _integers(after, node, weight, is_transposed)
    source = after.producers.get(node.input[1])
    if source is None or source.op_type != "DequantizeLinear" or source.input[0] not in after.constants:
        return None
    return _dequantized(after, source, weight)


def _dequantized(after: Draft, node: "NodeProto", weight: Weight) -> StoredWeight:
    integers, scale = (_array(after, name) for name in node.input[:2])
    zero = _array(after, node.input[2]) if len(node.input) > 2 and node.input[2] else None
    shape = [1] * len(weight.shape)
    if scale.size > 1:
        axis = range(len(weight.shape))[int(attribute(node, "axis", 1))]
        shape[axis] = scale.size
    return _linear(integers.reshape(weight.shape), scale.reshape(shape), None if zero is None else zero.reshape(shape))


def _integers(after: Draft, node: "NodeProto", weight: Weight, is_transposed: bool) -> StoredWeight | None:
    """MatMulInteger and ConvInteger: the scale of the weight is multiplied in after them."""
    integers = _array(after, node.input[1])
    scale = _scale_behind(after, node.output[0])
    if scale is None:
        return None
    columns: NDArray[Any] = scale.reshape(-1)
    if node.op_type == "MatMulInteger":
        return _linear(*((integers.T, columns[:, None]) if is_transposed else (integers, columns)), None)
    return _linear(integers, columns.reshape(-1, *[1] * (len(weight.shape) - 1)), None)


def _scale_behind(after: Draft, product: str) -> "NDArray[Any] | None":
    """The last factor of float(product) * (activation scale * weight scale)."""
    for cast in after.consumers.get(product, ()):
        for multiply in after.consumers.get(cast.output[0], ()):
            factors = [after.producers.get(name) for name in multiply.input]
            names = [name for node in factors if node and node.op_type == "Mul" for name in node.input]
            for name in names:
                if name in after.constants:
                    return _array(after, name)
    return None


def _blocks(after: Draft, node: "NodeProto", is_transposed: bool) -> StoredWeight:
    """MatMulNBits: (columns, blocks, bytes), scales (columns, blocks), zero point in the middle if none is given."""
    import numpy

    size, bits = int(attribute(node, "block_size", 32)), int(attribute(node, "bits", 4))
    rows, columns = int(attribute(node, "K", 0)), int(attribute(node, "N", 0))
    packed = _array(after, node.input[1])
    count = columns * packed.shape[1] * size
    flat: Any = unpack(packed.tobytes(), count, "uint4") if bits == 4 else packed.reshape(-1)
    matrix = flat.reshape(columns, -1)[:, :rows]
    scales = _array(after, node.input[2]).reshape(columns, -1)
    zeros = _zero_points(after, node, bits, scales.shape)

    def by_column(first: int, last: int) -> "NDArray[Any]":
        spread, zero = (numpy.repeat(each[first:last], size, axis=1)[:, :rows] for each in (scales, zeros))
        numbers: NDArray[Any] = (matrix[first:last].astype(numpy.float32) - zero) * spread
        return numbers

    def by_row(first: int, last: int) -> "NDArray[Any]":
        spread, zero = (each[:, numpy.arange(first, last) // size] for each in (scales, zeros))
        numbers: NDArray[Any] = (matrix[:, first:last].astype(numpy.float32) - zero) * spread
        return numbers.T

    return StoredWeight(by_column if is_transposed else by_row)


def _zero_points(after: Draft, node: "NodeProto", bits: int, shape: tuple[int, ...]) -> "NDArray[Any]":
    """(columns, blocks): those of a MatMulNBits, 4-bit ones two to a byte, or the middle of all integers."""
    import numpy

    if len(node.input) < 4 or not node.input[3]:
        return numpy.full(shape, float(1 << (bits - 1)), numpy.float32)
    given = _array(after, node.input[3])
    if given.dtype != numpy.uint8:
        return given.reshape(shape)
    rows = given.reshape(shape[0], -1)
    apart = numpy.stack([rows & 15, rows >> 4], -1).reshape(shape[0], -1) if bits == 4 else rows
    return apart[:, : shape[1]].astype(numpy.float32)


def _linear(integers: "NDArray[Any]", scale: "NDArray[Any]", zero: "NDArray[Any] | None") -> StoredWeight:
    """(integers - zero) * scale, with broadcasting."""
    import numpy

    def part(array: "NDArray[Any]", first: int, last: int) -> "NDArray[Any]":
        return array[first:last] if array.ndim == integers.ndim and array.shape[0] > 1 else array

    def rows(first: int, last: int) -> "NDArray[Any]":
        numbers = integers[first:last].astype(numpy.float32)
        if zero is not None:
            numbers -= part(zero, first, last).astype(numpy.float32)
        result: NDArray[Any] = numbers * part(scale, first, last)
        return result

    return StoredWeight(rows)


def _array(draft: Draft, name: str) -> "NDArray[Any]":
    return draft.weight(name).array()


def _sums(weight: Weight, stored: StoredWeight) -> Sums:
    total = Sums()
    for first, last, numbers in _rows(weight):
        total += sums_of(numbers, stored.rows(first, last))
    return total


def _rows(weight: Weight) -> "Iterator[tuple[int, int, NDArray[Any]]]":
    """The float weight in chunks of whole rows; a row is everything after its first dimension."""
    import numpy

    width = prod(weight.shape[1:])
    step = max(1, CHUNK_ELEMENTS // width)
    for first in range(0, weight.shape[0], step):
        last = min(first + step, weight.shape[0])
        numbers = numpy.empty((last - first) * width, numpy.float32)
        weight.read(first * width, numbers)
        yield first, last, numbers.reshape(last - first, *weight.shape[1:])
