"""Metrics of a quantized model's accuracy: three built-in ones that need no labels, or a function of the user's."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from packager.core.errors import ConfigError, ModelError, nearest
from packager.core.user_functions import is_function
from packager.graph.weights.sums import Sums, sums_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

SQNR, COSINE, TOP1 = "sqnr", "cosine", "top1"
ORIGINALS: Mapping[str, float] = {SQNR: math.inf, COSINE: 1.0, TOP1: 1.0}
"""Score of the float model itself."""

Outputs = Sequence["NDArray[Any]"]


@dataclass(frozen=True, kw_only=True)
class Score:
    """A metric's score of a graph, against the float model; higher is better."""

    metric: str
    value: float
    original: float
    """score of the float model"""
    samples: int = 0
    """number of samples; 0 if the metric has data of its own"""
    worst_sample: int | None = None
    """index of the sample with the lowest score"""
    worst_value: float | None = None
    """score of that sample"""

    @property
    def drop(self) -> float:
        """How much worse than the float model. For `sqnr`, where the float model has infinity, the noise relative to
        the power of the outputs: 0.001 at 30 dB, 0.01 at 20."""
        if self.value == self.original:
            return 0.0
        if self.metric == SQNR:
            return math.inf if self.value == -math.inf else 10 ** (-self.value / 10)
        return self.original - self.value

    def is_within(self, max_drop: float) -> bool:
        """Whether the score is within the budget."""
        return self.drop <= max_drop


def has_own_data(metric: str) -> bool:
    """Whether `metric` is the user's function and not a built-in one on samples. Raises ConfigError for neither."""
    if metric not in ORIGINALS and not is_function(metric):
        hint = f"{nearest(metric, ORIGINALS)}; or give module:function, a function of your own"
        raise ConfigError(f"no metric '{metric}'", hint=hint)
    return metric not in ORIGINALS


def has_numbers(output: "NDArray[Any]") -> bool:
    """Whether a float output has a number to compare: equal NaN or infinities say nothing."""
    import numpy

    return bool(numpy.isfinite(output).any())


class Metric(Protocol):
    """A built-in metric: sums over samples, in their order, and the score they result in."""

    @property
    def outputs(self) -> Mapping[int, str]:
        """Index of each output that it compares -> its name."""

    def of_sample(self, original: Outputs, found: Outputs) -> Sums: ...

    def value(self, totals: Sums, count: int) -> float: ...


def built_in(metric: str, names: Sequence[str], first: Outputs) -> Metric:
    """The built-in `metric`, for outputs like `first` with these names. Raises ConfigError if they are not of the kind
    it needs."""
    chosen = {index: names[index] for index, array in enumerate(first) if array.dtype.kind == "f"}
    if not chosen:
        raise ConfigError(
            f"metric '{metric}': the model has no float output",
            hint="compare with a metric of your own, module:function, or skip the measurement: --no-report",
        )
    match metric:
        case "sqnr":
            return Sqnr(chosen)
        case "cosine":
            return Cosine(chosen)
    rows = [index for index in chosen if first[index].ndim and first[index].shape[-1] > 1]
    if not rows:
        raise ConfigError(
            "metric 'top1': the model has no float output with several numbers in its last dimension",
            hint="use 'sqnr', 'cosine' or module:function",
        )
    return Top1(rows[0], names[rows[0]])


@dataclass(frozen=True)
class Sqnr:
    """Signal to quantization noise in dB, over all float outputs of all samples together."""

    outputs: Mapping[int, str]
    """index of each -> its name"""

    def of_sample(self, original: Outputs, found: Outputs) -> Sums:
        return _all_sums(self.outputs, original, found)

    def value(self, totals: Sums, count: int) -> float:
        return totals.sqnr_db


@dataclass(frozen=True)
class Cosine:
    """Mean over samples of the cosine between the concatenated float outputs and those of the float model."""

    outputs: Mapping[int, str]
    """index of each -> its name"""

    def of_sample(self, original: Outputs, found: Outputs) -> Sums:
        cosine = _all_sums(self.outputs, original, found).cosine
        is_compared = any(has_numbers(original[index]) for index in self.outputs)
        return Sums(product=cosine, other=1.0) if is_compared else Sums()

    def value(self, totals: Sums, count: int) -> float:
        return totals.product / totals.other if totals.other else 1.0


@dataclass(frozen=True)
class Top1:
    """Share of rows with the largest number at the same index, for the first float output that has rows. Rows without
    a largest number, because of NaN in the float model's, do not count."""

    output: int
    name: str

    @property
    def outputs(self) -> Mapping[int, str]:
        return {self.output: self.name}

    def of_sample(self, original: Outputs, found: Outputs) -> Sums:
        import numpy

        x, y = original[self.output], found[self.output]
        _refuse_other_shape(self.name, x, y)
        known = ~numpy.isnan(x).any(-1)
        same = known & (x.argmax(-1) == y.argmax(-1)) & ~numpy.isnan(y).any(-1)
        return Sums(product=float(same.sum()), other=float(known.sum()))

    def value(self, totals: Sums, count: int) -> float:
        return totals.product / totals.other if totals.other else 1.0


def _all_sums(outputs: Mapping[int, str], original: Outputs, found: Outputs) -> Sums:
    total = Sums()
    for index, name in outputs.items():
        _refuse_other_shape(name, original[index], found[index])
        total += sums_of(original[index], found[index])
    return total


def _refuse_other_shape(name: str, original: "NDArray[Any]", found: "NDArray[Any]") -> None:
    if original.shape != found.shape:
        raise ModelError(
            f"output '{name}' has shape {list(found.shape)}, and {list(original.shape)} in the float model",
            hint="the number of results depends on the values: compare with a metric of your own, module:function, or "
            "skip the measurement: --no-report",
        )
