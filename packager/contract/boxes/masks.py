"""Masks of boxes: the pixels of the upright picture that are an object's."""

from dataclasses import dataclass

from packager.contract.kind import Placement
from packager.contract.pictures import seen
from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Planes:
    """Masks as a model gives them. Names of values in the graph."""

    numbers: str
    """float [n, h, w]"""
    threshold: float
    """an object is where numbers are higher"""
    start: str
    """double [n, 2] or [2]: x and y of the corner, in the core's pixels"""
    size: str
    """double [n, 2] or [2]: width and height, in the core's pixels"""


@dataclass(frozen=True, kw_only=True)
class Line:
    """Places of all masks in one direction, as values in the graph."""

    axis: int
    """of a pixel: 0 for x, 1 for y"""
    numbers: str
    """double [places]: 0, 1, 2 ..."""
    count: str
    """double"""
    middle: str
    """double: mean of the numbers"""
    half: str
    """double: half of their count"""


def areas_of(writer: Writer, boxes: str, placement: Placement) -> str:
    """int64 [n, 4]: left, top, width and height of the pixels whose centres lie in `boxes`, float [n, 4], which lie in
    the picture; at least one pixel wide and high."""
    edges = writer.cast(writer.node("Ceil", writer.node("Sub", boxes, writer.floats(0.5))), ElementType.INT64)
    start, end = (writer.node("Slice", edges, [at], [at + 2], [1]) for at in (0, 2))
    last = writer.node("Sub", writer.node("Concat", placement.width, placement.height, axis=0), 1)
    start = writer.node("Min", start, last)
    size = writer.node("Max", writer.node("Sub", end, start), 1)
    return writer.node("Concat", start, size, axis=1)


def drawn(writer: Writer, planes: Planes, areas: str, placement: Placement) -> str:
    """uint8: the masks of `areas` one after the other, row by row, 1 where an object is.

    Masks are made one by one, so that only one of them lies in memory as floats. Interpolation is a product of
    matrices: ONNX Runtime's Resize ignores the part to resize where its size is that of the whole.
    """
    import numpy

    lines = [_line(writer, planes, axis) for axis in (0, 1)]
    at_first, steps = _steps(writer, planes, areas, lines, placement)

    def step(inner: Writer, number: str, before: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        plane, area, first, each = (
            inner.node("Gather", value, number) for value in (planes.numbers, areas, at_first, steps)
        )
        across, down = (_weights(inner, line, area, first, each) for line in lines)
        rows = inner.node("MatMul", down, plane)
        mask = inner.node("MatMul", rows, inner.node("Transpose", across, perm=[1, 0]))
        is_object = inner.node("Greater", inner.node("Reshape", mask, [-1]), inner.floats(planes.threshold))
        places = inner.node("Concat", before[0], inner.cast(is_object, ElementType.UINT8), axis=0)
        return inner.node("Identity", inner.constant(numpy.array(True))), (places,)

    count = writer.node("Squeeze", writer.node("Shape", areas, start=0, end=1), [0])
    none = writer.constant(numpy.zeros(0, numpy.uint8))
    (places,) = writer.loop(count, [(none, ElementType.UINT8)], step)
    return places


def _line(writer: Writer, planes: Planes, axis: int) -> Line:
    length = writer.node("Squeeze", writer.node("Shape", planes.numbers, start=2 - axis, end=3 - axis), [0])
    numbers = writer.cast(writer.node("Range", writer.integer(0), length, writer.integer(1)), ElementType.DOUBLE)
    count = writer.cast(length, ElementType.DOUBLE)
    half = writer.node("Mul", count, writer.double(0.5))
    middle = writer.node("Sub", half, writer.double(0.5))
    return Line(axis=axis, numbers=numbers, count=count, middle=middle, half=half)


def _steps(writer: Writer, planes: Planes, areas: str, lines: list[Line], placement: Placement) -> tuple[str, str]:
    """double [n, 2], both: where the centre of the first pixel of each area is among places, x before y, and how far
    it is from there to the next pixel."""
    left_top = writer.cast(writer.node("Slice", areas, [0], [2], [1]), ElementType.DOUBLE)
    both = [
        writer.node("Sub", seen(writer, writer.node("Add", left_top, writer.doubles(half)), placement), planes.start)
        for half in (0.5, 1.5)
    ]
    counts = [writer.node("Unsqueeze", line.count, [0]) for line in lines]
    share = writer.node("Div", writer.node("Concat", *counts, axis=0), planes.size)
    first, second = (writer.node("Mul", each, share) for each in both)
    return writer.node("Sub", first, writer.doubles(0.5)), writer.node("Sub", second, first)


def _weights(writer: Writer, line: Line, area: str, first: str, step: str) -> str:
    """float [pixels, places]: weights of places for each pixel of `area` in one direction; none for pixels that the
    mask does not cover."""
    size, first, step = (
        writer.node("Gather", each, writer.integer(at))
        for each, at in ((area, line.axis + 2), (first, line.axis), (step, line.axis))
    )
    pixels = writer.node("Range", writer.integer(0), size, writer.integer(1))
    moved = writer.node("Mul", writer.cast(pixels, ElementType.DOUBLE), step)
    at = writer.node("Unsqueeze", writer.node("Add", first, moved), [1])
    distance = writer.node("Abs", writer.node("Sub", at, line.numbers))
    weights = writer.node("Max", writer.node("Sub", writer.double(1), distance), writer.double(0))
    off = writer.node("Abs", writer.node("Sub", at, line.middle))
    is_covered = writer.node("LessOrEqual", off, line.half)
    return writer.cast(writer.node("Where", is_covered, weights, writer.double(0)), ElementType.FLOAT)
