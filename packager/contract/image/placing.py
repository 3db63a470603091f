"""Position of a picture in the model's input: size, cropping, padding and orientation."""

from dataclasses import dataclass
from typing import Literal

from packager.contract.resizing import Sides, counted
from packager.core.crops import TURNS
from packager.graph.writer import Writer

Resize = Literal["stretch", "crop", "letterbox", "height"]
Align = Literal["center", "start"]

OUTSIDE = 1 << 52
"""position after every pixel"""


@dataclass(frozen=True, kw_only=True)
class StoredPicture:
    """The picture in memory. All are values of the graph with one element, of a hidden length."""

    sides: Sides
    is_swapped: str
    """bool, like those below: see TURNS"""
    is_mirrored: str
    is_flipped: str
    nothing: str
    """as in Writer"""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Size of the upright picture after resizing, and its start in the core's picture: int64, one element each."""

    width: str
    height: str
    left: str
    """negative if columns are cut off"""
    top: str


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Settings that determine how a picture fits the core."""

    resize: Resize
    resize_to: int | None
    align: Align
    height: int
    """of the core's picture"""
    width: int | None
    """None where it follows the picture's proportions"""


def stored(writer: Writer, pixels: str, orientation: str) -> StoredPicture:
    """Properties of `pixels`, as values of a hidden length.

    QNN and CoreML take nodes with static shapes, including sizes, and may compute them in 16 bits. No provider of a
    phone takes a node with an operand of open length, so every value computed from these is safe.
    """
    nothing = writer.node("Squeeze", writer.node("NonZero", writer.node("Shape", pixels, start=2)), [0])
    number = writer.node("Add", orientation, nothing)
    is_swapped, is_mirrored, is_flipped = (_is_one_of(writer, number, turns) for turns in zip(*TURNS, strict=True))
    return StoredPicture(
        sides=Sides(writer=writer, pixels=pixels, nothing=nothing),
        is_swapped=is_swapped,
        is_mirrored=is_mirrored,
        is_flipped=is_flipped,
        nothing=nothing,
    )


def _is_one_of(writer: Writer, number: str, turns: tuple[bool, ...]) -> str:
    """bool: whether `turns` is True at `number`, which may be out of range."""
    wanted = [index for index, turn in enumerate(turns) if turn]
    distance = writer.node("Abs", writer.node("Sub", writer.node("Unsqueeze", number, [1]), wanted))
    return writer.node("Less", writer.node("ReduceMin", distance, [1], keepdims=0), writer.integer(1))


def swapped(writer: Writer, picture: StoredPicture, one: str, other: str) -> tuple[str, str]:
    """Both values, swapped if the picture is: converts between sizes of the stored picture and of the upright one."""
    return (
        writer.node("Where", picture.is_swapped, other, one),
        writer.node("Where", picture.is_swapped, one, other),
    )


def fit(writer: Writer, fitting: Fitting, width: str, height: str) -> Fit:
    """Fits a picture of upright size `width` x `height` into the core."""
    made_width, made_height = _size(writer, fitting, width, height)
    return Fit(
        width=made_width,
        height=made_height,
        left=_start(writer, fitting, made_width, fitting.width),
        top=_start(writer, fitting, made_height, fitting.height),
    )


def _size(writer: Writer, fitting: Fitting, width: str, height: str) -> tuple[str, str]:
    if fitting.width is None:
        return _open_width(writer, fitting.height, width, height), writer.integers(fitting.height)
    if fitting.resize == "stretch":
        return writer.integers(fitting.width), writer.integers(fitting.height)
    # An empty picture must get as far as the resizing, which reports the error.
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


def _open_width(writer: Writer, to: int, width: str, height: str) -> str:
    """`to * width / height`, rounded up; at least 1."""
    high = _at_least(writer, 1, height)
    numerator = writer.node("Add", writer.node("Mul", width, writer.integer(to)), high)
    return _at_least(writer, 1, writer.node("Div", writer.node("Sub", numerator, writer.integer(1)), high))


def _ratio(writer: Writer, one: str, to: int, other: str) -> str:
    """`one * to / other`, truncated."""
    return writer.node("Div", writer.node("Mul", one, writer.integer(to)), other)


