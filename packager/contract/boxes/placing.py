"""Maps the core's coordinates to the upright picture."""

from packager.contract.kind import Placement
from packager.core.signature import ElementType
from packager.graph.writer import Writer


def placed(writer: Writer, corners: str, placement: Placement | None) -> str:
    """`corners` [k, 4] of the core as pixels of the picture, clipped to it; unchanged without a picture."""
    if placement is None:
        return corners
    offsets = _twice(writer, placement.offset_x, placement.offset_y)
    made = _twice(writer, placement.made_width, placement.made_height)
    ends = _twice(writer, placement.width, placement.height)
    seen = writer.node("Sub", writer.cast(corners, ElementType.DOUBLE), offsets)
    upright = writer.node("Max", writer.node("Div", writer.node("Mul", seen, ends), made), writer.doubles(0))
    return writer.node("Min", upright, ends)


def _twice(writer: Writer, x: str, y: str) -> str:
    """double [4]: for left, top, right and bottom."""
    return writer.cast(writer.node("Concat", x, y, x, y, axis=0), ElementType.DOUBLE)
