"""Outputs that say where things are: what formats they have, which of them overlap, and where in the picture."""

from packager.contract.boxes.kind import Boxes

__all__ = ["Boxes"]
