"""The kind `image`: its table, and the nodes that preprocess a picture."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from packager.contract.image.conversion import Converter, converter
from packager.contract.image.framing import Colour, Frame, Layout, framed
from packager.contract.image.placing import (
    Align,
    Fit,
    Fitting,
    Resize,
    StoredPicture,
    fit,
    positions,
    stored,
    swapped,
    whole,
)
from packager.contract.kind import AttachedInput, Inputs, Placement, Sizes
from packager.contract.resizing import Filter, resized
from packager.core.contract import ImageInput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

LUMA = (19595, 38470, 7471)
"""weights of red, green and blue in brightness, of 65536: ITU-R BT.601, as in Pillow's mode L"""
SHAPES = ((60, 80, 4), (37, 53, 3))
"""shapes of the pictures that models are compared on"""
CHROMA_SHAPES = ((30, 40, 4), (18, 26, 3))
"""of their chroma; it counts where a sample draws a conversion"""
SAME = (0.0,), (1.0,)
"""mean and scale without effect"""


@dataclass(frozen=True, kw_only=True)
class PictureInput:
    """A picture of any size, channel order and EXIF orientation, converted to the model's input.

    The steps are, in this order: resize, convert luma and chroma to colours, rotate upright, crop or pad, convert to
    grey, `(pixel * scale - mean) / std`.
    Alpha is never read: pixels with alpha are premultiplied on phones, which is the picture over black.

    Pixel i of n covers i to i + 1, with its centre at i + 0.5. `bilinear` weights with a triangle that extends 1 pixel
    to both sides, `bicubic` with Catmull and Rom's cubic (a = -0.5), which extends 2; both are widened by the factor by
    which a picture shrinks. Weights of pixels outside the picture are dropped, the others are divided by their sum.
    Rows, in memory order, are resized first, then columns; both round to integers from 0 to 255, halves up. Pillow
    (`src/libImaging/Resample.c`), and torchvision on pictures, do the same. ONNX Runtime has float weights where Pillow
    has double (`core/providers/cpu/tensor/upsample_antialias.h`): few values differ, by 1, rarely by 2. Up to a third
    differ by 1 if Pillow resizes columns first: for pictures that are stored rotated, and with Pillow 13 for tall ones.
    Bicubic values of hard edges then differ by more, because each pass clips to 0 to 255: by up to 5 in photos that
    shrink, by 28 in noise.

    Without `antialias`, each pixel is computed from the four around its centre and rounded once. OpenCV's INTER_LINEAR
    also rounds its weights: values differ by at most 1. `nearest` takes the pixel that contains the centre, like
    Pillow's NEAREST. For a picture without pixels, ONNX Runtime reports an error.
    """

    KIND: ClassVar[str] = "image"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["image"] = "image"
    """kind of the input"""
    size: tuple[int, int] | None = None
    """height and width, if the model leaves them open"""
    resize: Resize = "stretch"
    """how a picture of other proportions fits the size: `stretch` ignores the proportions; `crop` cuts off two sides;
    `letterbox` shows all of it and fills the rest; `height` gives it the model's height and keeps its proportions, for
    a model that takes any width"""
    resize_to: int | None = None
    """with `crop`: length of the shorter side before the centre is cut out, as in torchvision's Resize and CenterCrop.
    Default: the picture just covers the size"""
    fill: tuple[int, ...] = (0,)
    """with `letterbox`: fill colour, 0 to 255; one number for all channels or one each, in the model's order"""
    align: Align = "center"
    """with `letterbox`: whether the picture is centred or starts at the top left"""
    filter: Filter = "bilinear"
    """interpolation of pixels"""
    antialias: bool = True
    """whether all pixels contribute when a picture gets smaller, as with Pillow and torchvision; otherwise only the
    four around each centre, as with OpenCV's INTER_LINEAR"""
    scale: float = 1 / 255
    """factor of pixels, 0 to 255, applied first"""
    mean: tuple[float, ...] = (0.0,)
    """one number for all channels or one each, in the model's order"""
    std: tuple[float, ...] = (1.0,)
    """as `mean`"""
    colour: Colour = "auto"
    """order of the channels; `auto` is grey for one channel, else red first"""
    layout: Layout = "auto"
    """`auto` takes the dimension that is 1 or 3 as channels"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.size is not None and min(self.size) < 1:
            raise SettingError(
                f"size {list(self.size)} is not a height and width", hint="for example: size = [224, 224]"
            )
        if self.size is not None and self.resize == "height":
            raise SettingError(
                "'size' has no effect with resize = \"height\"", hint="remove it: each picture has a width of its own"
            )
        if self.resize_to is not None and self.resize != "crop":
            raise SettingError(
                "'resize-to' has no effect without resize = \"crop\"", hint='remove it, or set resize = "crop"'
            )
        if self.resize != "letterbox" and (self.fill != (0,) or self.align != "center"):
            raise SettingError("'fill' and 'align' have no effect without resize = \"letterbox\"", hint="remove them")
        if not all(0 <= each <= 255 for each in self.fill):
            raise SettingError(f"fill {list(self.fill)} is not a colour", hint="use numbers from 0 to 255")
        if not self.antialias and self.filter != "bilinear":
            raise SettingError(
                f"antialias = false is not supported with {self.filter}", hint='remove it, or set filter = "bilinear"'
            )
        if 0 in self.std:
            raise SettingError("std 0 would divide by zero", hint="omit it, or use 1.0")

    def within(self, folder: Path) -> Self:
        return self

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, Sizes]:
        return {spec.name: self._frame(spec).shape}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        frame = self._frame(spec)
        typed = _typed(writer, spec)
        fitting = Fitting(
            resize=self.resize,
            resize_to=self.resize_to,
            align=self.align,
            height=frame.height,
            width=frame.width,
        )
        picture = stored(writer, typed.pixels.name, typed.orientation.name)
        width, height = swapped(writer, picture, picture.sides.width, picture.sides.height)
        made = fit(writer, fitting, width, height)
        stored_height, stored_width = swapped(writer, picture, made.height, made.width)
        small = resized(
            writer,
            typed.pixels.name,
            picture.sides,
            height=stored_height,
            width=stored_width,
            filter_=self.filter,
            antialias=self.antialias,
        )
        colour = converter(writer, typed, picture.nothing)
        chroma = colour.resized_chroma(stored_height, stored_width, filter_=self.filter, antialias=self.antialias)
        picked = writer.node("Gather", small, typed.channels.name, axis=1)
        colours = self._ordered(writer, colour.converted(picked, chroma))
        upright = writer.node("Gather", colours, positions(writer, fitting, picture, made), axis=0)
        return AttachedInput(
            typed=(typed,),
            value=self._normalised(writer, self._arranged(writer, upright, frame), spec.element, frame),
            placement=replace(
                _placement(made, frame, (width, height), picture.nothing),
                colours=lambda: _upright(writer, typed, picture, colour, (width, height)),
            ),
            shapes={typed.pixels.name: SHAPES, typed.chroma.name: CHROMA_SHAPES},
            values={
                typed.channels.name: (0, 1, 2),
                typed.orientation.name: tuple(range(1, 9)),
                typed.conversion.name: (0, 1, 2),
            },
        )

    def _frame(self, spec: TensorSpec) -> Frame:
        """The picture in `spec`. Raises ConfigError if it has none, or if the keys do not fit it."""
        frame = framed(
            spec,
            size=self.size,
            layout=self.layout,
            colour=self.colour,
            has_open_width=self.resize == "height",
        )
        for key, numbers in (("mean", self.mean), ("std", self.std), ("fill", self.fill)):
            if len(numbers) not in (1, frame.channels):
                raise ConfigError(
                    f"{key} {list(numbers)} does not fit {frame.channels} channels",
                    hint="use one number, or one per channel",
                )
        if self.resize_to is not None and self.resize_to < max(frame.height, frame.width or 0):
            raise ConfigError(
                f"resize-to {self.resize_to} is too small to cut out {frame.height} x {frame.width}",
                hint="use at least the longer side",
            )
        if spec.element is ElementType.UINT8 and (self.mean, self.std, self.scale) != (*SAME, 1 / 255):
            raise ConfigError("is uint8 and takes unscaled pixels", hint="remove 'scale', 'mean' and 'std'")
        return frame

    def _ordered(self, writer: Writer, colours: str) -> str:
        """uint8 [pixels, 3]: the colours in the model's order; with `letterbox`, followed by the fill colour."""
        import numpy

        if self.colour == "bgr":
            colours = writer.node("Gather", colours, [2, 1, 0], axis=1)
        if self.resize != "letterbox":
            return colours
        filling = numpy.broadcast_to(numpy.array(self.fill, numpy.uint8), (1, 3))
        return writer.node("Concat", colours, writer.constant(numpy.ascontiguousarray(filling)), axis=0)

    def _arranged(self, writer: Writer, upright: str, frame: Frame) -> str:
        """uint8 in the core's shape, from [height, width, 3]."""
        arranged = _grey(writer, upright) if frame.channels == 1 else upright
        if not frame.is_channels_last:
            arranged = writer.node("Transpose", arranged, perm=[2, 0, 1])
        return writer.node("Reshape", arranged, writer.integers(*(each or -1 for each in frame.shape)))

    def _normalised(self, writer: Writer, pixels: str, element: ElementType, frame: Frame) -> str:
        import numpy

        if element is ElementType.UINT8:
            return pixels
        mean, std = numpy.array(self.mean, numpy.float64), numpy.array(self.std, numpy.float64)
        value = writer.cast(pixels, ElementType.FLOAT)
        for op, numbers, nothing in (("Mul", self.scale / std, 1), ("Add", -mean / std, 0)):
            if (numbers != nothing).any():
                value = writer.node(op, value, writer.constant(_per_channel(numbers, frame)))
        return value if element is ElementType.FLOAT else writer.cast(value, element)


