"""Measures the error of an output over samples that come one after the other: only sums are kept."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from packager.core.findings import DECADES, OutputError
from packager.graph.weights.streaming import CHUNK_ELEMENTS, chunks_of
from packager.graph.weights.sums import Sums, sums_of
from packager.verification.parity.scale import NO_RANGE, Scale, must_be_equal

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOP = 5
EDGES = [10.0**power for power in range(1 - DECADES, 1)]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The error on one sample."""

    max_abs_error: float
    """largest |a - b|; infinity where exactly one of the two is NaN or infinite, or integers differ"""
    max_rel_error: float
    """max_abs_error relative to the scale of the output"""
    mismatch_count: int = 0
    reason: str = ""
    """why the two cannot be compared by value (shape, element type); empty if they can"""


class Comparison:
    """One output of a model: its values so far, against the expected ones."""

    def __init__(self, output: str, scale: Scale) -> None:
        """`scale` is that of the expected values on all samples."""
        self.output = output
        self.scale = scale
        self.reason = ""
        """why the outputs of a sample cannot be compared, in words; empty if all could"""
        self.is_exact = False
        """whether values must be equal: strings, booleans and integers are identifiers"""
        self._worst = Difference(max_abs_error=0.0, max_rel_error=0.0)
        self._worst_sample = 0
        self.sample_count = self._mismatch_count = self._number_count = self._finite_count = 0
        self._max_abs_error = self._abs_error = 0.0
        self._sums = Sums()
        self._histogram = [0] * (DECADES + 2)
        self._rows = self._first = self._among = 0
        self._has_top, self._has_top5 = False, False

    def add(self, expected: "NDArray[Any]", actual: "NDArray[Any]") -> Difference:
        """Adds the next sample. Infinities and NaNs must be at the same positions; 8-bit integers are quantized numbers
        and compared as such, wider ones must be equal."""
        found = self._difference(expected, actual)
        if not self.sample_count or not found.max_rel_error <= self._worst.max_rel_error:
            self._worst, self._worst_sample = found, self.sample_count
        self.sample_count += 1
        self._max_abs_error = max(self._max_abs_error, found.max_abs_error)
        self._mismatch_count += found.mismatch_count
        self.reason = self.reason or found.reason
        return found

    def absorb(self, other: "Comparison", number: int) -> None:
        """Adds the sample of `other`, of the same output, which has that number."""
        if not self.sample_count or not other._worst.max_rel_error <= self._worst.max_rel_error:
            self._worst, self._worst_sample = other._worst, number
        self.reason = self.reason or other.reason
        self.is_exact = other.is_exact
        self.sample_count += other.sample_count
        self._mismatch_count += other._mismatch_count
        self._number_count += other._number_count
        self._finite_count += other._finite_count
        self._max_abs_error = max(self._max_abs_error, other._max_abs_error)
        self._abs_error += other._abs_error
        self._sums += other._sums
        self._histogram = [one + more for one, more in zip(self._histogram, other._histogram, strict=True)]
        self._rows, self._first = self._rows + other._rows, self._first + other._first
        self._among += other._among
        self._has_top, self._has_top5 = other._has_top, other._has_top5

    @property
    def gain(self) -> float:
        """Ratio of the root mean squares of the actual and the expected numbers."""
        if not self._sums.signal:
            return 1.0 if not self._sums.other else math.inf
        return math.sqrt(self._sums.other / self._sums.signal)

    def result(self) -> OutputError:
        """The result of all samples so far."""
        return OutputError(
            output=self.output,
            max_abs_error=self._max_abs_error,
            max_rel_error=self._worst.max_rel_error,
            scale=self.scale.value,
            scale_from=self.scale.source,
            worst_sample=self._worst_sample,
            mean_abs_error=self._abs_error / self._finite_count if self._finite_count else 0.0,
            cosine=self._sums.cosine,
            sqnr_db=self._sums.sqnr_db,
            mismatch_count=self._mismatch_count,
            number_count=self._number_count,
            finite_count=self._finite_count,
            is_exact=self.is_exact,
            top1_agreement=self._first / self._rows if self._has_top and self._rows else None,
            top5_agreement=self._among / self._rows if self._has_top5 and self._rows else None,
            histogram=() if self.is_exact else tuple(self._histogram),
        )

    def _difference(self, expected: "NDArray[Any]", actual: "NDArray[Any]") -> Difference:
        if expected.dtype != actual.dtype and {expected.dtype.kind, actual.dtype.kind} != {"U"}:
            return _incomparable(f"element type {actual.dtype} instead of {expected.dtype}")
        if expected.shape != actual.shape:
            return _incomparable(f"shape {list(actual.shape)} instead of {list(expected.shape)}")
        self._number_count += expected.size
        self.is_exact = must_be_equal(expected)
        if self.is_exact:
            unequal = int((expected != actual).sum())
            error = float("inf") if unequal else 0.0
            return Difference(max_abs_error=error, max_rel_error=error, mismatch_count=unequal)
        self._rank(expected, actual)
        return self._numbers(expected, actual)

    def _numbers(self, expected: "NDArray[Any]", actual: "NDArray[Any]") -> Difference:
        import numpy

        worst, mismatches = 0.0, 0
        for narrow_a, narrow_b in zip(chunks_of(expected), chunks_of(actual), strict=True):
            a, b = narrow_a.astype(numpy.float64), narrow_b.astype(numpy.float64)
            with numpy.errstate(invalid="ignore"):
                error = a - b
                total = float(error.sum())
            if not math.isfinite(total):  # rare; checking every number costs more than their sum
                odd = ~numpy.isfinite(error)
                same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
                mismatches += int((odd & ~same).sum())
                self._sums += _beyond(narrow_a, narrow_b)
                error = error[~odd]
            else:
                self._sums += Sums(float(a @ a), float(error @ error), float(a @ b), float(b @ b))
            if error.size:
                numpy.abs(error, out=error)
                worst = max(worst, float(error.max()))
                self._abs_error += float(error.sum())
                self._finite_count += error.size
                self._count(error)
        if mismatches:
            worst = float("inf")
        return Difference(max_abs_error=worst, max_rel_error=worst / self.scale.value, mismatch_count=mismatches)

    def _count(self, errors: "NDArray[Any]") -> None:
        """Counts one decade after the other: eleven passes over a chunk in the cache are faster than one search for
        each number."""
        import numpy

        scale = self.scale.value
        below = [int(numpy.count_nonzero(errors == 0)), *(int(numpy.count_nonzero(errors < scale * e)) for e in EDGES)]
        counts = [below[0], *(after - before for before, after in pairwise(below)), errors.size - below[-1]]
        for place, count in enumerate(counts):
            self._histogram[place] += count

    def _rank(self, expected: "NDArray[Any]", actual: "NDArray[Any]") -> None:
        """Counts rows whose largest number is at the same index, and those where it is among the five largest."""
        import numpy

        width = expected.shape[-1] if expected.ndim else 0
        if width < 2 or expected.dtype.kind != "f":
            return
        self._has_top, self._has_top5 = True, width > TOP
        a, b = expected.reshape(-1, width), actual.reshape(-1, width)
        step = max(1, CHUNK_ELEMENTS // width)
        for start in range(0, len(a), step):
            first = a[start : start + step].argmax(-1)[:, None]
            rows = b[start : start + step]
            greater = (rows > numpy.take_along_axis(rows, first, -1)).sum(-1)
            self._rows += len(rows)
            self._first += int((rows.argmax(-1)[:, None] == first).sum())
            self._among += int((greater < TOP).sum())


def difference(expected: "NDArray[Any]", actual: "NDArray[Any]") -> Difference:
    """`actual` against `expected`, one sample."""
    return Comparison("", NO_RANGE.over([expected])).add(expected, actual)


def _beyond(a: "NDArray[Any]", b: "NDArray[Any]") -> Sums:
    """Sums over numbers of which some are not finite, or have squares that are not."""
    import numpy

    with numpy.errstate(over="ignore"):
        return sums_of(a, b)


def _incomparable(reason: str) -> Difference:
    return Difference(max_abs_error=float("inf"), max_rel_error=float("inf"), reason=reason)
