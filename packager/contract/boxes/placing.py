"""From what the core sees to the upright picture."""

from packager.contract.kind import Placement
from packager.contract.writer import Writer
from packager.specs import ElementType


def placed(writer: Writer, corners: str, placement: Placement | None) -> str:
    """`corners` [m, 4] of what the core sees, in pixels of the picture and within it; as they are without one."""
    if placement is None:
        return corners
    offsets = _twice(writer, placement.offset_x, placement.offset_y)
    scales = _twice(writer, placement.scale_x, placement.scale_y)
    ends = (writer.cast(end, ElementType.FLOAT) for end in (placement.width, placement.height))
    upright = writer.node("Div", writer.node("Sub", corners, offsets), scales)
    return writer.node("Min", writer.node("Max", upright, [0.0]), _twice(writer, *ends))


def _twice(writer: Writer, x: str, y: str) -> str:
    """float [4]: for left, top, right and bottom."""
    across, down = (writer.node("Reshape", value, [1]) for value in (x, y))
    return writer.node("Concat", across, down, across, down, axis=0)


def in_pixels(writer: Writer, corners: str, across: float, down: float) -> str:
    """`corners` [m, 4] in another unit."""
    return corners if across == down == 1 else writer.node("Mul", corners, [float(across), float(down)] * 2)
