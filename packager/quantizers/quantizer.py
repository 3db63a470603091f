"""The interface of quantizers: they turn a graph into one that computes nearly the same in another precision."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

from packager.core.errors import SettingError
from packager.core.sample_settings import AudioSettings, ImageSettings
from packager.core.strict_tables import STRICT
from packager.core.user_functions import is_function
from packager.graph.rewriting.draft import Draft

RangeMethod = Literal["minmax", "moving-average", "percentile", "entropy", "mse"]


METRICS = ("sqnr", "cosine", "top1")
"""Metrics of the similarity of two models' outputs; higher is better."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Settings for finding the ranges of values."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    samples: str
    """inputs as the app will have them: an .npz file (one array per input, the first axis counts samples), a folder of
    .npz, .npy, images or .wav, or `module:function`, which yields dictionaries of arrays by input name"""
    limit: int | None = None
    """maximum number of samples, from the first on; all if absent"""
    method: RangeMethod = "minmax"
    """`minmax` keeps every value; the others cut off rare ones: `percentile`, `entropy` (least information lost), `mse`
    (smallest square error); `moving-average` smooths the limits from sample to sample"""
    percentile: float = 99.999
    """percentage of the numbers that `percentile` keeps"""
    image: ImageSettings = field(default_factory=ImageSettings)
    """conversion of pictures to numbers"""
    audio: AudioSettings = field(default_factory=AudioSettings)
    """conversion of recordings to numbers"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if not 50 < self.percentile <= 100:
            raise SettingError(
                f"percentile {self.percentile:g} is not between 50 and 100", hint="99.999 is the default"
            )
        if self.limit is not None and self.limit < 1:
            raise SettingError("limit must be at least 1", hint="omit it to use all samples")

    @property
    def is_function(self) -> bool:
        """Whether the samples come from a function."""
        return is_function(self.samples)

    def within(self, folder: Path) -> "Calibration":
        """A copy with the path in it relative to `folder`."""
        return self if self.is_function else replace(self, samples=str(folder / self.samples))


class _TextOrTable:
    """Says in the schema that a string may replace a table with that string as its samples; `packager.config`
    converts it."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {"anyOf": [{"type": "string"}, handler(schema)]}


CalibrationKey = Annotated[Calibration, _TextOrTable()]
"""`calibration = "samples/"` for short, or a table of its own."""


class Quantizer(Protocol):
    NAME: ClassVar[str]

    def quantize(self, draft: Draft) -> None:
        """Rewrites the draft, and records in it the layers that stay in float. Raises ModelError for a graph that it
        cannot quantize at all."""
        ...


class Calibrated(Quantizer, Protocol):
    """A quantizer that needs the ranges of values."""

    @property
    def calibration(self) -> Calibration: ...

    def measures(self, draft: Draft) -> tuple[str, ...]:
        """The values of `draft` whose ranges it needs."""
        ...
