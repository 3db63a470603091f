"""Samples as apps pass them: files for models whose contract takes pictures, sounds or texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packager.core.chat import ChatTemplate
from packager.core.contract import AudioInput, ImageInput
from packager.core.errors import ConfigError
from packager.core.user_files import opened
from packager.core.values import ElementType, Model, TensorSpec
from packager.samples import wav
from packager.samples.fit import DTYPES
from packager.samples.folder import CONVERSATION, SampleFiles
from packager.samples.images import MODES, decoded, require_pillow
from packager.samples.sample import MAX_BYTES, Arrays, Unread, broken, in_words
from packager.samples.texts import chat_of, code_points, prompt_in, taken_texts

if TYPE_CHECKING:
    import numpy
    from PIL.Image import Image

ORIENTATION = 0x0112
"""EXIF's tag (CIPA DC-008, "Orientation")."""
ALPHA = ("A", "a")
"""letters in Pillow's modes with transparency"""


@dataclass(frozen=True, kw_only=True)
class RawInput:
    """The single input that raw files are for."""

    kind: Literal["images", "sounds", "texts"]
    tensors: tuple[str, ...]
    """tensor names: pixels, channels, orientation, chroma, conversion; or samples, rate; or code points of each text"""
    chat: ChatTemplate | None = None
    """makes a text of a conversation"""


def raw_input(model: Model) -> RawInput | None:
    """The raw input of a model whose contract has one picture, one sound, or texts, and no other input, else None."""
    parameters = model.contract.parameters if model.contract else ()
    if texts := taken_texts(model):
        return RawInput(kind="texts", tensors=tuple(each.code_points.name for each in texts), chat=chat_of(model))
    if len(parameters) != 1:
        return None
    (only,) = parameters
    if isinstance(only, ImageInput):
        tensors = (only.pixels, only.channels, only.orientation, only.chroma, only.conversion)
        return RawInput(kind="images", tensors=tuple(each.name for each in tensors))
    if isinstance(only, AudioInput):
        return RawInput(kind="sounds", tensors=(only.samples.name, only.rate.name))
    return None


def unread(files: SampleFiles, wanted: RawInput, inputs: tuple[TensorSpec, ...]) -> Iterator[Unread]:
    """The files, in order; states start with zeros. Raises ConfigError for files of another kind, or if Pillow is
    missing."""
    if files.kind != wanted.kind:
        raise ConfigError(
            f"{files.root} holds {files.kind}, but the model takes {wanted.kind}",
            hint=f"use samples that are {wanted.kind}",
        )
    states = [spec for spec in inputs if spec.name not in wanted.tensors]
    if wanted.kind == "images":
        require_pillow()
    for path in files.paths:
        label = files.label(path)
        if path.suffix.lower() == CONVERSATION:
            yield Unread(label=label, read=partial(_conversation, path, wanted, states))
            continue
        if wanted.kind == "texts":
            yield from _lines(path, label, wanted, states)
            continue
        try:
            if wanted.kind == "sounds":
                _refuse_long(path)
        except ConfigError as error:
            yield broken(label, error)
            continue
        yield Unread(label=label, read=partial(_read, path, wanted, inputs, states))


def _read(path: Path, wanted: RawInput, inputs: tuple[TensorSpec, ...], states: list[TensorSpec]) -> Arrays:
    given = picture(path) if wanted.kind == "images" else sound(path, _element(inputs, wanted.tensors[0]))
    return {**dict(zip(wanted.tensors, given, strict=True)), **_zeros(states)}


def _zeros(states: list[TensorSpec]) -> Arrays:
    import numpy

    shapes = {spec.name: [size if isinstance(size, int) else 0 for size in spec.shape] for spec in states}
    return {spec.name: numpy.zeros(shapes[spec.name], DTYPES[spec.element]) for spec in states}


def _lines(path: Path, label: str, wanted: RawInput, states: list[TensorSpec]) -> Iterator[Unread]:
    """One sample for every line that is not empty; tabs separate the texts of a model that takes several."""
    try:
        with opened(path, limit_bytes=MAX_BYTES) as file:
            lines = file.read().decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = ConfigError(f"{path}: not readable as UTF-8 text ({error})", hint="save it as UTF-8")
        yield broken(label, problem)
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield Unread(label=f"{label}:{number}", read=partial(_texts, line, wanted, states, f"{path}:{number}"))


