"""Samples from image files, for models with one image input."""

import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from packager.core.errors import ConfigError
from packager.core.sample_settings import ImageSettings
from packager.core.user_files import opened
from packager.core.values import Dimension, ElementType, TensorSpec
from packager.samples.fit import DTYPES, FLOATS, only_input
from packager.samples.folder import SampleFiles
from packager.samples.sample import MAX_BYTES, Arrays, Unread, in_words

if TYPE_CHECKING:
    import numpy
    from PIL.Image import Image

Taken = TypeVar("Taken")

MEAN, STD, SCALE = (0.0,), (1.0,), 1 / 255
"""conversion where nothing says how"""
CHANNELS = {"rgb": 3, "bgr": 3, "grey": 1}
MODES: dict[int, Literal["L", "RGB", "RGBA"]] = {1: "L", 3: "RGB", 4: "RGBA"}
"""channels -> Pillow's mode"""

DEEP_MODES = ("I", "F")
"""prefixes of Pillow's modes with more than 8 bits, which conversion would clip"""

CHANNELS_HINT = "set the layout (nchw or nhwc) and the colours of the images"
REPLACE = "replace or remove it"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Picture format of an input."""

    spec: TensorSpec
    settings: ImageSettings
    is_channels_last: bool
    channels: int
    size: tuple[int, int] | None
    """height and width; None for any"""


def unread(files: SampleFiles, inputs: tuple[TensorSpec, ...], settings: ImageSettings) -> Iterator[Unread]:
    """The pictures, in order. Raises ConfigError if the model or the settings fit no picture, or if Pillow is
    missing."""
    picture = wanted(only_input(inputs, "images"), settings)
    require_pillow()
    for path in files.paths:
        yield Unread(label=files.label(path), read=partial(_read, path, picture))


def require_pillow() -> None:
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "Pillow, which reads and writes images, is not installed", hint="run: pip install 'mobpack[images]'"
        ) from error


def png_of(width: int, height: int, pixels: bytes) -> bytes:
    """A .png file of red, green, blue and alpha of each pixel. Raises ConfigError if Pillow is missing."""
    require_pillow()
    import PIL.Image

    content = io.BytesIO()
    PIL.Image.frombytes("RGBA", (width, height), pixels).save(content, "PNG")
    return content.getvalue()


def wanted(spec: TensorSpec, settings: ImageSettings) -> Picture:
    """The picture format of `spec`. Raises ConfigError if it takes no picture, or not with these settings."""
    if spec.element not in (*FLOATS, ElementType.UINT8) or len(spec.shape) != 4 or not _is_one(spec.shape[0]):
        raise ConfigError(
            f"input '{spec.name}' ({spec.element} {in_words(spec.shape)}) takes no picture, which has 4 dimensions, "
            "the first a batch of 1",
            hint="save the model's inputs with numpy.savez, or use module:function",
        )
    is_channels_last = _is_channels_last(spec, settings)
    channels = _channels(spec, spec.shape[3 if is_channels_last else 1], settings)
    for name, numbers in (("mean", settings.mean or MEAN), ("std", settings.std or STD)):
        if len(numbers) not in (1, channels) or (name == "std" and 0 in numbers):
            raise ConfigError(
                f"images: {name} {numbers} does not fit {channels} channels", hint="use one number, or one per channel"
            )
    declared = spec.shape[1:3] if is_channels_last else spec.shape[2:4]
    return Picture(
        spec=spec,
        settings=settings,
        is_channels_last=is_channels_last,
        channels=channels,
        size=_size(spec, declared, settings),
    )


def _is_one(size: Dimension) -> bool:
    return size == 1 or not isinstance(size, int)


def _is_channels_last(spec: TensorSpec, settings: ImageSettings) -> bool:
    if settings.layout != "auto":
        return settings.layout == "nhwc"
    first, last = (spec.shape[axis] in MODES for axis in (1, 3))
    if first == last:
        what = "both" if first else "neither"
        raise ConfigError(
            f"input '{spec.name}' ({in_words(spec.shape)}): {what} of dimensions 1 and 3 can be channels",
            hint=CHANNELS_HINT,
        )
    return last


def _channels(spec: TensorSpec, declared: Dimension, settings: ImageSettings) -> int:
    asked = CHANNELS.get(settings.colour)
    channels = declared if isinstance(declared, int) else asked or 3
    if channels not in MODES or asked not in (None, channels):
        raise ConfigError(
            f"input '{spec.name}' ({in_words(spec.shape)}) has {channels} channels: not {settings.colour}",
            hint=CHANNELS_HINT,
        )
    return channels


def _size(spec: TensorSpec, declared: tuple[Dimension, ...], settings: ImageSettings) -> tuple[int, int] | None:
    height, width = settings.size or declared
    fits = all(not isinstance(one, int) or one == two for one, two in zip(declared, (height, width), strict=True))
    if not fits or not isinstance(height, int) or not isinstance(width, int):
        if settings.size or any(isinstance(size, int) for size in declared):
            raise ConfigError(
                f"input '{spec.name}' ({in_words(spec.shape)}): images cannot have size {in_words((height, width))}",
                hint="set the size of the images to the model's height and width",
            )
        return None
    return height, width


def _read(path: Path, picture: Picture) -> Arrays:
    import numpy

    pixels = numpy.asarray(_decoded(path, picture))
    pixels = pixels.reshape(*pixels.shape[:2], picture.channels)
    if picture.settings.colour == "bgr":
        pixels = pixels[:, :, ::-1]
    numbers = _numbers(pixels, picture)
    ordered = numbers if picture.is_channels_last else numbers.transpose(2, 0, 1)
    return {picture.spec.name: numpy.ascontiguousarray(ordered[None])}


def _decoded(path: Path, picture: Picture) -> "Image":
    """The picture upright, in the input's channels and size. Raises ConfigError for a file that is broken, animated or
    a decompression bomb."""
    import PIL.ImageOps

    mode = MODES[picture.channels]
    return _resized(decoded(path, lambda image: PIL.ImageOps.exif_transpose(image).convert(mode)), picture)


def decoded(path: Path, taken: "Callable[[Image], Taken]") -> Taken:
    """`taken` applied to the picture in a file. Raises ConfigError for a file that is broken, animated or a
    decompression bomb."""
    import PIL.Image

    try:
        with warnings.catch_warnings(), opened(path, limit_bytes=MAX_BYTES) as file:
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(file) as image:
                _refuse_odd(image, path)
                return taken(image)
    except (
        OSError,
        ValueError,
        SyntaxError,
        PIL.Image.DecompressionBombWarning,
        PIL.Image.DecompressionBombError,
    ) as error:
        raise ConfigError(f"{path}: not a readable image ({_reason(error, path)})", hint=REPLACE) from error


def _reason(error: Exception, path: Path) -> str:
    """The reason in words: Pillow's, or one in place of those that show an object of Python."""
    import PIL

    if not isinstance(error, PIL.UnidentifiedImageError):
        return str(error)
    return "unknown content" if path.stat().st_size else "the file is empty"


