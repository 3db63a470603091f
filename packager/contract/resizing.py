"""Resizes pictures with standard operators."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from packager.core.signature import ElementType
from packager.graph.writer import Writer

Filter = Literal["bilinear", "bicubic", "nearest"]

MODES = {"bilinear": "linear", "bicubic": "cubic"}
CUBIC_COEFFICIENT = -0.5
"""Catmull and Rom's coefficient, used by Pillow; torch and OpenCV use -0.75"""


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Lengths of an array of pixels, [height, width, channels]: int64, one element each, of a hidden length.

    Nodes are written for those that are used.
    """

    writer: Writer
    pixels: str
    nothing: str

    @cached_property
    def height(self) -> str:
        return self._length(0)

    @cached_property
    def width(self) -> str:
        return self._length(1)

    @cached_property
    def channels(self) -> str:
        return self._length(2)

    def _length(self, axis: int) -> str:
        length = self.writer.node("Shape", self.pixels, start=axis, end=axis + 1)
        return self.writer.node("Add", length, self.nothing)


def resized(
    writer: Writer, pixels: str, sides: Sides, *, height: str, width: str, filter_: Filter, antialias: bool
) -> str:
    """uint8 [height * width, channels]: `pixels` resized to `height` x `width`, row by row."""
    if filter_ == "nearest":
        return _nearest(writer, pixels, sides, height, width)
    if not antialias:
        return _interpolated(writer, pixels, sides, height, width)
    batch = writer.node("Unsqueeze", pixels, [0])
    lengths = writer.node("Concat", writer.integers(1), height, width, sides.channels, axis=0)
    made = writer.node(
        "Resize",
        batch,
        "",
        "",
        writer.node("Reshape", lengths, writer.integers(4)),
        mode=MODES[filter_],
        antialias=1,
        exclude_outside=1,
        coordinate_transformation_mode="half_pixel",
        cubic_coeff_a=CUBIC_COEFFICIENT,
    )
    return writer.node("Flatten", made, axis=3)


def _nearest(writer: Writer, pixels: str, sides: Sides, height: str, width: str) -> str:
    """Each pixel is the one that contains its centre."""
    rows, _ = _divided(writer, *_centres(writer, sides.height, height))
    columns, _ = _divided(writer, *_centres(writer, sides.width, width))
    taken = writer.node("Gather", pixels, rows, axis=0)
    taken = writer.node("Gather", taken, columns, axis=1)
    return writer.node("Flatten", taken, axis=2)


def _interpolated(writer: Writer, pixels: str, sides: Sides, height: str, width: str) -> str:
    """Each pixel is computed from the four whose centres surround its own, rounded once, halves up."""
    upper, lower, row_share = _neighbours(writer, sides.height, height)
    left, right, column_share = _neighbours(writer, sides.width, width)
    both_rows = writer.node("Concat", *_upended(writer, upper, lower), axis=1)
    both_columns = writer.node("Concat", left, right, axis=0)
    rows = writer.node("Gather", pixels, both_rows, axis=0)
    taken = writer.node("Gather", rows, both_columns, axis=2)
    numbers = writer.cast(writer.node("Reshape", taken, [0, 2, -1]), ElementType.DOUBLE)
    upper_share = writer.node("Sub", writer.double(1), row_share)
    weights = writer.node("Concat", *_upended(writer, upper_share, row_share), axis=1)
    made = writer.node("MatMul", writer.node("Unsqueeze", weights, [1]), numbers)  # a matrix product is the fastest sum
    lengths = writer.node("Concat", writer.integers(-1, 2), width, sides.channels, axis=0)
    halves = writer.node("Reshape", made, lengths)
    first, second = writer.nodes("Split", 2, halves, axis=1, num_outputs=2)
    share = writer.node("Unsqueeze", column_share, [1])
    between = writer.node("Add", first, writer.node("Mul", writer.node("Sub", second, first), share))
    rounded = writer.cast(writer.node("Add", between, writer.double(0.5)), ElementType.UINT8)
    return writer.node("Flatten", rounded, axis=3)


def _centres(writer: Writer, size: str, made: str) -> tuple[str, str]:
    """Positions of the centres of `made` pixels among `size` pixels: numerators [made], and the denominator; int64."""
    numbers = counted(writer, made)
    odd = writer.node("Add", writer.node("Mul", numbers, writer.integer(2)), writer.integer(1))
    return writer.node("Mul", odd, size), writer.node("Mul", made, writer.integer(2))


def counted(writer: Writer, size: str) -> str:
    """int64 [size]: the numbers from 0 on; `size` has one element."""
    end = writer.node("ReduceMax", size, [0], keepdims=0)
    return writer.node("Range", writer.integer(0), end, writer.integer(1))


def _divided(writer: Writer, numerators: str, denominator: str) -> tuple[str, str]:
    """Quotients and remainders."""
    whole = writer.node("Div", numerators, denominator)
    return whole, writer.node("Sub", numerators, writer.node("Mul", whole, denominator))


def _neighbours(writer: Writer, size: str, made: str) -> tuple[str, str, str]:
    """[made], three times: the pixels whose centres lie before and after each centre, int64, and the weight of the
    latter, double. Beyond the outer centres, both are the outer pixel."""
    centres, denominator = _centres(writer, size, made)
    from_first = writer.node("Max", writer.node("Sub", centres, made), writer.integer(0))
    before, left_over = _divided(writer, from_first, denominator)
    one = writer.integer(1)
    behind = writer.node("Min", writer.node("Add", before, one), writer.node("Sub", size, one))
    shares = [writer.cast(each, ElementType.DOUBLE) for each in (left_over, denominator)]
    return before, behind, writer.node("Div", *shares)


def _upended(writer: Writer, *values: str) -> tuple[str, ...]:
    """Each [size] as [size, 1]."""
    return tuple(writer.node("Unsqueeze", each, [1]) for each in values)
