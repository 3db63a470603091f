"""Parts of a picture in boxes: whole pixels as they are stored, so that only their bytes reach the next model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .errors import ModelError, ModelErrorCode
from .pictures import CHROMA, Picture, PictureLike, picture_of
from .results import Box, Detection

TURNS = {
    2: (False, True, False),
    3: (False, True, True),
    4: (False, False, True),
    5: (True, False, False),
    6: (True, True, False),
    7: (True, True, True),
    8: (True, False, True),
}
"""Exif orientation -> whether width and height of the stored picture are swapped, then whether columns, then rows are
reversed"""


def stored(given: PictureLike) -> Picture:
    """The picture, read once for all models of a pipeline. Raises ModelError `BAD_INPUT`."""
    return given if isinstance(given, Picture) else picture_of("picture", given)


def at_most(most: int, pipeline: str, boxes: Sequence[Detection]) -> Sequence[Detection]:
    """`boxes`. Raises ModelError `BAD_INPUT` for more than `most`."""
    if len(boxes) > most:
        words = f"pipeline `{pipeline}`: {len(boxes)} boxes, and it takes {most} at most"
        raise ModelError(ModelErrorCode.BAD_INPUT, words)
    return boxes


def within(picture: Picture, box: Box) -> Picture:
    """The part of a picture in a box of the upright picture."""
    height, width = picture.pixels.shape[:2]
    is_yuv = picture.format in CHROMA
    left, top, right, bottom = region_of(box, width, height, picture.orientation, is_even=is_yuv)
    chroma = picture.chroma
    if is_yuv and chroma is not None:
        chroma = chroma[top // 2 : bottom // 2, left // 2 : right // 2]
    pixels = picture.pixels[top:bottom, left:right]
    return Picture(pixels, picture.format, picture.orientation, chroma, picture.conversion)


def region_of(box: Box, width: int, height: int, orientation: int, *, is_even: bool) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the stored pixels that a box touches: at least one, and none outside."""
    swaps, mirrors, flips = TURNS.get(orientation, (False, False, False))
    columns = span(box.left, box.right, height if swaps else width, is_reversed=mirrors)
    rows = span(box.top, box.bottom, width if swaps else height, is_reversed=flips)
    (left, right), (top, bottom) = (rows, columns) if swaps else (columns, rows)
    return (left & ~1, top & ~1, (right + 1) & ~1, (bottom + 1) & ~1) if is_even else (left, top, right, bottom)


def span(start: float, end: float, size: int, *, is_reversed: bool) -> tuple[int, int]:
    """First pixel of a line of `size`, and the one after the last."""
    first = min(max(whole(start, math.floor), 0), size - 1)
    last = min(max(whole(end, math.ceil), first + 1), size)
    return (size - last, size - first) if is_reversed else (first, last)


def whole(edge: float, rounded: Callable[[float], Any]) -> int:
    """An edge that is not a finite number counts as 0."""
    return int(rounded(edge)) if math.isfinite(edge) else 0