def _typed(writer: Writer, spec: TensorSpec) -> ImageInput:
    sizes = tuple(f"{spec.name}.{what}" for what in ("height", "width", "channels"))
    chroma = tuple(f"{spec.name}.chroma_{what}" for what in ("height", "width", "channels"))
    return ImageInput(
        identifier=spec.identifier,
        pixels=writer.input("pixels", ElementType.UINT8, sizes),
        channels=writer.input("channels", ElementType.INT64, (3,)),
        orientation=writer.input("orientation", ElementType.INT64, ()),
        chroma=writer.input("chroma", ElementType.UINT8, chroma),
        conversion=writer.input("conversion", ElementType.INT64, (3,)),
    )


def _placement(made: Fit, frame: Frame, size: tuple[str, str], nothing: str) -> Placement:
    width, height = size
    return Placement(
        made_width=made.width,
        made_height=made.height,
        offset_x=made.left,
        offset_y=made.top,
        width=width,
        height=height,
        core_width=frame.width or 0,
        core_height=frame.height,
        nothing=nothing,
    )


def _upright(
    writer: Writer, typed: ImageInput, picture: StoredPicture, colour: Converter, size: tuple[str, str]
) -> str:
    """uint8 [height, width, 3]: red, green and blue of the upright picture in its own `size`, width before height."""
    sides = picture.sides
    chroma = colour.resized_chroma(sides.height, sides.width, filter_="bilinear", antialias=True)
    picked = writer.node("Gather", writer.node("Flatten", typed.pixels.name, axis=2), typed.channels.name, axis=1)
    return writer.node("Gather", colour.converted(picked, chroma), whole(writer, picture, *size), axis=0)


def _grey(writer: Writer, colours: str) -> str:
    """uint8 [height, width, 1] from [height, width, 3]: brightness, rounded, halves up."""
    weighted = writer.node("Mul", writer.cast(colours, ElementType.DOUBLE), writer.doubles(*LUMA))
    brightness = writer.node("Add", writer.node("ReduceSum", weighted, [2], keepdims=1), writer.double(1 << 15))
    shares = writer.node("Floor", writer.node("Mul", brightness, writer.double(2**-16)))
    return writer.cast(shares, ElementType.UINT8)


def _per_channel(numbers: "numpy.ndarray", frame: Frame) -> "numpy.ndarray":
    """float with the rank of the core's input, so that every provider takes the operator."""
    import numpy

    sizes = [1] * len(frame.shape)
    sizes[-1 if frame.is_channels_last else -3] = len(numbers)
    return numpy.ascontiguousarray(numbers.astype(numpy.float32).reshape(sizes))
