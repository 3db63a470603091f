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
    mean: tuple[float, ...] | None = None
    """one for all channels or one each, in the model's channel order; default: 0"""
    std: tuple[float, ...] | None = None
    """as `mean`; default: 1"""
    scale: float | None = None
    """factor for a pixel, 0 to 255, before anything else; default: 1/255. Without `mean`, `std` and `scale` the
    conversion is a guess, which mobpack prints, and refuses where the model's answers contradict it"""
    layout: Literal["auto", "nchw", "nhwc"] = "auto"
    """`auto` finds the channels: the dimension that is 1, 3 or 4"""
    colour: Literal["rgb", "bgr", "grey", "auto"] = "auto"
    """`auto` is grey for one channel, else red first"""
    resize: Literal["stretch", "crop"] = "stretch"
    """`crop` keeps the aspect ratio and crops two sides"""

    @property
    def is_stated(self) -> bool:
        """Whether the numbers that a pixel becomes were chosen by the user."""
        return (self.mean, self.std, self.scale) != (None, None, None)


@dataclass(frozen=True, kw_only=True)
class AudioSettings:
    """Conversion of a recording to numbers from -1 to 1, times `scale`; several channels are averaged."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    sample_rate: int | None = None
    """in Hz; that of the first file if absent. Nothing is resampled"""
    scale: float | None = None
    """factor for samples from -1 to 1: 32768 for models that expect 16-bit values; default: 1"""
    take: Literal["start", "windows"] = "start"
    """part of a recording that is longer than the input: its start, or consecutive windows, the last one padded"""

    @property
    def is_stated(self) -> bool:
        """Whether the range of the numbers was chosen by the user."""
        return self.scale is not None


@dataclass(frozen=True, kw_only=True)
class Settings:
    image: ImageSettings = field(default_factory=ImageSettings)
    audio: AudioSettings = field(default_factory=AudioSettings)
    limit: int | None = None
    """maximum number of samples, from the first on; all if absent"""
