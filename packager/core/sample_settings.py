"""Settings that turn files into inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from packager.core.strict_tables import STRICT


@dataclass(frozen=True, kw_only=True)
class ImageSettings:
    """Conversion of a picture to numbers: `(pixel * scale - mean) / std`, or the pixel itself where the input is
    uint8."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    size: tuple[int, int] | None = None
    """height and width where the model leaves them open; each picture's own if absent"""
    mean: tuple[float, ...] = (0.0,)
    """one for all channels or one each, in the model's channel order"""
    std: tuple[float, ...] = (1.0,)
    """as `mean`"""
    scale: float = 1 / 255
    """factor for a pixel, 0 to 255, before anything else"""
    layout: Literal["auto", "nchw", "nhwc"] = "auto"
    """`auto` finds the channels: the dimension that is 1, 3 or 4"""
    colour: Literal["rgb", "bgr", "grey", "auto"] = "auto"
    """`auto` is grey for one channel, else red first"""
    resize: Literal["stretch", "crop"] = "stretch"
    """`crop` keeps the aspect ratio and crops two sides"""


@dataclass(frozen=True, kw_only=True)
class AudioSettings:
    """Conversion of a recording to numbers from -1 to 1; several channels are averaged."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    sample_rate: int | None = None
    """in Hz; that of the first file if absent. Nothing is resampled"""
    take: Literal["start", "windows"] = "start"
    """part of a recording that is longer than the input: its start, or consecutive windows, the last one padded"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    image: ImageSettings = field(default_factory=ImageSettings)
    audio: AudioSettings = field(default_factory=AudioSettings)
    limit: int | None = None
    """maximum number of samples, from the first on; all if absent"""
