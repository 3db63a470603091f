"""How far one value is from another on one sample."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from packager.findings import OutputError
from packager.parity.metrics import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray


def compared(name: str, expected: "NDArray[Any]", actual: "NDArray[Any]") -> OutputError:
    """Numbers of other widths are compared as numbers; `failure` says why two cannot be compared at all."""
    if expected.dtype != actual.dtype and are_alike(expected, actual) and expected.dtype.kind != "U":
        import numpy

        with numpy.errstate(over="ignore"):
            actual = actual.astype(expected.dtype)
    comparison = Comparison(name)
    comparison.add(expected, actual)
    return replace(comparison.result(), failure=comparison.reason)


def are_alike(a: "NDArray[Any]", b: "NDArray[Any]") -> bool:
    """Whether both are of numbers with a point, of signed or unsigned integers, of booleans, or of texts."""
    return a.dtype.kind == b.dtype.kind
