"""The results for a quantized variant, also as JSON; `page.py` makes a page of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packager.core.quantized import FloatLayer, KeptScales
from packager.core.to_json import plain
from packager.quantization.measurement.latency import Latency
from packager.quantization.measurement.layers import LayerError
from packager.quantization.measurement.metrics import Score
from packager.quantization.search import HeldOut


@dataclass(frozen=True, kw_only=True)
class ReportedSide:
    """A model before or after quantization."""

    file: str
    """its name, without folders"""
    size_bytes: int
    """weights included"""
    sha256: str


@dataclass(frozen=True, kw_only=True)
class SamplesUsed:
    """Samples of the calibration."""

    source: str
    """in words: a file, a folder or a function"""
    count: int
    method: str
    """method that computed the ranges"""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LayerChoice:
    """A search's decision for a layer, and its reason."""

    layer: str
    scheme: str
    """in words: `int8, per channel` or `float`"""
    reason: str


@dataclass(frozen=True, kw_only=True)
class ReportedEvaluation:
    """A graph that a search tried."""

    what: str
    """what was different about it, in words"""
    drop: float
    """of the metric, relative to the float model"""
    is_within: bool
    """whether it is within the budget"""


@dataclass(frozen=True, kw_only=True)
class ReportedSearch:
    evaluations: tuple[ReportedEvaluation, ...]
    count: int
    """number of evaluations, including those for sensitivity, which are not listed"""
    bound: int
    """maximum number of evaluations of the search"""
    choices: tuple[LayerChoice, ...]
    held_out: HeldOut | None = None
    """loss on samples that the search has not seen"""


@dataclass(frozen=True, kw_only=True)
class QuantizationReport:
    """A variant compared with the float model that it was made from."""

    model: str
    """its name"""
    variant: str
    original: ReportedSide
    quantized: ReportedSide
    quantizer: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """of the quantizer, as in mobpack.toml"""
    calibration: SamplesUsed | None = None
    score: Score | None = None
    max_drop: float | None = None
    """the budget, if there is one"""
    latencies: tuple[Latency, ...] = ()
    layers: tuple[LayerError, ...] = ()
    """in the order of the graph"""
    left: tuple[FloatLayer, ...] = ()
    """layers that stayed in float"""
    scales: KeptScales | None = None
    """scales that are those of the version before; null if none were to be kept"""
    search: ReportedSearch | None = None
    warnings: tuple[str, ...] = ()
    unverified: str = ""
    """how the samples were converted, if nothing states it: the metric cannot tell whether the model wants it so"""

    @property
    def size_ratio(self) -> float:
        """Quantized size over float size."""
        return self.quantized.size_bytes / self.original.size_bytes if self.original.size_bytes else 1.0


COMPUTED: Mapping[type, tuple[str, ...]] = {
    QuantizationReport: ("size_ratio",),
    KeptScales: ("count", "kept"),
    Latency: ("ratio",),
    Score: ("drop",),
}
"""Computed properties that are included besides the fields of a type."""


def as_json(report: QuantizationReport) -> dict[str, object]:
    """The report as JSON, keys in kebab-case; infinity is a string: `infinity`, `-infinity`."""
    document: dict[str, object] = plain(report, COMPUTED)
    measured = [
        # A skipped one has no times.
        {"machine": each.machine, "skipped": each.skipped} if each.skipped else shown
        for each, shown in zip(report.latencies, plain(report.latencies, COMPUTED), strict=True)
    ]
    return {**document, "latencies": measured}
