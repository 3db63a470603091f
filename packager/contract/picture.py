"""The kind `picture`: pixels that a model makes, or a matte for those of the picture that it takes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core, Placement
from packager.contract.pictures import placement_of
from packager.contract.resizing import Filter, Sides, counted, resized
from packager.contract.scores import activated, floats, in_words
from packager.core.contract import PictureOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

CHANNELS = (1, 3)
OPAQUE = 255


@dataclass(frozen=True, kw_only=True)
class Form:
    """Sizes of the model's output."""

    height: Dimension
    width: Dimension
    channels: int
    is_channels_last: bool


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Pixels: `[1, channels, h, w]` or `[1, h, w, channels]`, also without the first size; `[h, w]` of one channel.

    The steps are, in this order: cut off the borders of a letterbox; `activation`; `number * std + mean`; map `range`
    to 0 to 255, clip, round, halves up; resize, as the kind `image` does; look up `palette`. Apps get red, green, blue
    and alpha, which is not premultiplied. Pixels that the model has not seen, outside a crop, are 0, as is their alpha.

    An output that is no whole multiple of the model's picture is first enlarged linearly to the next one, so that
    borders end between two pixels.
    """

    KIND: ClassVar[str] = "picture"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["picture"] = "picture"
    """kind of the output"""
    activation: Literal["sigmoid", "none"] = "none"
    """`sigmoid` if the model gives the logits of a matte"""
    range: tuple[float, ...] | Literal["minmax"] = (0.0, 1.0)
    """the numbers of black and of white, such as `[0, 255]` or `[-1, 1]`; `minmax` takes the smallest and the largest
    number of each picture"""
    mean: tuple[float, ...] = (0.0,)
    """what is added to numbers, after `std`: one number for all channels or one each, in the model's order"""
    std: tuple[float, ...] = (1.0,)
    """factor of numbers, as `mean`"""
    colour: Literal["auto", "rgb", "bgr", "grey", "alpha"] = "auto"
    """meaning of the channels; `auto` is grey for one channel, else red first. `alpha`: the one channel becomes the
    alpha of the picture that the model takes, which keeps its own colours"""
    layout: Literal["auto", "nchw", "nhwc"] = "auto"
    """`auto` takes the dimension that is 1 or 3 as channels"""
    palette: tuple[str, ...] = ()
    """of one channel: two or more colours, such as `"#30123b"`, from black to white at equal distances"""
    size: Literal["picture", "model"] = "picture"
    """size of the result: that of the upright picture, or that of the model's output, including letterbox borders"""
    scale: int = 1
    """with `size = "picture"`: factor by which the result is larger than the picture (super-resolution)"""
    filter: Filter = "bilinear"
    """interpolation of pixels, with all of them contributing when a picture gets smaller"""
    image: str = ""
    """the input with the picture that the result has the size of, if there are several"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.range != "minmax" and (
            len(self.range) != 2 or not all(map(isfinite, self.range)) or self.range[0] == self.range[1]
        ):
            raise SettingError(
                f"range {list(self.range)} is not two different numbers, those of black and of white",
                hint='for example: range = [0, 1], [-1, 1], [0, 255] or "minmax"',
            )
        if self.scale < 1:
            raise SettingError(f"scale {self.scale} is less than 1", hint="remove it, or use 2, 3, 4, ...")
        if self.size == "model" and (self.scale, self.filter) != (1, "bilinear"):
            raise SettingError("'scale' and 'filter' have no effect with size = \"model\"", hint="remove them")
        if self.colour == "alpha" and (self.size, self.scale, self.palette) != ("picture", 1, ()):
            raise SettingError(
                'size, scale and palette have no effect with colour = "alpha": the picture stays as it is',
                hint='remove them, or set colour = "grey"',
            )
        if self.palette and self.colour not in ("auto", "grey"):
            raise SettingError(f"'palette' has no effect with colour '{self.colour}'", hint="remove one of them")
        if len(self.palette) == 1 or not all(_is_colour(each) for each in self.palette):
            raise SettingError(
                f"palette {list(self.palette)} is not two or more colours",
                hint='for example: palette = ["#000000", "#ff8000", "#ffffff"]',
            )

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        core.refuse_batch(self.KIND)
        placement = placement_of(core, self.image)
        if self.size == "picture" and placement is None:
            raise ConfigError("the model takes no picture to match the size to", hint='set size = "model"')
        form = self._form(spec)
        numbers = _channels_last(writer, spec, form)
        if placement and self.size == "picture":
            numbers = self._seen(writer, numbers, spec, form, placement)
            pixels = self._in_full(writer, self._pixels(writer, numbers), placement, form.channels)
            shape: tuple[Dimension, ...] = (f"{spec.name}.height", f"{spec.name}.width")
        else:
            pixels = self._coloured(writer, self._pixels(writer, numbers), form.channels)
            shape = (form.height, form.width)
        typed = PictureOutput(
            identifier=spec.identifier,
            pixels=writer.output(pixels, "pixels", ElementType.UINT8, (*shape, 4)),
        )
        return AttachedOutput(typed=typed, taken=(spec.name,))

    def _form(self, spec: TensorSpec) -> Form:
        """Raises ConfigError for another output, or keys that do not fit it."""
        shape = spec.shape
        if len(shape) in (3, 4) and (shape[0] == 1 or not isinstance(shape[0], int)):
            shape = shape[1:] if len(shape) == 4 else (1, *shape[1:])
        shape = (1, *shape) if len(shape) == 2 else shape
        if len(shape) != 3:
            raise ConfigError(
                f"the output is {in_words(spec)}: not [1, channels, height, width]",
                hint='use kind = "tensor" to return it as it is',
            )
        first, last = (shape[axis] in CHANNELS for axis in (0, 2))
        is_last = self.layout == "nhwc" or (self.layout == "auto" and last and not first)
        height, width, channels = shape if is_last else (*shape[1:], shape[0])
        if channels not in CHANNELS or (self.layout == "auto" and first and last):
            raise ConfigError(
                f"the output is {in_words(spec)}: it is not clear which size is the 1 or 3 channels",
                hint='set layout = "nchw" or "nhwc"; for other numbers of channels, use kind = "mask" or "tensor"',
            )
        wanted = 3 if self.colour in ("rgb", "bgr") else 1
        if channels != wanted and (self.colour != "auto" or self.palette):
            what = "a palette" if self.palette else f"colour '{self.colour}'"
            raise ConfigError(
                f"the output is {in_words(spec)}: {what} needs {wanted} channel{'s' * (wanted > 1)}, not {channels}",
                hint="remove that key, or choose another output",
            )
        for key, numbers in (("mean", self.mean), ("std", self.std)):
            if len(numbers) not in (1, channels) or not all(map(isfinite, numbers)):
                raise ConfigError(
                    f"{key} {list(numbers)} does not fit {channels} channels", hint="use one number, or one per channel"
                )
        return Form(height=height, width=width, channels=channels, is_channels_last=is_last)

    def _seen(self, writer: Writer, numbers: str, spec: TensorSpec, form: Form, placement: Placement) -> str:
        """`numbers` [h, w, channels] where the whole upright picture lies: without borders of a letterbox; outside a
        crop, the numbers at its edges."""
        core = placement.core_height, placement.core_width
        known = [each for each in (form.height, form.width) if isinstance(each, int)]
        if self.scale > 1 and len(known) == 2 and known != [each * self.scale for each in core]:
            raise ConfigError(
                f"the output is {in_words(spec)}: not {self.scale} times the {core[0]} x {core[1]} pixels that it sees",
                hint="set scale to the model's own factor, or remove it",
            )
        factor = (
            max(ceil(one / other) for one, other in zip(known, core, strict=True)) if len(known) == 2 else self.scale
        )
        made = [each * factor for each in core]
        if known != made:
            lengths = writer.node("Concat", [1], made, writer.node("Shape", numbers, start=2), axis=0)
            batch = writer.node("Unsqueeze", numbers, [0])
            batch = writer.node(
                "Resize", batch, "", "", lengths, mode="linear", coordinate_transformation_mode="half_pixel"
            )
            numbers = writer.node("Squeeze", batch, [0])
        sides = (placement.made_height, placement.offset_y), (placement.made_width, placement.offset_x)
        for axis, (count, (length, offset)) in enumerate(zip(made, sides, strict=True)):
            hidden = writer.node("Add", length, placement.nothing) if placement.nothing else length
            places = counted(writer, writer.node("Mul", hidden, writer.integer(factor)))
            places = writer.node("Add", places, writer.node("Mul", offset, writer.integer(factor)))
            within = writer.node("Max", writer.node("Min", places, writer.integer(count - 1)), writer.integer(0))
            numbers = writer.node("Gather", numbers, within, axis=axis)
        return numbers

    def _pixels(self, writer: Writer, numbers: str) -> str:
        """uint8 of the same shape."""
        numbers = activated(writer, numbers, self.activation)
        for op, given, nothing in (("Mul", self.std, 1.0), ("Add", self.mean, 0.0)):
            if any(each != nothing for each in given):
                numbers = writer.node(op, numbers, list(given))
        if self.range == "minmax":
            least, most = (writer.node(op, numbers, keepdims=0) for op in ("ReduceMin", "ReduceMax"))
            # The smallest divisor lets a picture of one number be black.
            span = writer.node("Max", writer.node("Sub", most, least), 1e-30)
            shares = writer.node("Mul", writer.node("Div", writer.node("Sub", numbers, least), span), 255.0)
        else:
            black, white = self.range
            factor = 255 / (white - black)
            shares = writer.node("Mul", numbers, factor) if factor != 1 else numbers
            shares = writer.node("Add", shares, -black * factor) if black else shares
        clipped = writer.node("Max", writer.node("Min", shares, 255.0), 0.0)
        return writer.cast(writer.node("Floor", writer.node("Add", clipped, 0.5)), ElementType.UINT8)

    def _in_full(self, writer: Writer, pixels: str, placement: Placement, channels: int) -> str:
        """uint8 [height, width, 4] in the size of the upright picture, times `scale`."""
        sizes = [placement.height, placement.width]
        if self.scale > 1:
            sizes = [writer.node("Mul", each, writer.integer(self.scale)) for each in sizes]
        if channels == 3:
            pixels = self._coloured(writer, pixels, channels)
        sides = Sides(writer=writer, pixels=pixels, nothing=placement.nothing or writer.integers(0))
        height, width = sizes
        made = resized(writer, pixels, sides, height=height, width=width, filter_=self.filter, antialias=True)
        made = writer.node("Reshape", made, writer.node("Concat", height, width, writer.integers(-1), axis=0))
        if self.colour == "alpha":
            assert placement.colours is not None
            made = writer.node("Concat", placement.colours(), made, axis=2)
        elif channels == 1:
            made = self._coloured(writer, made, channels)
        return _cleared(writer, made, placement, height, width)

    def _coloured(self, writer: Writer, pixels: str, channels: int) -> str:
        """uint8 [h, w, 4] of `pixels` [h, w, channels]."""
        import numpy

        if channels == 1:
            return writer.node(
                "Gather",
                writer.constant(self._table()),
                writer.cast(writer.node("Squeeze", pixels, [2]), ElementType.INT32),
            )
        if self.colour == "bgr":
            pixels = writer.node("Gather", pixels, [2, 1, 0], axis=2)
        return writer.node("Pad", pixels, [0, 0, 0, 0, 0, 1], writer.constant(numpy.array(OPAQUE, numpy.uint8)))

    def _table(self) -> "numpy.ndarray":
        """uint8 [256, 4]: the colour of each value of a single channel; colours of a palette are mixed linearly."""
        import numpy

        colours = [[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in self.palette or ("#000000", "#ffffff")]
        places, stops = numpy.arange(256), numpy.linspace(0, 255, len(colours))
        mixed = [numpy.interp(places, stops, channel) for channel in zip(*colours, strict=True)]
        table = numpy.stack([*mixed, numpy.full(256, OPAQUE)], axis=1)
        return numpy.ascontiguousarray(numpy.floor(table + 0.5).astype(numpy.uint8))


def _is_colour(text: str) -> bool:
    return re.fullmatch("#[0-9A-Fa-f]{6}", text) is not None


def _channels_last(writer: Writer, spec: TensorSpec, form: Form) -> str:
    """`spec` as float [height, width, channels]."""
    numbers = floats(writer, spec)
    if len(spec.shape) == 2:
        return writer.node("Unsqueeze", numbers, [2])
    if len(spec.shape) == 4:
        numbers = writer.node("Squeeze", numbers, [0])
    return numbers if form.is_channels_last else writer.node("Transpose", numbers, perm=[1, 2, 0])


def _cleared(writer: Writer, pixels: str, placement: Placement, height: str, width: str) -> str:
    """`pixels` with 0 where the model has not seen the picture, which are the first and last rows or columns."""
    sides = (
        _unseen(writer, height, placement.made_height, placement.offset_y, placement.core_height),
        _unseen(writer, width, placement.made_width, placement.offset_x, placement.core_width),
    )
    before, after = (writer.node("Concat", *each, axis=0) for each in zip(*sides, strict=True))
    end = writer.node("Sub", writer.node("Concat", height, width, axis=0), after)
    borders = writer.node("Concat", before, [0], after, [0], axis=0)
    return writer.node("Pad", writer.node("Slice", pixels, before, end, [0, 1]), borders)


def _unseen(writer: Writer, pixels: str, made: str, offset: str, core: int) -> tuple[str, str]:
    """int64 [1]: how many of `pixels` lie before the model's picture, and how many behind it. The centre of pixel i is
    at `(i + 1/2) made / pixels + offset`."""
    twice = writer.node("Mul", pixels, writer.integer(2))
    odd = writer.node("Add", writer.node("Mul", counted(writer, pixels), writer.integer(2)), writer.integer(1))
    at = writer.node("Add", writer.node("Mul", odd, made), writer.node("Mul", offset, twice))
    is_before = writer.node("Less", at, writer.integer(0))
    is_behind = writer.node("GreaterOrEqual", at, writer.node("Mul", twice, writer.integer(core)))
    before, behind = (
        writer.node("ReduceSum", writer.cast(each, ElementType.INT64), [0], keepdims=1)
        for each in (is_before, is_behind)
    )
    return before, behind
