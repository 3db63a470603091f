"""What is asked of a calibration: graph, tensors, samples and the method that makes ranges of them."""

from dataclasses import asdict, dataclass
from pathlib import Path

from packager.core.errors import ConfigError, nearest
from packager.samples import Samples

METHODS = ("minmax", "moving-average", "percentile", "entropy", "mse")
EXTREMES, HISTOGRAMS = "extremes", "histograms"
"""What is kept of every tensor: least and greatest value by sample, or a histogram as well."""
LEAST_BINS = 256
"""Twice the 128 levels that entropy divides bins into: with fewer there is nothing to choose from."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """How ranges are made of what was seen."""

    name: str = "minmax"
    percentile: float = 99.999
    """of all values, that percentile keeps; half of the rest is cut on either side"""
    smoothing: float = 0.01
    """weight of each new sample in the moving average, the constant of ONNX Runtime"""
    bins: int = 2048
    """from zero to the greatest magnitude, for entropy and mse; percentile counts both signs with as many"""
    is_symmetric: bool = False
    """percentile and mse: choose one limit for both signs"""

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise ConfigError(f"no calibration method '{self.name}'", hint=nearest(self.name, METHODS))
        if not 0 < self.percentile <= 100:
            raise ConfigError(f"percentile is {self.percentile:g}", hint="it lies between 0 and 100: 99.999 is usual")
        if not 0 <= self.smoothing <= 1:
            raise ConfigError(f"smoothing is {self.smoothing:g}", hint="it lies between 0 and 1: 0.01 is usual")
        if self.bins < LEAST_BINS or self.bins % 2:
            raise ConfigError(
                f"{self.bins} bins", hint=f"use an even number from {LEAST_BINS} on: 2048 is usual, more take longer"
            )

    @property
    def kind(self) -> str:
        """What has to be counted for it."""
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
    method: Method
    threads: int = 2
    """samples that are run at once; the ranges do not depend on it"""
    outputs: Path | None = None
    """folder that records what the graph gives of the samples that are run, so that nobody runs it for that again;
    graphs that draw random numbers record nothing"""