def _rounded_ratio(writer: Writer, one: str, to: int, other: str) -> str:
    """`one * to / other` rounded, halves to even; at least 1."""
    # Halves up, of 2 n + d over 2 d; where nothing is left over, it was a half, and an odd number goes down again.
    numerator = writer.node("Add", writer.node("Mul", one, writer.integer(2 * to)), other)
    denominator = writer.node("Mul", other, writer.integer(2))
    up = writer.node("Div", numerator, denominator)
    left_over = writer.node("Sub", numerator, writer.node("Mul", up, denominator))
    is_half = writer.node("Sub", writer.integer(1), writer.node("Min", left_over, writer.integer(1)))
    ratio = writer.node("Sub", up, writer.node("Mul", is_half, _odd(writer, up)))
    return _at_least(writer, 1, ratio)


def _odd(writer: Writer, value: str) -> str:
    """1 where `value` is odd, else 0."""
    return writer.node("Mod", value, writer.integer(2))


def _at_least(writer: Writer, least: int, value: str) -> str:
    return writer.node("Max", value, writer.integer(least))


def _at_most(writer: Writer, most: int, value: str) -> str:
    return writer.node("Min", value, writer.integer(most))


def _start(writer: Writer, fitting: Fitting, made: str, size: int | None) -> str:
    """Start of `made` pixels within `size` pixels of the core."""
    if (
        size is None
        or fitting.resize in ("stretch", "height")
        or (fitting.resize == "letterbox" and fitting.align == "start")
    ):
        return writer.integers(0)
    if fitting.resize == "letterbox":
        return writer.node("Div", writer.node("Sub", writer.integer(size), made), writer.integer(2))
    # Halves are rounded to even, like by Python's round(), which torchvision's center_crop uses.
    cut = writer.node("Sub", made, writer.integer(size))
    half = writer.node("Div", cut, writer.integer(2))
    is_up = writer.node("Mul", _odd(writer, cut), _odd(writer, half))
    return writer.node("Neg", writer.node("Add", half, is_up))


def positions(writer: Writer, fitting: Fitting, picture: StoredPicture, made: Fit) -> str:
    """int64 [core height, core width]: index of the stored and resized pixel at each position, counted row by row.

    Positions outside the picture have the index after the last pixel.
    """
    _, stored_width = swapped(writer, picture, made.height, made.width)
    one = writer.integers(1)
    row_step, column_step = swapped(writer, picture, stored_width, one)
    rows = _counted(writer, picture, fitting.height, made.top)
    if fitting.width is None:
        columns = counted(writer, made.width)
    else:
        columns = _counted(writer, picture, fitting.width, made.left)
    row_starts = _steps(writer, rows, made.height, picture.is_flipped, row_step)
    column_starts = _steps(writer, columns, made.width, picture.is_mirrored, column_step)
    if fitting.resize == "letterbox":
        row_starts = _inside(writer, rows, made.height, row_starts)
        column_starts = _inside(writer, columns, made.width, column_starts)
    found = writer.node("Add", writer.node("Unsqueeze", row_starts, [1]), column_starts)
    if fitting.resize == "letterbox":
        found = writer.node("Min", found, writer.node("Mul", made.height, made.width))
    return found


def whole(writer: Writer, picture: StoredPicture, width: str, height: str) -> str:
    """int64 [height, width]: index of the stored pixel at each place of the upright picture, counted row by row."""
    row_step, column_step = swapped(writer, picture, picture.sides.width, writer.integers(1))
    lines = (height, picture.is_flipped, row_step), (width, picture.is_mirrored, column_step)
    rows, columns = (_steps(writer, counted(writer, size), size, turned, step) for size, turned, step in lines)
    return writer.node("Add", writer.node("Unsqueeze", rows, [1]), columns)


def _counted(writer: Writer, picture: StoredPicture, size: int, start: str) -> str:
    """int64, `size` numbers: rows or columns of the resized upright picture."""
    least = writer.node("Min", picture.sides.height, writer.integer(0))
    end = writer.node("ReduceMax", writer.node("Add", least, writer.integer(size)), [0], keepdims=0)
    return writer.node("Sub", writer.node("Range", writer.integer(0), end, writer.integer(1)), start)


def _steps(writer: Writer, places: str, made: str, is_reversed: str, step: str) -> str:
    last = writer.node("Sub", made, writer.integer(1))
    return writer.node("Mul", writer.node("Where", is_reversed, writer.node("Sub", last, places), places), step)


def _inside(writer: Writer, places: str, made: str, found: str) -> str:
    """`found` where `places` are from 0 to `made`, else OUTSIDE."""
    outside = writer.integer(OUTSIDE)
    before_end = writer.node("Where", writer.node("Less", places, made), found, outside)
    return writer.node("Where", writer.node("Less", places, writer.integer(0)), outside, before_end)
