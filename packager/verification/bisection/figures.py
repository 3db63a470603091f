"""Measures the error of a value on one sample, and compares it with the limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from packager.core.findings import OutputError
from packager.verification.parity import NO_RANGE, Scale, Tolerance
from packager.verification.parity.metrics import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class ErrorLimits:
    """Limit of an error: atol + rtol * scale."""

    tolerance: Tolerance
    """with a `max_rel_error`"""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """of the outputs of the model, over all samples; inner values use their own scale on the one sample"""

    def compared(self, name: str, expected: "NDArray[Any]", actual: "NDArray[Any]") -> OutputError:
        """Numbers of other widths are compared as numbers; `failure` says why two values cannot be compared at all."""
        if expected.dtype != actual.dtype and are_alike(expected, actual) and expected.dtype.kind != "U":
            import numpy

            with numpy.errstate(over="ignore"):
                actual = actual.astype(expected.dtype)
        comparison = Comparison(name, self.scales.get(name, NO_RANGE).over([expected]))
        comparison.add(expected, actual)
        return replace(comparison.result(), failure=comparison.reason)

    def exceeds(self, error: OutputError, *, part: float = 1.0) -> bool:
        """Whether `error` exceeds `part` of its limit."""
        return not error.max_abs_error <= part * self.allowed(error)

    def allowed(self, error: OutputError) -> float:
        found = self.tolerance.allowed(error.scale)
        assert found is not None
        return found

    def share(self, error: OutputError) -> float:
        """`error` relative to its limit."""
        return self.tolerance.share(error.max_abs_error, error.scale)

    @property
    def relative(self) -> "ErrorLimits":
        """The limits without their absolute part: later nodes may amplify the error of an inner value, however small it
        is."""
        return replace(self, tolerance=replace(self.tolerance, atol=0.0))


ANYTHING = ErrorLimits(tolerance=Tolerance(max_rel_error=float("inf"), atol=0.0))
"""Limits that nothing exceeds."""


def are_alike(a: "NDArray[Any]", b: "NDArray[Any]") -> bool:
    """Whether both are floats, signed or unsigned integers, booleans, or strings."""
    return a.dtype.kind == b.dtype.kind
