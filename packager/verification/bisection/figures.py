"""How far one value is from another on one sample, and whether that is too far."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from packager.core.findings import OutputError
from packager.verification.parity import NO_RANGE, Scale, Tolerance
from packager.verification.parity.metrics import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an error may be: atol + rtol * scale."""

    tolerance: Tolerance
    """with a `max_rel_error`"""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """of the outputs of the model, over all samples; a value inside it has its own on the sample alone"""

    def compared(self, name: str, expected: "NDArray[Any]", actual: "NDArray[Any]") -> OutputError:
        """Numbers of other widths are compared as numbers; `failure` says why two cannot be compared at all."""
        if expected.dtype != actual.dtype and are_alike(expected, actual) and expected.dtype.kind != "U":
            import numpy

            with numpy.errstate(over="ignore"):
                actual = actual.astype(expected.dtype)
        comparison = Comparison(name, self.scales.get(name, NO_RANGE).over([expected]))
        comparison.add(expected, actual)
        return replace(comparison.result(), failure=comparison.reason)

    def exceeds(self, error: OutputError, *, part: float = 1.0) -> bool:
        """Whether `error` is over that part of what it may be."""
        return not error.max_abs_error <= part * self.allowed(error)

    def allowed(self, error: OutputError) -> float:
        found = self.tolerance.allowed(error.scale)
        assert found is not None
        return found

    def share(self, error: OutputError) -> float:
        """`error` for what it may be."""
        return self.tolerance.share(error.max_abs_error, error.scale)

    @property
    def relative(self) -> "Limits":
        """Without the absolute part: what follows an inner value may enlarge it, however small it is."""
        return replace(self, tolerance=replace(self.tolerance, atol=0.0))


ANYTHING = Limits(tolerance=Tolerance(max_rel_error=float("inf"), atol=0.0))
"""Nothing exceeds these."""


def are_alike(a: "NDArray[Any]", b: "NDArray[Any]") -> bool:
    """Whether both are of numbers with a point, of signed or unsigned integers, of booleans, or of texts."""
    return a.dtype.kind == b.dtype.kind
