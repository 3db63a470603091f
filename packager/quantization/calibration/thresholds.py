"""Computes ranges from statistics: one function for each method. All are limited to the observed range."""

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from packager.core.quantized import Range
from packager.quantization.calibration.histogram import Histogram
from packager.quantization.calibration.request import RangeMethod

if TYPE_CHECKING:
    from numpy import bool_, float32, float64, int64
    from numpy.typing import NDArray

LEVELS = 128
"""Magnitudes of int8, into which entropy divides bins."""
STEPS = 255
"""Steps of an 8-bit integer, with 127 on either side of zero."""
DUST = 1e-3
"""Counts below it are rounding errors of interpolation: real ones are a good part of 1."""
ROWS = 64
"""Number of limits whose levels are summed at a time, so that the sums stay in the cache."""
STRIDE = 16
"""Step between the limits that mse tries first; it then tries all between the neighbours of the best."""


def least_and_greatest(extremes: "NDArray[float32]") -> Range:
    """Range of one tensor from its [samples, 2], without empty ones."""
    return Range(low=float(extremes[:, 0].min()), high=float(extremes[:, 1].max()))


def moving_average(extremes: "NDArray[float32]", method: RangeMethod) -> Range:
    """ONNX Runtime's moving average: the first sample's range moves by `smoothing` of the way to each of the next
    ones."""
    low, high = map(float, extremes[0])
    for new_low, new_high in extremes[1:].tolist():
        low += method.smoothing * (new_low - low)
        high += method.smoothing * (new_high - high)
    return Range(low=low, high=high)


def percentile(histogram: Histogram, seen: Range, method: RangeMethod) -> Range:
    """ONNX Runtime's percentile: the lower edges of the bins in which the cumulated counts pass either percentile."""
    import numpy

    limit = magnitude(seen)
    edges = numpy.linspace(0.0 if method.is_symmetric else -limit, limit, method.bins + 1)
    counts = rebinned(folded(histogram) if method.is_symmetric else histogram, edges)
    below = numpy.cumsum(counts / counts.sum())
    if method.is_symmetric:
        high = float(edges[min(int(numpy.searchsorted(below, method.percentile / 100)), method.bins)])
        return Range(low=max(-high, seen.low), high=min(high, seen.high))
    cut = (100 - method.percentile) / 200
    low, high = (float(edges[min(int(numpy.searchsorted(below, each)), method.bins)]) for each in (cut, 1 - cut))
    low = min(max(low, seen.low), seen.high)
    return Range(low=low, high=max(low, min(high, seen.high)))


def entropy(histogram: Histogram, seen: Range, method: RangeMethod) -> Range:
    """The limit whose 128 levels differ least from the values, by Kullback-Leibler divergence.

    S. Migacz, 8-bit inference with TensorRT, GTC 2017, with the choices of NVIDIA's pytorch-quantization: levels are
    equally wide in bins, and the bin at zero counts as much as its neighbour, because exact zeros cost nothing.
    """
    import numpy

    limit = magnitude(seen)
    edges = numpy.linspace(0.0, limit, method.bins + 1)
    counts = rebinned(folded(histogram), edges)
    counts[0] = counts[1]
    if not limit or not counts.any():
        return seen
    divergences = divergences_of(counts)
    best = divergences.size - 1 - int(numpy.argmin(divergences[::-1]))
    return _cut(float(edges[LEVELS + best]), seen)


def divergences_of(counts: "NDArray[float64]") -> "NDArray[float64]":
    """KL divergence for the first LEVELS bins, the first LEVELS + 1, ... and all; infinite where it is undefined.

    With counts h, their sum N, P = h with everything beyond the limit in its last bin, and Q = the mean of the nonempty
    bins over each level: sum P/N log(P/N) - sum P/N log(Q/sum(Q)). Both sums come from running totals.
    """
    import numpy

    ends = numpy.arange(LEVELS, counts.size + 1)
    total, last = _running(counts), counts[ends - 1]
    beyond = total[-1] - total[ends]
    own = _running(_times_log(counts))[ends] - _times_log(last) + _times_log(last + beyond)
    crossed = _crossed(counts, beyond)
    with numpy.errstate(divide="ignore"):
        result = (own - crossed) / total[-1] - numpy.log(total[-1] / total[ends])
    undefined = ((last == 0) & (beyond > 0)) | (total[ends] <= 0)
    chosen: NDArray[float64] = numpy.where(undefined, numpy.inf, result)
    return chosen


def _crossed(counts: "NDArray[float64]", beyond: "NDArray[float64]") -> "NDArray[float64]":
    """The sum of P log(Q) over the levels, for each limit; counts beyond a limit belong to the last level's P."""
    import numpy

    total, filled, bounds = _running(counts), _running(counts > 0), _bounds(counts.size)
    result = numpy.empty(len(bounds))
    for start in range(0, len(bounds), ROWS):
        rows = slice(start, start + ROWS)
        sums, bins = numpy.diff(total[bounds[rows]]), numpy.diff(filled[bounds[rows]])
        logs = numpy.log(numpy.where(bins > 0, sums, 1) / numpy.maximum(bins, 1))
        sums[:, -1] += beyond[rows]
        result[rows] = (sums * logs).sum(axis=1)
    return result


