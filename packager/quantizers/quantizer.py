"""What a quantizer is: something that turns a graph into one that computes nearly the same with other numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

from packager.core.sample_settings import AudioSettings, ImageSettings
from packager.core.strict_tables import STRICT
from packager.core.user_functions import is_function
from packager.rewriting.draft import Draft

RangeMethod = Literal["minmax", "moving-average", "percentile", "entropy", "mse"]


METRICS = ("sqnr", "cosine", "top1")
"""How far the outputs of two models are apart; more is better."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How the ranges of values are found."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    samples: str
    """inputs as the app will have them: an .npz file (one array per input, the first axis counts samples), a folder of
    .npz, .npy, images or .wav, or `module:function`, which gives dictionaries of arrays by input name"""
    limit: int | None = None
    """how many of them to take, from the first on; all when absent"""
    method: RangeMethod = "minmax"
    """`minmax` keeps every value; the others cut off what is rare: `percentile`, `entropy` (least information lost),
    `mse` (least square error); `moving-average` smooths the limits from sample to sample"""
    percentile: float = 99.999
    """how many percent of the numbers `percentile` keeps"""
    image: ImageSettings = field(default_factory=ImageSettings)
    """how pictures become numbers"""
    audio: AudioSettings = field(default_factory=AudioSettings)
    """how recordings become numbers"""

    def __post_init__(self) -> None:
        """Raises ValueError: what is wrong, `|`, what to do."""
        if not 50 < self.percentile <= 100:
            raise ValueError(f"percentile {self.percentile:g} is not between 50 and 100|99.999 is the default")
        if self.limit is not None and self.limit < 1:
            raise ValueError("limit must be at least 1|leave it out to take all samples")

    @property
    def is_function(self) -> bool:
        """Whether the samples come from a function."""
        return is_function(self.samples)

    def within(self, folder: Path) -> "Calibration":
        """The same with the path in it relative to `folder`."""
        return self if self.is_function else replace(self, samples=str(folder / self.samples))


class _TextOrTable:
    """Says in the schema that a text may stand for a table with that text as its samples; `packager.config` makes it
    one."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {"anyOf": [{"type": "string"}, handler(schema)]}


CalibrationKey = Annotated[Calibration, _TextOrTable()]
"""`calibration = "samples/"` for short, or a table of its own."""


class Quantizer(Protocol):
    NAME: ClassVar[str]

    def quantize(self, draft: Draft) -> None:
        """Rewrites the draft, and notes in it what stays in float. Raises ModelError for a graph that it cannot
        quantize at all."""
        ...


class Calibrated(Quantizer, Protocol):
    """A quantizer that must know between which numbers values lie."""

    @property
    def calibration(self) -> Calibration: ...

    def measures(self, draft: Draft) -> tuple[str, ...]:
        """The values of `draft` whose ranges it needs."""
        ...