def _refuse_odd(image: "Image", path: Path) -> None:
    frames = getattr(image, "n_frames", 1)
    if frames > 1:
        raise ConfigError(f"{path}: the image is animated, with {frames} pictures", hint="save a single picture")
    if image.mode.startswith(DEEP_MODES):
        raise ConfigError(
            f"{path}: the pixels have more than 8 bits ({image.mode})",
            hint="save it with 8 bits, or save the model's inputs with numpy.savez",
        )


def _resized(image: "Image", picture: Picture) -> "Image":
    import PIL.Image
    import PIL.ImageOps

    if picture.size is None or picture.size == (image.height, image.width):
        return image
    height, width = picture.size
    how = PIL.Image.Resampling.BILINEAR
    if picture.settings.resize == "crop":
        return PIL.ImageOps.fit(image, (width, height), how)
    return image.resize((width, height), how)


def _numbers(pixels: "numpy.ndarray", picture: Picture) -> "numpy.ndarray":
    """float[height, width, channels]; unscaled pixels for uint8."""
    import numpy

    if picture.spec.element is ElementType.UINT8:
        return pixels
    settings = picture.settings
    scaled = pixels.astype(numpy.float32) * numpy.float32(SCALE if settings.scale is None else settings.scale)
    mean, std = (numpy.array(each, numpy.float32) for each in (settings.mean or MEAN, settings.std or STD))
    return ((scaled - mean) / std).astype(DTYPES[picture.spec.element])
