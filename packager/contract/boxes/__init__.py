"""The kind `boxes`: formats of boxes, suppression of overlaps, and positions in the picture."""

from packager.contract.boxes.kind import Boxes

__all__ = ["Boxes"]
