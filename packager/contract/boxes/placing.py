"""Maps the core's coordinates to the upright picture."""

from packager.contract.kind import Placement
from packager.contract.pictures import upright
from packager.graph.writer import Writer


def placed(writer: Writer, corners: str, placement: Placement | None) -> str:
    """`corners` [k, 4] of the core as pixels of the picture, clipped to it; unchanged without a picture."""
    if placement is None:
        return corners
    found, ends = upright(writer, corners, placement, pairs=2)
    return writer.node("Min", writer.node("Max", found, writer.doubles(0)), ends)
