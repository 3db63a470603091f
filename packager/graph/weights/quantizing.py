"""Quantizes weights to small integers, in two passes over their chunks: ranges, then rounding."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.graph.weights.groups import Groups, WeightBox
from packager.graph.weights.reading import Weight
from packager.graph.weights.rounding import PACKED, Element, Parameters, pack, range_parameters, round_in_place
from packager.graph.weights.streaming import CHUNK_ELEMENTS, THREADS, Scratch, in_order

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


def weight_parameters(
    weight: Weight,
    groups: Groups,
    element: Element,
    *,
    is_symmetric: bool,
    threads: int = THREADS,
    chunk: int = CHUNK_ELEMENTS,
) -> Parameters:
    """Parameters from the minimum and maximum of every group; scale 1 for a group of zeros.

    Raises ModelError for a weight with NaN or an infinity.
    """
    low, high = _ranges(weight, groups, threads, chunk)
    found = range_parameters(low, high, element, is_symmetric=is_symmetric, name=weight.name)
    shape = groups.parameter_shape
    return replace(found, scale=found.scale.reshape(shape), zero_point=found.zero_point.reshape(shape))


def _ranges(
    weight: Weight, groups: Groups, threads: int, chunk: int
) -> tuple["NDArray[numpy.float32]", "NDArray[numpy.float32]"]:
    import numpy

    scratch = Scratch()

    def measure(box: WeightBox) -> tuple[WeightBox, "NDArray[Any]", "NDArray[Any]"]:
        numbers = scratch.floats(box.size)
        weight.read(box.start, numbers)
        return box, *groups.extremes(box, numbers)

    low, high = numpy.zeros(groups.scales, numpy.float32), numpy.zeros(groups.scales, numpy.float32)
    for box, least, most in in_order(measure, groups.boxes(chunk), threads):
        place = groups.place(box)
        numpy.minimum(low[place], least, out=low[place])
        numpy.maximum(high[place], most, out=high[place])
    return low, high


def quantized(
    weight: Weight, groups: Groups, parameters: Parameters, *, threads: int = THREADS, chunk: int = CHUNK_ELEMENTS
) -> Iterator[bytes]:
    """The bytes of the weight as integers, chunk by chunk: round half to even, saturating; 4-bit integers two to a
    byte.

    The same bytes for any number of threads. Raises ModelError for a weight with NaN.
    """
    scratch = Scratch()
    scale, zero = (array.reshape(groups.scales) for array in (parameters.scale, parameters.zero_point))

    def convert(box: WeightBox) -> tuple[int, "NDArray[Any]"]:
        numbers = scratch.floats(box.size)
        weight.read(box.start, numbers)
        place = groups.place(box)
        try:
            return box.start, _rounded(
                numbers, groups, box, replace(parameters, scale=scale[place], zero_point=zero[place])
            )
        except FloatingPointError as error:
            raise ModelError(
                f"tensor '{weight.name}' has values that are not finite", hint="train or export the model again"
            ) from error

    if parameters.element not in PACKED:
        for _, integers in in_order(convert, groups.boxes(chunk), threads):
            yield integers.tobytes()
        return

    def convert_and_pack(box: WeightBox) -> bytes:
        start, integers = convert(box)
        return pack(integers, is_second=start % 2 == 1)

    halves = ((box.start + box.size) % 2 == 1 for box in groups.boxes(chunk))
    yield from _joined(zip(in_order(convert_and_pack, groups.boxes(chunk), threads), halves, strict=True))


def _rounded(
    numbers: "NDArray[numpy.float32]",
    groups: Groups,
    box: WeightBox,
    parameters: Parameters,
) -> "NDArray[Any]":
    """The integers for the `numbers` of `box`, flat; `parameters` are those of the box, in three dimensions."""
    import numpy

    scale, zero, element = parameters.scale, parameters.zero_point, parameters.element
    rounded = partial(round_in_place, element=element, is_symmetric=parameters.is_symmetric)
    if not groups.block_size:
        return rounded(numbers.reshape(box.shape), scale, zero).reshape(-1)
    parts = [
        rounded(part, scale[:, where, None], zero[:, where, None]).reshape(box.shape[0], -1)
        for part, where in groups.blocks(box, numbers)
    ]
    return numpy.concatenate(parts, 1).reshape(-1) if len(parts) > 1 else parts[0].reshape(-1)


def _joined(chunks: "Iterator[tuple[bytes, bool]]") -> Iterator[bytes]:
    """Joins packed chunks, each with whether the last byte has only its first half: the next chunk has the other."""
    held = b""
    for chunk, is_half in chunks:
        content = bytes([held[0] | chunk[0]]) + chunk[1:] if held else chunk
        held = content[-1:] if is_half else b""
        yield content[:-1] if is_half else content
    yield held


def dequantized(integers: "NDArray[Any]", groups: Groups, parameters: Parameters) -> "NDArray[numpy.float32]":
    """The numbers that `integers`, of the tensor's shape, represent: (q - zero_point) * scale."""
    import numpy

    def fitted(array: "NDArray[Any]") -> "NDArray[Any]":
        cube = array.reshape(groups.scales)
        return numpy.repeat(cube, groups.block_size, 1)[:, : groups.shape[1]] if groups.block_size else cube

    shifted = integers.reshape(groups.shape).astype(numpy.int64) - fitted(parameters.zero_point).astype(numpy.int64)
    numbers: NDArray[numpy.float32] = shifted.astype(numpy.float32) * fitted(parameters.scale)
    return numbers.reshape(integers.shape)
