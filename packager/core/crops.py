"""Parts of a picture in boxes: whole pixels as they are stored, so that only their bytes reach the next model.

Every language computes the same as `region_of`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.core.contract import ImageInput

if TYPE_CHECKING:
    import numpy


UPRIGHT = (False, False, False)
TURNS = (
    UPRIGHT,
    UPRIGHT,
    (False, True, False),
    (False, True, True),
    (False, False, True),
    (True, False, False),
    (True, True, False),
    (True, True, True),
    (True, False, True),
    UPRIGHT,
)
"""EXIF orientation -> conversion of the stored picture to the upright one: whether width and height are swapped, then
whether columns, then rows are reversed. Unknown orientations count as upright."""


@dataclass(frozen=True)
class Region:
    """Pixels of a picture as it is stored."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, kw_only=True)
class StoredArrays:
    """The arrays of a picture, by their names in ImageInput."""

    pixels: "numpy.ndarray"
    channels: "numpy.ndarray"
    chroma: "numpy.ndarray"
    conversion: "numpy.ndarray"
    orientation: "numpy.ndarray"

    def within(self, corners: Sequence[float]) -> "StoredArrays":
        """The part in the box `corners`: left, top, right and bottom, in pixels of the upright picture."""
        height, width = self.pixels.shape[:2]
        is_yuv = bool(self.conversion[2] > 0)
        found = region_of(corners, width, height, int(self.orientation), is_even=is_yuv)
        half = Region(found.left // 2, found.top // 2, found.right // 2, found.bottom // 2)
        return StoredArrays(
            pixels=_cut(self.pixels, found),
            channels=self.channels,
            chroma=_cut(self.chroma, half) if is_yuv else self.chroma,
            conversion=self.conversion,
            orientation=self.orientation,
        )

    def has_same_pixels(self, other: "StoredArrays") -> bool:
        import numpy

        return numpy.array_equal(self.pixels, other.pixels) and numpy.array_equal(self.chroma, other.chroma)

    def named(self, typed: ImageInput) -> "dict[str, numpy.ndarray]":
        """By the names of the tensors of `typed`."""
        return {getattr(typed, name).name: array for name, array in vars(self).items()}


def stored_arrays(typed: ImageInput, arrays: "Mapping[str, numpy.ndarray]") -> StoredArrays:
    """The picture that `typed` gets in `arrays`, which are by the names of tensors."""
    return StoredArrays(**{name: arrays[getattr(typed, name).name] for name in StoredArrays.__dataclass_fields__})


def _cut(pixels: "numpy.ndarray", region: Region) -> "numpy.ndarray":
    import numpy

    return numpy.ascontiguousarray(pixels[region.top : region.bottom, region.left : region.right])


def region_of(
    corners: Sequence[float], width: int, height: int, orientation: int = 1, *, is_even: bool = False
) -> Region:
    """The stored pixels that a box of the upright picture touches: at least one, and none outside.

    `corners` are left, top, right and bottom; `width` and `height` those of the stored picture. `is_even` is for luma
    and chroma, where two pixels share a sample.
    """
    swaps, mirrors, flips = TURNS[min(max(orientation, 0), len(TURNS) - 1)]
    columns = _span(corners[0], corners[2], height if swaps else width, is_reversed=mirrors)
    rows = _span(corners[1], corners[3], width if swaps else height, is_reversed=flips)
    (left, right), (top, bottom) = (rows, columns) if swaps else (columns, rows)
    if is_even:
        return Region(left & ~1, top & ~1, (right + 1) & ~1, (bottom + 1) & ~1)
    return Region(left, top, right, bottom)


def _span(start: float, end: float, size: int, *, is_reversed: bool) -> tuple[int, int]:
    """First pixel of a line of `size`, and the one after the last."""
    first = min(max(_whole(start, math.floor), 0), size - 1)
    last = min(max(_whole(end, math.ceil), first + 1), size)
    return (size - last, size - first) if is_reversed else (first, last)


def _whole(edge: float, rounded: Callable[[float], int]) -> int:
    """An edge that is not a finite number counts as 0."""
    return rounded(edge) if math.isfinite(edge) else 0
