"""The kinds `boxes` and `instances`: formats of boxes, suppression of overlaps, positions in the picture, masks."""

from packager.contract.boxes.instances import Instances
from packager.contract.boxes.kind import Boxes

__all__ = ["Boxes", "Instances"]
