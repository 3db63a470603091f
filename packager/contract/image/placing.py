"""Where a picture lies in what a model sees: its size, what is cut off or left free, and how it was turned."""
# LEAD TO IMAGE HELPER: please read /tmp/x/image/FROM_LEAD.txt now, then delete this line.

from dataclasses import dataclass
from typing import Literal

from packager.contract.writer import Writer
from packager.specs import ElementType

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


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The picture as it lies in memory. All are values of the graph without dimensions."""

    height: str
    """int64, as the width"""
    width: str
    is_swapped: str
    """bool, as those below: see TURNS"""
    is_mirrored: str
    is_flipped: str


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How large the upright picture is made, and where it begins in what the core sees: int64, no dimensions."""

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
    import numpy

    size = writer.node("Shape", pixels)
    known = writer.node("Clip", orientation, writer.integer(0), writer.integer(len(TURNS) - 1))
    tables = [writer.constant(numpy.array(each)) for each in zip(*TURNS, strict=True)]
    is_swapped, is_mirrored, is_flipped = (writer.node("Gather", table, known, axis=0) for table in tables)
    return Stored(
        height=writer.node("Gather", size, 0, axis=0),
        width=writer.node("Gather", size, 1, axis=0),
        is_swapped=is_swapped,
        is_mirrored=is_mirrored,
        is_flipped=is_flipped,
    )


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
        return writer.integer(fitting.width), writer.integer(fitting.height)
    # An integer division by zero would end the process; an empty picture gets an error from its resizing.
    wide, high = (writer.node("Max", size, writer.integer(1)) for size in (width, height))
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
    return writer.node("Div", writer.node("Mul", one, to), other)


def _rounded_ratio(writer: Writer, one: str, to: int, other: str) -> str:
    """`one * to / other` rounded, halves to even numbers; at least 1."""
    parts = (writer.cast(each, ElementType.DOUBLE) for each in (writer.node("Mul", one, to), other))
    rounded = writer.node("Round", writer.node("Div", *parts))
    return _at_least(writer, 1, writer.cast(rounded, ElementType.INT64))


def _at_least(writer: Writer, least: int, value: str) -> str:
    return writer.node("Max", value, writer.integer(least))


def _at_most(writer: Writer, most: int, value: str) -> str:
    return writer.node("Min", value, writer.integer(most))


def _start(writer: Writer, fitting: Fitting, made: str, size: int) -> str:
    """Where `made` pixels begin in `size` pixels of the core."""
    if fitting.resize == "stretch" or (fitting.resize == "letterbox" and fitting.align == "start"):
        return writer.integer(0)
    free = writer.node("Sub", size, made)
    if fitting.resize == "letterbox":
        return writer.node("Div", free, 2)
    # Half of it, halves to even numbers: Python's round(), which torchvision's center_crop uses.
    half = writer.node("Mul", writer.cast(free, ElementType.FLOAT), 0.5)
    return writer.cast(writer.node("Round", half), ElementType.INT64)


def positions(writer: Writer, fitting: Fitting, picture: Stored, made: Fit) -> str:
    """int64 [core height, core width]: which pixel of the stored and resized picture lies there, counted row by row.

    Where the core sees nothing of the picture, the number is that of a pixel behind the last one.
    """
    _, stored_width = swapped(writer, picture, made.height, made.width)
    one = writer.integer(1)
    row_step, column_step = swapped(writer, picture, stored_width, one)
    rows = _counted(writer, fitting.height, made.top)
    columns = _counted(writer, fitting.width, made.left)
    row_starts = _steps(writer, rows, made.height, picture.is_flipped, row_step)
    column_starts = _steps(writer, columns, made.width, picture.is_mirrored, column_step)
    found = writer.node("Add", _upended(writer, row_starts), column_starts)
    if fitting.resize != "letterbox":
        return found
    inside = writer.node(
        "And", _upended(writer, _inside(writer, rows, made.height)), _inside(writer, columns, made.width)
    )
    return writer.node("Where", inside, found, writer.node("Mul", made.height, made.width))


def _counted(writer: Writer, size: int, start: str) -> str:
    """int64 [size]: rows or columns of the resized upright picture."""
    return writer.node("Sub", writer.integers(*range(size)), start)


def _steps(writer: Writer, places: str, made: str, is_reversed: str, step: str) -> str:
    last = writer.node("Sub", made, 1)
    return writer.node("Mul", writer.node("Where", is_reversed, writer.node("Sub", last, places), places), step)


def _upended(writer: Writer, values: str) -> str:
    """[size] as [size, 1]."""
    return writer.node("Unsqueeze", values, [1])


def _inside(writer: Writer, places: str, made: str) -> str:
    return writer.node(
        "And", writer.node("GreaterOrEqual", places, writer.integer(0)), writer.node("Less", places, made)
    )
