"""Samples a mask at each pixel of the upright picture."""

from dataclasses import dataclass

from packager.contract.kind import Placement
from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Along:
    """One direction, as values in the graph."""

    centres: str
    """int64 [pixels]: positions of the picture's pixel centres in the mask, times `unit`"""
    unit: str
    """int64 [1]"""
    is_seen: str
    """bool [pixels]: whether the position is within the mask"""
    count: str
    """int64, no dimensions: places of the mask"""


def picked(writer: Writer, planes: list[str], placement: Placement) -> tuple[str, ...]:
    """Each of `planes` [h, w] in the picture's size: the place that contains the pixel's centre.

    Pixels that the model has not seen are 0: an extra row and column after the mask's last.
    """
    down, across = _directions(writer, planes[0], placement)
    rows, columns = (_places(writer, along) for along in (down, across))
    padded = [writer.node("Pad", plane, [0, 0, 1, 1]) for plane in planes]
    return tuple(writer.node("Gather", writer.node("Gather", plane, columns, axis=1), rows, axis=0) for plane in padded)


def interpolated(writer: Writer, plane: str, placement: Placement) -> str:
    """`plane` [h, w] in the picture's size, linearly interpolated between the centres of places; 0 for pixels that the
    model has not seen."""
    down, across = _directions(writer, plane, placement)
    return _mixed(writer, _mixed(writer, plane, across, axis=1), down, axis=0)


def _directions(writer: Writer, plane: str, placement: Placement) -> tuple[Along, Along]:
    """Vertical and horizontal direction."""
    height, width = (
        writer.node("Squeeze", writer.node("Shape", plane, start=axis, end=axis + 1), [0]) for axis in (0, 1)
    )
    down = _along(writer, placement.height, placement.made_height, placement.offset_y, (height, placement.core_height))
    across = _along(writer, placement.width, placement.made_width, placement.offset_x, (width, placement.core_width))
    return down, across


def _along(writer: Writer, pixels: str, made: str, offset: str, places: tuple[str, int]) -> Along:
    """One direction; `places` are those of the mask and of the core's picture.

    The centre of pixel i is at `((i + 1/2) made / pixels + offset) count / core`.
    """
    count, core = places
    end = writer.node("ReduceMax", pixels, [0], keepdims=0)
    numbers = writer.node("Range", writer.integer(0), end, writer.integer(1))
    odd = writer.node("Add", writer.node("Mul", numbers, writer.integer(2)), writer.integer(1))
    twice = writer.node("Mul", pixels, writer.integer(2))
    seen = writer.node("Add", writer.node("Mul", odd, made), writer.node("Mul", offset, twice))
    centres = writer.node("Mul", seen, count)
    unit = writer.node("Mul", twice, writer.integer(core))
    is_behind_start = writer.node("GreaterOrEqual", centres, writer.integer(0))
    is_before_end = writer.node("Less", centres, writer.node("Mul", unit, count))
    is_seen = writer.node("And", is_behind_start, is_before_end)
    return Along(centres=centres, unit=unit, is_seen=is_seen, count=count)


def _places(writer: Writer, along: Along) -> str:
    """int64 [pixels]: positions in the mask, or after its end for unseen pixels."""
    places = writer.node("Div", along.centres, along.unit)
    return writer.node("Where", along.is_seen, places, along.count)


def _mixed(writer: Writer, plane: str, along: Along, *, axis: int) -> str:
    """`plane` with as many rows, or columns, as the picture has pixels."""
    # One place more than `centre / unit - 1/2`, which a seen pixel has at least -1/2 of.
    unit = writer.node("Mul", along.unit, writer.integer(2))
    behind = writer.node("Add", writer.node("Mul", along.centres, writer.integer(2)), along.unit)
    after = writer.node("Div", behind, unit)
    left_over = writer.node("Sub", behind, writer.node("Mul", after, unit))
    share = writer.node("Div", *(writer.cast(each, ElementType.DOUBLE) for each in (left_over, unit)))
    shares = [writer.cast(each, ElementType.FLOAT) for each in (writer.node("Sub", writer.double(1), share), share)]
    last = writer.node("Sub", along.count, 1)
    parts = []
    for step, part in enumerate(shares):
        wanted = writer.node("Add", after, step - 1)
        place = writer.node("Max", writer.node("Min", wanted, last), 0)
        weight = writer.node("Where", along.is_seen, part, 0.0)
        weight = weight if axis == 1 else writer.node("Unsqueeze", weight, [1])
        parts.append(writer.node("Mul", writer.node("Gather", plane, place, axis=axis), weight))
    return writer.node("Add", *parts)
