"""Draws what a model found over the picture that it was given."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from packager.contract.results import Instance, PictureResult
from packager.core.contract import ImageInput
from packager.core.crops import TURNS

if TYPE_CHECKING:
    import numpy

COLOURS = (
    (230, 25, 75),
    (60, 180, 75),
    (0, 130, 200),
    (245, 130, 48),
    (145, 30, 180),
    (70, 240, 240),
    (240, 50, 230),
    (210, 245, 60),
)
"""of the objects in turn"""


def drawn(found: Sequence[Instance], picture: ImageInput, inputs: "Mapping[str, numpy.ndarray]") -> PictureResult:
    """The upright picture in `inputs`, in grey if it is one of luma and chroma, with the masks of `found` in colours,
    the best on top."""
    import numpy

    pixels = _upright(picture, inputs).copy()
    for number, each in reversed(list(enumerate(found))):
        area = each.mask
        part = pixels[area.top : area.top + area.height, area.left : area.left + area.width]
        is_object = numpy.frombuffer(area.places, numpy.bool_).reshape(area.height, area.width)
        part[is_object] = (part[is_object].astype(int) + COLOURS[number % len(COLOURS)]) // 2
    height, width, _ = pixels.shape
    opaque = numpy.pad(pixels, ((0, 0), (0, 0), (0, 1)), constant_values=255)
    return PictureResult(width=width, height=height, pixels=opaque.tobytes())


def _upright(picture: ImageInput, inputs: "Mapping[str, numpy.ndarray]") -> "numpy.ndarray":
    """uint8 [height, width, 3]"""
    pixels = inputs[picture.pixels.name][..., inputs[picture.channels.name]]
    orientation = int(inputs[picture.orientation.name])
    is_swapped, is_mirrored, is_flipped = TURNS[min(max(orientation, 0), len(TURNS) - 1)]
    turned = pixels.swapaxes(0, 1) if is_swapped else pixels
    turned = turned[:, ::-1] if is_mirrored else turned
    return turned[::-1] if is_flipped else turned