def _texts(line: str, wanted: RawInput, states: list[TensorSpec], where: str) -> Arrays:
    texts = line.split("\t") if len(wanted.tensors) > 1 else [line]
    if len(texts) != len(wanted.tensors):
        raise ConfigError(
            f"{where}: {len(texts)} texts for a model that takes {len(wanted.tensors)}",
            hint="write the texts of a sample in one line, with tabs between them",
        )
    return {**{name: code_points([text]) for name, text in zip(wanted.tensors, texts, strict=True)}, **_zeros(states)}


def _conversation(path: Path, wanted: RawInput, states: list[TensorSpec]) -> Arrays:
    return {wanted.tensors[0]: code_points([prompt_in(path, wanted.chat)]), **_zeros(states)}


def _element(inputs: tuple[TensorSpec, ...], name: str) -> ElementType:
    return next(spec.element for spec in inputs if spec.name == name)


def picture(path: Path) -> "tuple[numpy.ndarray, ...]":
    """Contents of a picture file in the form that apps have: unrotated pixels, uint8 [height, width, channels],
    premultiplied with alpha; the positions of red, green and blue; the EXIF orientation; and a zero for chroma, which
    is not converted.

    Raises ConfigError for a file that is not a picture.
    """
    import numpy

    image, kind, orientation = decoded(
        path, lambda image: (_loaded(image), image.format, image.getexif().get(ORIENTATION, 1))
    )
    return pixels_of(numpy.asarray(image), orientation, is_rounded=kind != "WEBP")


def pixels_of(
    pixels: "numpy.ndarray", orientation: object = 1, *, is_rounded: bool = True
) -> "tuple[numpy.ndarray, ...]":
    """Like `picture`, for pixels in memory: uint8 [height, width] or [height, width, channels], grey, RGB or RGBA.

    Raises ConfigError for other arrays. `is_rounded` is that of `premultiplied`.
    """
    import numpy

    if pixels.dtype != numpy.uint8 or pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in MODES):
        raise ConfigError(
            f"{pixels.dtype} {in_words(pixels.shape)} is not a picture",
            hint="pass uint8 [height, width, channels] with 1, 3 or 4 channels, or a path",
        )
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    places = (0, 0, 0) if pixels.shape[2] == 1 else (0, 1, 2)
    number = orientation if isinstance(orientation, int) and 1 <= orientation <= 8 else 1
    return (
        premultiplied(pixels, is_rounded=is_rounded),
        numpy.array(places, numpy.int64),
        numpy.array(number, numpy.int64),
        numpy.zeros((1, 1, 1), numpy.uint8),
        numpy.zeros(3, numpy.int64),
    )


def _loaded(image: "Image") -> "Image":
    """A copy with 8 bits per channel: grey, RGB or RGBA."""
    if image.mode in ("1", "L"):
        return image.convert("L")
    has_alpha = any(letter in image.mode for letter in ALPHA) or "transparency" in image.info
    return image.convert("RGBA" if has_alpha else "RGB")


def premultiplied(pixels: "numpy.ndarray", *, is_rounded: bool = True) -> "numpy.ndarray":
    """RGBA colours multiplied with alpha as on Android, which is the picture over black: Skia rounds
    (SkMulDiv255Round), libwebp cuts off. Pixels without alpha are unchanged."""
    import numpy

    if pixels.shape[2] != 4:
        return pixels
    alpha = pixels[:, :, 3:].astype(numpy.uint32)
    product = pixels[:, :, :3].astype(numpy.uint32) * alpha
    colours = (product + 127 if is_rounded else product) // 255
    return numpy.concatenate([colours.astype(numpy.uint8), pixels[:, :, 3:]], axis=2)


def _refuse_long(path: Path) -> None:
    recording = wav.opened(path)
    if recording.frame_count * recording.channel_count * 4 > MAX_BYTES:
        raise ConfigError(
            f"{path}: the file needs more than {MAX_BYTES >> 20} MiB of memory", hint="cut it into pieces"
        )


def sound(path: Path, element: ElementType) -> "tuple[numpy.ndarray, numpy.ndarray]":
    """The samples of a .wav file, [frames, channels] in `element`, and its rate in Hz."""
    import numpy

    recording = wav.opened(path)
    samples = recording.frames(0, recording.frame_count)
    if element is ElementType.INT16:
        samples = numpy.clip(numpy.rint(samples * 32768), -32768, 32767).astype(numpy.int16)
    return samples.astype(DTYPES[element]), numpy.array(recording.rate_hz, numpy.int64)
