"""All that is known of a quantized variant, and the same as JSON; `page.py` makes a page of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packager.core.to_json import plain
from packager.core.values import FloatLayer
from packager.quantization.measurement.latency import Latency
from packager.quantization.measurement.layers import LayerError
from packager.quantization.measurement.metrics import Score


@dataclass(frozen=True, kw_only=True)
class Side:
    """A model before or after."""

    file: str
    """its name, without folders"""
    size_bytes: int
    """weights included"""
    sha256: str


@dataclass(frozen=True, kw_only=True)
class SamplesUsed:
    """What ranges were measured on."""

    source: str
    """in words: a file, a folder or a function"""
    count: int
    method: str
    """how ranges were made of what was seen"""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LayerChoice:
    """What a search decided for a layer, and why."""

    layer: str
    scheme: str
    """in words: `int8, per channel` or `float`"""
    reason: str


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A graph that a search tried."""

    what: str
    """in words, what was different about it"""
    drop: float
    """of the metric, from that of the float model"""
    is_within: bool
    """whether it keeps to the budget"""


@dataclass(frozen=True, kw_only=True)
class Search:
    evaluations: tuple[Evaluation, ...]
    count: int
    """evaluations that it made, those for noise included, which are not listed"""
    bound: int
    """the most evaluations that the search could have taken"""
    choices: tuple[LayerChoice, ...]


@dataclass(frozen=True, kw_only=True)
class QuantizationReport:
    """A variant beside the float model that it was made of."""

    model: str
    """its name"""
    variant: str
    original: Side
    quantized: Side
    quantizer: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """of the quantizer, as in mobpack.toml"""
    calibration: SamplesUsed | None = None
    score: Score | None = None
    max_drop: float | None = None
    """the budget, where there is one"""
    latencies: tuple[Latency, ...] = ()
    layers: tuple[LayerError, ...] = ()
    """in the order of the graph"""
    left: tuple[FloatLayer, ...] = ()
    """what stayed in float"""
    search: Search | None = None
    warnings: tuple[str, ...] = ()

    @property
    def size_ratio(self) -> float:
        """Quantized for float."""
        return self.quantized.size_bytes / self.original.size_bytes if self.original.size_bytes else 1.0


COMPUTED: Mapping[type, tuple[str, ...]] = {
    QuantizationReport: ("size_ratio",),
    Latency: ("ratio",),
    Score: ("drop",),
}
"""What is said of a value beside its fields."""


def as_json(report: QuantizationReport) -> dict[str, object]:
    """The report in what JSON can say, keys in kebab-case; infinity is a text: `infinity`, `-infinity`."""
    document: dict[str, object] = plain(report, COMPUTED)
    measured = [
        # Of one that was skipped, the times are none.
        {"machine": each.machine, "is-emulated": each.is_emulated, "skipped": each.skipped} if each.skipped else shown
        for each, shown in zip(report.latencies, plain(report.latencies, COMPUTED), strict=True)
    ]
    return {**document, "latencies": measured}
