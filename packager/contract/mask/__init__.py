"""The kind `mask`: a class for each place of a picture."""

from packager.contract.mask.kind import Mask

__all__ = ["Mask"]
