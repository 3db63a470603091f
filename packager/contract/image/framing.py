"""Height, width and channels of a picture in a model's input."""

from dataclasses import dataclass
from typing import Literal

from packager.core.errors import ConfigError
from packager.core.signature import Dimension, ElementType, TensorSpec

Layout = Literal["auto", "nchw", "nhwc"]
Colour = Literal["rgb", "bgr", "grey", "auto"]

CHANNELS = {"rgb": 3, "bgr": 3, "grey": 1}
ELEMENTS = (ElementType.FLOAT, ElementType.FLOAT16, ElementType.UINT8)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The picture in a model's input."""

    height: int
    width: int | None
    """None for a picture of its own width"""
    channels: int
    """1 or 3"""
    is_channels_last: bool
    has_batch: bool

    @property
    def shape(self) -> tuple[int | None, ...]:
        sizes = (self.height, self.width)
        ordered = (*sizes, self.channels) if self.is_channels_last else (self.channels, *sizes)
        return (1, *ordered) if self.has_batch else ordered


def framed(
    spec: TensorSpec, *, size: tuple[int, int] | None, layout: Layout, colour: Colour, has_open_width: bool = False
) -> Frame:
    """The picture in `spec`. Raises ConfigError if it has none, or if the shape is ambiguous."""
    dimensions = spec.shape[1:] if len(spec.shape) == 4 else spec.shape
    if (
        spec.element not in ELEMENTS
        or len(dimensions) != 3
        or (len(spec.shape) == 4 and not _is_open(1, spec.shape[0]))
    ):
        raise ConfigError(
            f"{_described(spec)} cannot be a picture: use float, float16 or uint8 with 3 dimensions or a batch of 1",
            hint='use kind = "tensor" to pass it as it is',
        )
    is_channels_last = _is_channels_last(spec, dimensions, layout)
    sides = dimensions[:2] if is_channels_last else dimensions[1:]
    height, width = (_height(spec, sides), None) if has_open_width else _size(spec, sides, size)
    return Frame(
        height=height,
        width=width,
        channels=_channels(spec, dimensions[2 if is_channels_last else 0], colour),
        is_channels_last=is_channels_last,
        has_batch=len(spec.shape) == 4,
    )


def _is_open(size: int, declared: Dimension) -> bool:
    """Whether a dimension is `size`, or may be."""
    return declared == size or not isinstance(declared, int)


def _described(spec: TensorSpec) -> str:
    sizes = ", ".join(str(size or "?") for size in spec.shape)
    return f"the input ({spec.element} [{sizes}])"


def _is_channels_last(spec: TensorSpec, dimensions: tuple[Dimension, ...], layout: Layout) -> bool:
    if layout != "auto":
        return layout == "nhwc"
    first, last = (dimensions[axis] in CHANNELS.values() for axis in (0, 2))
    if first == last:
        what = "both the first and the last dimension" if first else "no dimension"
        raise ConfigError(f"{_described(spec)}: {what} can be channels", hint='set layout = "nchw" or "nhwc"')
    return last


def _channels(spec: TensorSpec, declared: Dimension, colour: Colour) -> int:
    asked = CHANNELS.get(colour)
    channels = declared if isinstance(declared, int) else asked or 3
    if channels not in CHANNELS.values() or asked not in (None, channels):
        what = "pictures" if asked is None else f"'{colour}'"
        raise ConfigError(
            f"{_described(spec)} has {channels} channels, which does not fit {what}",
            hint="set colour to grey for 1 channel, to rgb or bgr for 3; layout names their dimension",
        )
    return channels


def _height(spec: TensorSpec, declared: tuple[Dimension, ...]) -> int:
    """Height of a picture whose width is open."""
    height, width = declared
    if isinstance(width, int):
        raise ConfigError(
            f"{_described(spec)} takes pictures of one width alone", hint='use resize = "letterbox" or another one'
        )
    if not isinstance(height, int):
        raise ConfigError(
            f"{_described(spec)} leaves the height of pictures open", hint="set its size in [model.NAME] shapes"
        )
    return height


def _size(spec: TensorSpec, declared: tuple[Dimension, ...], size: tuple[int, int] | None) -> tuple[int, int]:
    """Height and width."""
    height, width = size or declared
    if not isinstance(height, int) or not isinstance(width, int) or min(height, width) < 1:
        raise ConfigError(f"{_described(spec)} leaves the size of pictures open", hint="set size = [height, width]")
    if not _is_open(height, declared[0]) or not _is_open(width, declared[1]):
        raise ConfigError(
            f"{_described(spec)} takes no pictures of [{height}, {width}]", hint="omit 'size', or use the model's"
        )
    return height, width
