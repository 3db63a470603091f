"""From a picture, as decoders and cameras have it, to the tensors of a model."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy
from numpy.typing import NDArray

from .errors import ModelError, ModelErrorCode

if TYPE_CHECKING:
    import PIL.Image

ORIENTATION = 0x0112
"""Exif's tag (CIPA DC-008, "Orientation")"""
FORMATS = {
    "rgba": (4, (0, 1, 2)),
    "bgra": (4, (2, 1, 0)),
    "argb": (4, (1, 2, 3)),
    "rgb": (3, (0, 1, 2)),
    "bgr": (3, (2, 1, 0)),
    "grey": (1, (0, 0, 0)),
    "nv12": (1, (0, 0, 0)),
    "nv21": (1, (0, 0, 0)),
    "p010": (2, (1, 1, 1)),
}
"""bytes of a pixel, and where red, green and blue lie in it"""
CHROMA = {"nv12": (0, 1), "nv21": (1, 0), "p010": (1, 3)}
"""where U and V lie in a pixel of chroma"""
CONVERSIONS = ("bt601-full", "bt601-video", "bt709-full", "bt709-video")
"""ITU-R's standard, and whether numbers use the full range; as models number them, from 1"""
BY_SIZE = {1: "grey", 3: "rgb", 4: "rgba"}


@dataclass(frozen=True)
class Picture:
    """A picture of any size."""

    pixels: NDArray[numpy.uint8]
    """[height, width] or [height, width, channels]. Alpha is ignored: transparent pixels count with their colour"""
    format: str = ""
    """`rgba`, `bgra`, `argb`, `rgb`, `bgr`, `grey`, or a camera's `nv12`, `nv21`, `p010`; empty for that of as many
    channels: `grey`, `rgb`, `rgba`. OpenCV's pictures are `bgr`"""
    orientation: int = 1
    """Exif's number, 1 to 8, of how the picture is to be turned"""
    chroma: NDArray[numpy.uint8] | None = None
    """[height / 2, width / 2, bytes]: U and V of a camera's picture, whose `pixels` are luma"""
    conversion: str = "bt601-full"
    """how luma and chroma become colours: `bt601-full`, `bt601-video`, `bt709-full` or `bt709-video`"""


PictureLike = Union["Picture", NDArray[numpy.uint8], "PIL.Image.Image", bytes, str, "os.PathLike[str]"]
"""A picture, an array of its pixels, one of Pillow's, the content of a file, or the path of one; Pillow reads files."""


@dataclass(frozen=True)
class PictureTensors:
    """Tensors that models take of a picture."""

    pixels: NDArray[numpy.uint8]
    channels: NDArray[numpy.int64]
    orientation: NDArray[numpy.int64]
    chroma: NDArray[numpy.uint8]
    conversion: NDArray[numpy.int64]


def picture_tensors(name: str, given: PictureLike) -> PictureTensors:
    """The tensors of the parameter `name`. Raises ModelError `BAD_INPUT`, saying what is wrong with the picture."""
    picture = given if isinstance(given, Picture) else picture_of(name, given)
    pixels = numpy.asarray(picture.pixels)
    if pixels.dtype != numpy.uint8 or pixels.ndim not in (2, 3):
        raise refused(name, f"is {pixels.dtype} {list(pixels.shape)}: pass uint8 [height, width, channels]")
    if not pixels.size:
        raise refused(name, f"has {pixels.shape[1]} x {pixels.shape[0]} pixels")
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    height, width, channels = pixels.shape
    kind = picture.format or BY_SIZE.get(channels, "")
    size, places = FORMATS.get(kind, (0, ()))
    if size != channels:
        raise refused(name, f"has {channels} bytes a pixel and the format {kind!r}: formats are {', '.join(FORMATS)}")
    if not 1 <= picture.orientation <= 8:
        raise refused(name, f"has orientation {picture.orientation}, which is not one of 1 to 8")
    chroma, conversion = camera(name, picture, kind, height, width)
    return PictureTensors(
        pixels=numpy.ascontiguousarray(pixels),
        channels=numpy.array(places, numpy.int64),
        orientation=numpy.array(picture.orientation, numpy.int64),
        chroma=numpy.ascontiguousarray(chroma),
        conversion=numpy.array(conversion, numpy.int64),
    )


