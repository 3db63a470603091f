"""Outputs that say of each place of a picture what is there."""

from packager.contract.mask.kind import Mask

__all__ = ["Mask"]
