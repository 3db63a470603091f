"""Where a picture lies in what a model sees: its size, what is cut off or left free, and how it was turned."""

from dataclasses import dataclass
from typing import Literal

from packager.contract.writer import Writer
from packager.core.signature import ElementType

Resize = Literal["stretch", "crop", "letterbox"]
Align = Literal["center", "start"]

UPRIGHT = (False, False, False)
TURNS = (
    UPRIGHT,
    UPRIGHT,
    (False, True, False),
    (False, True, True),
    (False, False, True),
    (True, False, False),
    (True, True, False),
    (True, True, True),
    (True, False, True),
    UPRIGHT,
)
"""EXIF's orientation -> what makes the upright picture of the stored one: whether width and height change places, then
whether columns, then whether rows are counted from the other end. Numbers that EXIF does not know count as upright."""


OUTSIDE = 2.0**52
"""A place behind every pixel: sums of it are exact."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The picture as it lies in memory. All are values of the graph with one element, of a length that is not known."""

    height: str
    """double, as the width and the number of channels"""
    width: str
    channels: str
    is_swapped: str
    """bool, as those below: see TURNS"""
    is_mirrored: str
    is_flipped: str
    nothing: str
    """as in Writer"""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How large the upright picture is made, and where it begins in what the core sees: whole numbers, double, one
    element each."""

    width: str
    height: str
    left: str
    """below 0 where columns are cut off"""
    top: str


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """What decides how a picture comes into a core."""

    resize: Resize
    resize_to: int | None
    align: Align
    height: int
    """of what the core sees"""
    width: int


def stored(writer: Writer, pixels: str, orientation: str) -> Stored:
    """What is asked of `pixels`, in values whose length nobody knows before the model runs.

    QNN and CoreML take whatever has a static shape, sizes among it, and compute it in 16 bits if they like. No provider
    of a phone takes a node with an operand of open length; and all that is computed of these values has one.
    """
    nothing = writer.node("Squeeze", writer.node("NonZero", writer.node("Shape", pixels, start=2)), [0])
    sides = (writer.node("Shape", pixels, start=axis, end=axis + 1) for axis in range(3))
    height, width, channels = (_double(writer, side, nothing) for side in sides)
    number = _double(writer, orientation, nothing)
    is_swapped, is_mirrored, is_flipped = (_is_one_of(writer, number, turns) for turns in zip(*TURNS, strict=True))
    return Stored(
        height=height,
        width=width,
        channels=channels,
        is_swapped=is_swapped,
        is_mirrored=is_mirrored,
        is_flipped=is_flipped,
        nothing=nothing,
    )


def _double(writer: Writer, value: str, nothing: str) -> str:
    """`value`, int64 with one element, as double; `nothing` is 0, in one element of an open length."""
    return writer.cast(writer.node("Add", value, nothing), ElementType.DOUBLE)


def _is_one_of(writer: Writer, number: str, turns: tuple[bool, ...]) -> str:
    """bool: whether `turns` is True at `number`, which may be none of its places."""
    import numpy

    wanted = numpy.array([index for index, turn in enumerate(turns) if turn], numpy.float64)
    distance = writer.node("Abs", writer.node("Sub", writer.node("Unsqueeze", number, [1]), writer.constant(wanted)))
    return writer.node("Less", writer.node("ReduceMin", distance, [1], keepdims=0), writer.double(0.5))


def swapped(writer: Writer, picture: Stored, one: str, other: str) -> tuple[str, str]:
    """Both, or both the other way round: between sizes of the stored picture and those of the upright one."""
    return (
        writer.node("Where", picture.is_swapped, other, one),
        writer.node("Where", picture.is_swapped, one, other),
    )


def fit(writer: Writer, fitting: Fitting, width: str, height: str) -> Fit:
    """How a picture that is `width` x `height` when it is upright comes into the core."""
    made_width, made_height = _size(writer, fitting, width, height)
    return Fit(
        width=made_width,
        height=made_height,
        left=_start(writer, fitting, made_width, fitting.width),
        top=_start(writer, fitting, made_height, fitting.height),
    )


def _size(writer: Writer, fitting: Fitting, width: str, height: str) -> tuple[str, str]:
    if fitting.resize == "stretch":
        return writer.doubles(fitting.width), writer.doubles(fitting.height)
    # An empty picture gets an error from its resizing, and must get that far.
    wide, high = (_at_least(writer, 1, size) for size in (width, height))
    if fitting.resize == "letterbox":
        return (
            _at_most(writer, fitting.width, _rounded_ratio(writer, wide, fitting.height, high)),
            _at_most(writer, fitting.height, _rounded_ratio(writer, high, fitting.width, wide)),
        )
    if fitting.resize_to is not None:
        short, to = writer.node("Min", wide, high), fitting.resize_to
        return _ratio(writer, wide, to, short), _ratio(writer, high, to, short)
    return (
        _at_least(writer, fitting.width, _ratio(writer, wide, fitting.height, high)),
        _at_least(writer, fitting.height, _ratio(writer, high, fitting.width, wide)),
    )


def _ratio(writer: Writer, one: str, to: int, other: str) -> str:
    """`one * to / other`, what is behind the point cut off."""
    return writer.node("Floor", writer.node("Div", writer.node("Mul", one, writer.double(to)), other))


def _rounded_ratio(writer: Writer, one: str, to: int, other: str) -> str:
    """`one * to / other` rounded, halves to even numbers; at least 1."""
    ratio = writer.node("Div", writer.node("Mul", one, writer.double(to)), other)
    return _at_least(writer, 1, writer.node("Round", ratio))


def _at_least(writer: Writer, least: int, value: str) -> str:
    return writer.node("Max", value, writer.double(least))


def _at_most(writer: Writer, most: int, value: str) -> str:
    return writer.node("Min", value, writer.double(most))


def _start(writer: Writer, fitting: Fitting, made: str, size: int) -> str:
    """Where `made` pixels begin in `size` pixels of the core."""
    if fitting.resize == "stretch" or (fitting.resize == "letterbox" and fitting.align == "start"):
        return writer.doubles(0)
    half = writer.node("Mul", writer.node("Sub", writer.double(size), made), writer.double(0.5))
    # Of what is cut off: halves to even numbers, Python's round(), which torchvision's center_crop uses.
    return writer.node("Floor" if fitting.resize == "letterbox" else "Round", half)


def positions(writer: Writer, fitting: Fitting, picture: Stored, made: Fit) -> str:
    """int64 [core height, core width]: which pixel of the stored and resized picture lies there, counted row by row.

    Where the core sees nothing of the picture, the number is that of a pixel behind the last one.
    """
    _, stored_width = swapped(writer, picture, made.height, made.width)
    one = writer.doubles(1)
    row_step, column_step = swapped(writer, picture, stored_width, one)
    rows = _counted(writer, picture, fitting.height, made.top)
    columns = _counted(writer, picture, fitting.width, made.left)
    row_starts = _steps(writer, rows, made.height, picture.is_flipped, row_step)
    column_starts = _steps(writer, columns, made.width, picture.is_mirrored, column_step)
    if fitting.resize == "letterbox":
        row_starts = _inside(writer, rows, made.height, row_starts)
        column_starts = _inside(writer, columns, made.width, column_starts)
    found = writer.node("Add", writer.node("Unsqueeze", row_starts, [1]), column_starts)
    if fitting.resize == "letterbox":
        found = writer.node("Min", found, writer.node("Mul", made.height, made.width))
    return writer.cast(found, ElementType.INT64)


def _counted(writer: Writer, picture: Stored, size: int, start: str) -> str:
    """double, as many as `size`: rows or columns of the resized upright picture."""
    least = writer.node("Min", picture.height, writer.double(0))
    end = writer.node("ReduceMax", writer.node("Add", least, writer.double(size)), [0], keepdims=0)
    return writer.node("Sub", writer.node("Range", writer.double(0), end, writer.double(1)), start)


def _steps(writer: Writer, places: str, made: str, is_reversed: str, step: str) -> str:
    last = writer.node("Sub", made, writer.double(1))
    return writer.node("Mul", writer.node("Where", is_reversed, writer.node("Sub", last, places), places), step)


def _inside(writer: Writer, places: str, made: str, found: str) -> str:
    """`found` where `places` are from 0 to `made`; else OUTSIDE."""
    outside = writer.double(OUTSIDE)
    before_end = writer.node("Where", writer.node("Less", places, made), found, outside)
    return writer.node("Where", writer.node("Less", places, writer.double(0)), outside, before_end)
