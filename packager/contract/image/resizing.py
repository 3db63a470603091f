"""Makes pictures larger or smaller, in standard operators."""

from typing import Literal

from packager.contract.image.placing import Stored
from packager.contract.writer import Writer
from packager.specs import ElementType

Filter = Literal["bilinear", "bicubic", "nearest"]

MODES = {"bilinear": "linear", "bicubic": "cubic"}
CUBIC_COEFFICIENT = -0.5
"""Catmull and Rom's, which Pillow takes; torch and OpenCV take -0.75."""


def resized(
    writer: Writer, pixels: str, picture: Stored, *, height: str, width: str, filter_: Filter, antialias: bool
) -> str:
    """uint8 [height * width, channels]: the pixels of the stored picture made `height` x `width`, row by row."""
    if filter_ == "nearest":
        return _nearest(writer, pixels, picture, height, width)
    if not antialias:
        return _interpolated(writer, pixels, picture, height, width)
    batch = writer.node("Unsqueeze", pixels, [0])
    channels = writer.node("Shape", pixels, start=2)
    sizes = writer.node("Concat", [1], _listed(writer, height), _listed(writer, width), channels, axis=0)
    made = writer.node(
        "Resize",
        batch,
        "",
        "",
        sizes,
        mode=MODES[filter_],
        antialias=1,
        exclude_outside=1,
        coordinate_transformation_mode="half_pixel",
        cubic_coeff_a=CUBIC_COEFFICIENT,
    )
    return writer.node("Flatten", made, axis=3)


def _listed(writer: Writer, value: str) -> str:
    """[1] of a value without dimensions."""
    return writer.node("Unsqueeze", value, [0])


def _nearest(writer: Writer, pixels: str, picture: Stored, height: str, width: str) -> str:
    """Each pixel is the one in which its centre lies."""
    rows, _ = _divided(writer, *_centres(writer, picture.height, height))
    columns, _ = _divided(writer, *_centres(writer, picture.width, width))
    taken = writer.node("Gather", writer.node("Gather", pixels, rows, axis=0), columns, axis=1)
    return writer.node("Flatten", taken, axis=2)


def _interpolated(writer: Writer, pixels: str, picture: Stored, height: str, width: str) -> str:
    """Each pixel is made of the four whose centres lie around its own, rounded once, halves up."""
    rows, row_weights = _neighbours(writer, picture.height, height)
    columns, column_weights = _neighbours(writer, picture.width, width)
    taken = writer.node("Gather", writer.node("Gather", pixels, rows, axis=0), columns, axis=2)
    numbers = writer.cast(taken, ElementType.FLOAT)  # [height, 2, width, 2, channels]
    weighted = writer.node("Mul", numbers, writer.node("Unsqueeze", row_weights, [2, 3, 4]))
    in_height = writer.node("ReduceSum", weighted, [1], keepdims=0)
    weighted = writer.node("Mul", in_height, writer.node("Unsqueeze", column_weights, [2]))
    made = writer.node("ReduceSum", weighted, [2], keepdims=0)
    rounded = writer.cast(writer.node("Add", made, writer.number(0.5)), ElementType.UINT8)
    return writer.node("Flatten", rounded, axis=2)


def _centres(writer: Writer, size: str, made: str) -> tuple[str, str]:
    """Where the centres of `made` pixels lie among `size` pixels: numerators int64 [made], and the denominator."""
    numbers = writer.node("Range", writer.integer(0), made, writer.integer(1))
    odd = writer.node("Add", writer.node("Mul", numbers, 2), 1)
    return writer.node("Mul", odd, size), writer.node("Mul", made, 2)


def _divided(writer: Writer, numerators: str, denominator: str) -> tuple[str, str]:
    """Whole parts, and what is left over."""
    whole = writer.node("Div", numerators, denominator)
    return whole, writer.node("Sub", numerators, writer.node("Mul", whole, denominator))


def _neighbours(writer: Writer, size: str, made: str) -> tuple[str, str]:
    """int64 and float [made, 2]: the two pixels around each centre, and how much of each; at the ends only the last."""
    centres, denominator = _centres(writer, size, made)
    from_centre = writer.node("Max", writer.node("Sub", centres, made), writer.integer(0))
    first, left_over = _divided(writer, from_centre, denominator)
    last = writer.node("Sub", size, 1)
    second = writer.node("Min", writer.node("Add", first, 1), last)
    parts = (writer.cast(each, ElementType.FLOAT) for each in (left_over, denominator))
    share = writer.node("Div", *parts)
    rest = writer.node("Sub", writer.number(1), share)
    return _paired(writer, first, second), _paired(writer, rest, share)


def _paired(writer: Writer, one: str, other: str) -> str:
    pair = (writer.node("Unsqueeze", each, [1]) for each in (one, other))
    return writer.node("Concat", *pair, axis=1)
