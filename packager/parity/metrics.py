"""How far two outputs are apart."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class Difference:
    max_abs_error: float
    """largest |a - b|; infinity where NaN meets a number"""
    max_rel_error: float
    """max_abs_error over the largest finite |a|: an error relative to the output's own scale"""
    reason: str = ""
    """why the two cannot be compared by value (shape, element type); empty when they can"""


SMALLEST_SCALE = 1e-6
"""What counts as the largest value of an output that is (almost) zero everywhere."""

IDENTICAL = Difference(max_abs_error=0.0, max_rel_error=0.0)


def difference(original: "numpy.ndarray", compiled: "numpy.ndarray") -> Difference:
    """`compiled` against `original`.

    Infinities and NaNs must stand at the same places. Strings, booleans and integers must be equal, because they name
    things; 8-bit integers are quantized numbers and compared as such.
    """
    import numpy

    if original.dtype != compiled.dtype and {original.dtype.kind, compiled.dtype.kind} != {"U"}:
        return _incomparable(f"element type {compiled.dtype} instead of {original.dtype}")
    if original.shape != compiled.shape:
        return _incomparable(f"shape {list(compiled.shape)} instead of {list(original.shape)}")
    if original.size == 0:
        return IDENTICAL
    if original.dtype.kind in "Ub" or (original.dtype.kind in "iu" and original.dtype.itemsize > 1):
        unequal = int((original != compiled).sum())
        return _incomparable(f"{unequal} of {original.size} values differ") if unequal else IDENTICAL
    a, b = original.astype(numpy.float64), compiled.astype(numpy.float64)
    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
    with numpy.errstate(invalid="ignore"):
        error = numpy.where(same, 0.0, numpy.abs(a - b))
    error = numpy.where(numpy.isnan(error), numpy.inf, error)
    worst = float(error.max())
    finite = numpy.abs(a[numpy.isfinite(a)])
    scale = max(float(finite.max()) if finite.size else 0.0, SMALLEST_SCALE)
    return Difference(max_abs_error=worst, max_rel_error=worst / scale)


def _incomparable(reason: str) -> Difference:
    return Difference(max_abs_error=float("inf"), max_rel_error=float("inf"), reason=reason)
