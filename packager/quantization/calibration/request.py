"""Describes a calibration: graph, tensors, samples and the method that computes ranges."""

from dataclasses import asdict, dataclass
from pathlib import Path

from packager.core.errors import ConfigError, nearest
from packager.samples import Samples

METHODS = ("minmax", "moving-average", "percentile", "entropy", "mse")
EXTREMES, HISTOGRAMS = "extremes", "histograms"
"""Statistics of every tensor: minimum and maximum by sample, or a histogram as well."""
LEAST_BINS = 256
"""Twice the 128 levels into which entropy divides bins: with fewer bins there is no choice."""


@dataclass(frozen=True, kw_only=True)
class RangeMethod:
    """Method that computes ranges from statistics."""

    name: str = "minmax"
    percentile: float = 99.999
    """percentage of all values that percentile keeps; half of the rest is cut off on either side"""
    smoothing: float = 0.01
    """weight of each new sample in the moving average, ONNX Runtime's constant"""
    bins: int = 2048
    """from zero to the largest magnitude, for entropy and mse; percentile uses as many for both signs"""
    is_symmetric: bool = False
    """percentile and mse: choose one limit for both signs"""

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise ConfigError(f"no calibration method '{self.name}'", hint=nearest(self.name, METHODS))
        if not 0 < self.percentile <= 100:
            raise ConfigError(
                f"percentile is {self.percentile:g}", hint="it must be between 0 and 100: 99.999 is usual"
            )
        if not 0 <= self.smoothing <= 1:
            raise ConfigError(f"smoothing is {self.smoothing:g}", hint="it must be between 0 and 1: 0.01 is usual")
        if self.bins < LEAST_BINS or self.bins % 2:
            raise ConfigError(
                f"{self.bins} bins",
                hint=f"use an even number of at least {LEAST_BINS}: 2048 is usual, more take longer",
            )

    @property
    def kind(self) -> str:
        """The kind of statistics that it needs."""
        return EXTREMES if self.name in ("minmax", "moving-average") else HISTOGRAMS

    @property
    def settings(self) -> dict[str, object]:
        """The fields that its result depends on."""
        used = {
            "moving-average": ("smoothing",),
            "percentile": ("percentile", "bins", "is_symmetric"),
            "entropy": ("bins",),
            "mse": ("bins", "is_symmetric"),
        }
        values = asdict(self)
        return {"name": self.name, **{key: values[key] for key in used.get(self.name, ())}}


@dataclass(frozen=True, kw_only=True)
class CalibrationRequest:
    graph: bytes
    """serialized ModelProto in floating point with external references"""
    weights_sha256: str
    """of the model's file and its external data"""
    data_folder: Path
    """of the external data"""
    tensors: tuple[str, ...]
    """values of the main graph, inputs included"""
    samples: Samples
    method: RangeMethod
    threads: int = 2
    """samples that run at the same time; the ranges do not depend on it"""
    outputs: Path | None = None
    """folder in which to record the graph's outputs for the samples that run, so that they need not be computed again;
    graphs that draw random numbers record nothing"""