def camera(
    name: str, picture: Picture, kind: str, height: int, width: int
) -> tuple[NDArray[numpy.uint8], tuple[int, int, int]]:
    """Chroma, and how it becomes colours: a zero for a picture that is not a camera's."""
    if kind not in CHROMA:
        if picture.chroma is not None:
            raise refused(name, f"has chroma, and its format is {kind}: formats with chroma are {', '.join(CHROMA)}")
        return numpy.zeros((1, 1, 1), numpy.uint8), (0, 0, 0)
    if picture.conversion not in CONVERSIONS:
        raise refused(name, f"has conversion {picture.conversion!r}, which is none of {', '.join(CONVERSIONS)}")
    wanted = (height // 2, width // 2, 2 * FORMATS[kind][0])
    chroma = picture.chroma
    if height % 2 or width % 2 or chroma is None or chroma.shape != wanted or chroma.dtype != numpy.uint8:
        found = "none" if chroma is None else f"{chroma.dtype} {list(chroma.shape)}"
        raise refused(
            name, f"has format {kind} and {width} x {height} pixels: chroma is uint8 {list(wanted)}, not {found}"
        )
    u, v = CHROMA[kind]
    return chroma, (u, v, CONVERSIONS.index(picture.conversion) + 1)


def picture_of(name: str, given: PictureLike) -> Picture:
    """A picture of anything that is one. Raises ModelError `BAD_INPUT`."""
    if isinstance(given, numpy.ndarray):
        return Picture(given)
    if isinstance(given, (bytes, bytearray, memoryview, str, os.PathLike)):
        return read(name, given)
    if hasattr(given, "getexif") and hasattr(given, "convert"):
        return of_pillow(name, given)
    raise refused(name, f"is a {type(given).__name__}: pass a Picture, an array, a picture of Pillow's, or a path")


def read(name: str, given: Any) -> Picture:
    """The picture in a file, or in the content of one."""
    try:
        import PIL.Image
    except ImportError as error:
        raise refused(name, "is a file, which Pillow reads: pip install pillow, or pass an array of pixels") from error
    try:
        with PIL.Image.open(given if isinstance(given, (str, os.PathLike)) else io.BytesIO(given)) as image:
            return of_pillow(name, image)
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
        words = (
            "has an unknown content" if isinstance(error, PIL.UnidentifiedImageError) else f"is not readable: {error}"
        )
        raise refused(name, words) from error


def of_pillow(name: str, image: Any) -> Picture:
    """One of Pillow's pictures with 8 bits per channel; transparent ones over black, as Android has them."""
    if getattr(image, "n_frames", 1) > 1:
        raise refused(name, f"is animated, with {image.n_frames} pictures")
    if image.mode.startswith(("I", "F")):
        raise refused(name, f"has more than 8 bits for each channel ({image.mode})")
    orientation = image.getexif().get(ORIENTATION, 1)
    is_alpha = any(letter in image.mode for letter in "Aa") or "transparency" in image.info
    mode = "L" if image.mode in ("1", "L") else "RGBA" if is_alpha else "RGB"
    pixels = numpy.asarray(image.convert(mode))
    if mode == "RGBA":
        alpha = pixels[:, :, 3:].astype(numpy.uint32)
        product = pixels[:, :, :3].astype(numpy.uint32) * alpha
        colours = (product if image.format == "WEBP" else product + 127) // 255
        pixels = numpy.concatenate([colours.astype(numpy.uint8), pixels[:, :, 3:]], axis=2)
    return Picture(pixels, orientation=orientation if isinstance(orientation, int) and 1 <= orientation <= 8 else 1)


def refused(name: str, words: str) -> ModelError:
    return ModelError(ModelErrorCode.BAD_INPUT, f"picture {name} {words}")