@cache
def _bounds(size: int) -> "NDArray[int64]":
    """The first bin of every level, and the end of the last one: a row for each limit of `divergences_of`."""
    import numpy

    ends = numpy.arange(LEVELS, size + 1)[:, None]
    return -(-ends * numpy.arange(LEVELS + 1) // LEVELS)


def mse(histogram: Histogram, seen: Range, method: RangeMethod) -> Range:
    """The limit whose 8-bit integers have the smallest mean square error, rounding and clipping together."""
    import numpy

    limit = magnitude(seen)
    if not limit:
        return seen
    edges = numpy.linspace(-limit, limit, 2 * method.bins + 1)
    counts = rebinned(histogram, edges)
    kept = counts > 0
    centres, counts = ((edges[1:] + edges[:-1]) / 2)[kept], counts[kept]

    def errors(numbers: "NDArray[int64]") -> "NDArray[float64]":
        limits = edges[method.bins + numbers]
        return square_errors(centres, counts, seen, limits, is_symmetric=method.is_symmetric)

    tried = numpy.arange(STRIDE, method.bins + 1, STRIDE)
    around = int(tried[numpy.argmin(errors(tried))])
    near = numpy.arange(max(1, around - STRIDE), min(method.bins, around + STRIDE) + 1)
    best = int(near[numpy.argmin(errors(near))])
    return _cut(float(edges[method.bins + best]), seen)


def square_errors(
    values: "NDArray[float64]",
    counts: "NDArray[float64]",
    seen: Range,
    limits: "NDArray[float64]",
    *,
    is_symmetric: bool,
) -> "NDArray[float64]":
    """Sum of square errors of `values`, each `counts` times, in 8-bit integers that end at each of `limits`.

    Zero is one of the numbers, as quantization requires. The range is that of `limits` where `seen` is wider.
    """
    import numpy

    lows = -limits if is_symmetric else numpy.maximum(-limits, min(seen.low, 0.0))
    highs = limits if is_symmetric else numpy.minimum(limits, max(seen.high, 0.0))
    steps = (highs - lows) / (2 * (STEPS // 2) if is_symmetric else STEPS)
    least = numpy.rint(lows / steps)
    result = numpy.empty(limits.size)
    for index, step in enumerate(steps):  # row by row: a row stays in the cache
        numbers = numpy.rint(values * (1 / step))
        greatest = least[index] + round((highs[index] - lows[index]) / step)
        numpy.clip(numbers, least[index], greatest, out=numbers)
        numbers *= step
        numbers -= values
        numpy.square(numbers, out=numbers)
        result[index] = counts @ numbers
    return result


BY_HISTOGRAM: Mapping[str, Callable[[Histogram, Range, RangeMethod], Range]] = {
    "percentile": percentile,
    "entropy": entropy,
    "mse": mse,
}


def magnitude(seen: Range) -> float:
    return max(-seen.low, seen.high)


def folded(histogram: Histogram) -> Histogram:
    """Histogram of the magnitudes: bin -1 joins bin 0, -2 joins 1 and so on."""
    import numpy

    end = histogram.first + histogram.counts.size
    counts = numpy.zeros(max(end, -histogram.first), numpy.int64)
    negative = max(-histogram.first, 0)
    offset = max(-end, 0)
    counts[offset : offset + negative - offset] += histogram.counts[: negative - offset][::-1]
    counts[max(histogram.first, 0) : max(end, 0)] += histogram.counts[negative:]
    return Histogram(histogram.exponent, 0, counts)


def rebinned(histogram: Histogram, edges: "NDArray[float64]") -> "NDArray[float64]":
    """Counts between `edges`; bins that an edge divides are shared out by width, which is exact for evenly filled
    ones."""
    import numpy

    total = _running(histogram.counts)
    counts: NDArray[float64] = numpy.diff(numpy.interp(edges, histogram.edges, total))
    counts[0] += numpy.interp(edges[0], histogram.edges, total)
    counts[-1] += total[-1] - numpy.interp(edges[-1], histogram.edges, total)
    counts[counts < DUST] = 0
    return counts


def _running(values: "NDArray[int64] | NDArray[float64] | NDArray[bool_]") -> "NDArray[float64]":
    """Totals before the first value, before the second, ... and of all."""
    import numpy

    totals: NDArray[float64] = numpy.concatenate(([0.0], numpy.cumsum(values, dtype=numpy.float64)))
    return totals


def _times_log(values: "NDArray[float64]") -> "NDArray[float64]":
    """x log x, zero at zero."""
    import numpy

    result: NDArray[float64] = values * numpy.log(numpy.where(values > 0, values, 1.0))
    return result


def _cut(limit: float, seen: Range) -> Range:
    """The range from -limit to limit, within the observed one."""
    if not math.isfinite(limit):
        return seen
    low = min(max(-limit, seen.low), seen.high)
    return Range(low=low, high=max(low, min(limit, seen.high)))
