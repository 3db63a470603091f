"""Scale of an output's errors: its largest value over all samples, or its known range."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packager.core.findings import LARGEST_VALUE
from packager.graph.weights.streaming import chunks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST_SCALE = 1e-6
"""Smallest scale, for an output that is (almost) zero everywhere."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The scale of one output."""

    value: float = SMALLEST_SCALE
    source: str = LARGEST_VALUE
    """its source, in words"""

    def over(self, arrays: "Iterable[NDArray[Any]]") -> "Scale":
        """A scale that covers `arrays`: the largest finite magnitude in them, if it exceeds this one."""
        found = max((_largest(array) for array in arrays), default=0.0)
        return replace(self, value=found, source=LARGEST_VALUE) if found > self.value else self


NO_RANGE = Scale()


def of_range(operator: str) -> Scale:
    """The minimum scale of an operator's output, from its known range; empty if it has none."""
    return Scale(value=1.0, source=f"the range of {operator}") if operator else NO_RANGE


def must_be_equal(array: "NDArray[Any]") -> bool:
    """Whether values are identifiers: strings, booleans and integers are; 8-bit ones are quantized numbers."""
    kind = array.dtype.kind
    return kind in "Ub" or (kind in "iu" and array.dtype.itemsize > 1)


def _largest(array: "NDArray[Any]") -> float:
    """The largest finite magnitude; 0 if values must be equal."""
    import numpy

    found = 0.0
    if must_be_equal(array):
        return found
    for chunk in chunks_of(array):
        low, high = float(chunk.min()), float(chunk.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            finite = chunk[numpy.isfinite(chunk)]
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        found = max(found, abs(low), abs(high))
    return found
