"""How files become inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from packager.core.strict_tables import STRICT


@dataclass(frozen=True, kw_only=True)
class ImageSettings:
    """How a picture becomes numbers: `(pixel * scale - mean) / std`, or the pixel itself where the input is uint8."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    size: tuple[int, int] | None = None
    """height and width where the model leaves them open; each picture's own when absent"""
    mean: tuple[float, ...] = (0.0,)
    """one for all channels or one each, in the order in which the model takes them"""
    std: tuple[float, ...] = (1.0,)
    """as `mean`"""
    scale: float = 1 / 255
    """what a pixel, 0 to 255, is multiplied with first"""
    layout: Literal["auto", "nchw", "nhwc"] = "auto"
    """`auto` finds the channels: the dimension that is 1, 3 or 4"""
    colour: Literal["rgb", "bgr", "grey", "auto"] = "auto"
    """`auto` is grey for one channel, else red first"""
    resize: Literal["stretch", "crop"] = "stretch"
    """`crop` keeps the proportions and cuts off what is too much on two sides"""


@dataclass(frozen=True, kw_only=True)
class AudioSettings:
    """How a recording becomes numbers from -1 to 1; several channels become their mean."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    sample_rate: int | None = None
    """in Hz; that of the first file when absent. Nothing is resampled"""
    take: Literal["start", "windows"] = "start"
    """of a recording that is longer than the input: its start, or all of it in pieces, the last one filled up"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    image: ImageSettings = field(default_factory=ImageSettings)
    audio: AudioSettings = field(default_factory=AudioSettings)
    limit: int | None = None
    """how many samples to take of the source, from its first on; all when absent"""
