"""Histograms that grow with their data: bins are a power of two wide and merge in pairs when the range grows.

The bin of a value x at exponent e is floor(x / 2^e). Since floor(floor(a) / 2) = floor(a / 2), merging bins gives the
same counts as counting again with wider ones, bit for bit: the result depends on neither order nor threads, and no
first pass has to find the range.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float32, float64, int64
    from numpy.typing import NDArray

SIDE_BITS = 13
"""A side, negative or positive, has up to 2^13 bins; the largest magnitude lies in the upper half of them."""
LEAST_EXPONENT = -120
"""2^-LEAST_EXPONENT is still a float32."""
CHUNK = 1 << 16
"""Elements counted at a time: they, their bins and the counts fit into a core's second-level cache."""


@dataclass(frozen=True)
class Histogram:
    exponent: int
    first: int
    """number of the first bin in `counts`; bin k holds the values from k to k + 1 times 2^exponent"""
    counts: "NDArray[int64]"

    @property
    def edges(self) -> "NDArray[float64]":
        """Edges of the bins: one more than counts."""
        import numpy

        bins: NDArray[float64] = numpy.arange(self.first, self.first + self.counts.size + 1, dtype=numpy.float64)
        return numpy.ldexp(bins, self.exponent)


def exponent_for(low: float, high: float) -> int:
    """The smallest exponent at which all values from `low` to `high` have bins."""
    greatest = max(-low, high)
    return max(math.frexp(greatest)[1] - SIDE_BITS, LEAST_EXPONENT) if greatest else LEAST_EXPONENT


def count(values: "NDArray[float32]", low: float, high: float, *, at_least: int) -> Histogram:
    """The histogram of flat `values`, at least one, from `low` to `high`, with bins no finer than 2^at_least."""
    import numpy

    exponent = max(exponent_for(low, high), at_least)
    first, last = (math.floor(math.ldexp(value, -exponent)) for value in (low, high))
    # Division by a power of two is exact in float32 as long as no number becomes subnormal.
    number = numpy.float32 if exponent <= 0 else numpy.float64
    scaled, bins = (numpy.empty(min(CHUNK, values.size), each) for each in (number, numpy.int32))
    scale = number(math.ldexp(1.0, -exponent))
    counts: NDArray[int64] | None = None
    for start in range(0, values.size, CHUNK):
        chunk = values[start : start + CHUNK]
        part, into = scaled[: chunk.size], bins[: chunk.size]
        numpy.multiply(chunk, scale, out=part)
        if low < 0:
            numpy.floor(part, out=part)
        if first:
            numpy.subtract(part, number(first), out=part)
        into[...] = part
        new = numpy.bincount(into, minlength=last - first + 1)
        counts = new if counts is None else numpy.add(counts, new, out=counts)
    assert counts is not None
    return Histogram(exponent, first, counts)


def add(one: Histogram, other: Histogram) -> Histogram:
    """The sum of both; adds to the counts of `one` in place if they have room."""
    import numpy

    exponent = max(one.exponent, other.exponent)
    one, other = coarser(one, exponent), coarser(other, exponent)
    first = min(one.first, other.first)
    end = max(one.first + one.counts.size, other.first + other.counts.size)
    if (first, end) != (one.first, one.first + one.counts.size):
        counts = numpy.zeros(end - first, numpy.int64)
        counts[one.first - first :][: one.counts.size] = one.counts
        one = Histogram(exponent, first, counts)
    one.counts[other.first - first :][: other.counts.size] += other.counts
    return one


def coarser(histogram: Histogram, exponent: int) -> Histogram:
    """The same values in bins of 2^exponent, which must not be finer."""
    import numpy

    shift = exponent - histogram.exponent
    if not shift:
        return histogram
    old = numpy.arange(histogram.first, histogram.first + histogram.counts.size, dtype=numpy.int64)
    bins = old >> min(shift, 63)
    starts = numpy.flatnonzero(numpy.diff(bins, prepend=bins[0] - 1))
    return Histogram(exponent, int(bins[0]), numpy.add.reduceat(histogram.counts, starts))
