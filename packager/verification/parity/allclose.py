"""Compares recorded outputs with computed ones, number by number: like numpy.allclose, but with the positions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

RTOL, ATOL = 1e-3, 1e-5
"""Tolerance of outputs that were recorded before an export."""
CHUNK_ELEMENTS = 1 << 20
"""Numbers that are compared at once: float64 copies of whole outputs could fill the memory."""


@dataclass(frozen=True, kw_only=True)
class Excess:
    """How far the numbers of one output exceed the tolerance."""

    count: int = 0
    """number of values that exceed it"""
    total: int = 0
    max_abs_error: float = 0.0
    """over all finite numbers"""
    max_share: float = 0.0
    """the largest error relative to the allowed one; above 1 fails, infinity if NaN or infinities differ"""
    failure: str = ""
    """the failure in words; empty if there is none"""


def over(
    expected: "NDArray[Any]",
    actual: "NDArray[Any]",
    rtol: float = RTOL,
    atol: float = ATOL,
    scale: float | None = None,
) -> Excess:
    """The numbers with |actual - expected| > atol + rtol * |expected|, as in numpy.allclose, or with the `scale` of the
    whole output in place of |expected|; NaN equals NaN.

    Only floating-point numbers have a tolerance: integers, booleans and strings must be equal.
    """
    if expected.shape != actual.shape:
        wrong = f"its shape is {list(actual.shape)}, not {list(expected.shape)}"
        return Excess(count=expected.size, total=expected.size, failure=wrong)
    if expected.dtype.kind != "f":
        return _unequal(expected, actual)
    if actual.dtype.kind != "f":
        return Excess(count=expected.size, total=expected.size, failure=f"it is {actual.dtype}, not {expected.dtype}")
    return _over(expected, actual, rtol, atol, scale)


def _over(expected: "NDArray[Any]", actual: "NDArray[Any]", rtol: float, atol: float, scale: float | None) -> Excess:
    import numpy

    count, worst, where, max_abs_error = 0, 0.0, 0, 0.0
    flat, other = expected.reshape(-1), actual.reshape(-1)
    for start in range(0, flat.size, CHUNK_ELEMENTS):
        x = flat[start : start + CHUNK_ELEMENTS].astype(numpy.float64)
        y = other[start : start + CHUNK_ELEMENTS].astype(numpy.float64)
        shares, errors = _shares(x, y, rtol, atol, scale)
        count += int(numpy.count_nonzero(shares > 1))
        max_abs_error = max(max_abs_error, float(errors.max(initial=0)))
        place = int(shares.argmax())
        if shares[place] > worst:
            worst, where = float(shares[place]), start + place
    allowed = f"rtol {rtol:g}, atol {atol:g}" + ("" if scale is None else f", scale {scale:.3g}")
    words = _words(expected, actual, where, count, allowed) if count else ""
    return Excess(count=count, total=flat.size, max_abs_error=max_abs_error, max_share=worst, failure=words)


def _shares(
    x: "NDArray[Any]", y: "NDArray[Any]", rtol: float, atol: float, scale: float | None
) -> "tuple[NDArray[Any], NDArray[Any]]":
    """Errors relative to the tolerance, for every number; and absolute errors, 0 where one is not finite."""
    import numpy

    is_finite = numpy.isfinite(x) & numpy.isfinite(y)
    is_same = (x == y) | (numpy.isnan(x) & numpy.isnan(y))
    with numpy.errstate(invalid="ignore", divide="ignore", over="ignore"):
        errors = numpy.where(is_finite & ~is_same, numpy.abs(y - x), 0.0)
        sizes = numpy.abs(numpy.where(is_finite, x, 0.0)) if scale is None else scale
        shares = errors / (atol + rtol * sizes)
    shares[errors == 0] = 0.0  # 0 / 0 without any tolerance
    shares[~is_finite & ~is_same] = numpy.inf
    return shares, errors


def _unequal(expected: "NDArray[Any]", actual: "NDArray[Any]") -> Excess:
    import numpy

    if expected.dtype.kind != actual.dtype.kind:
        wrong = f"it is {actual.dtype}, not {expected.dtype}"
        return Excess(count=expected.size, total=expected.size, failure=wrong)
    differs = numpy.asarray(expected != actual).reshape(-1)
    count = int(numpy.count_nonzero(differs))
    words = _words(expected, actual, int(differs.argmax()), count, "they must be equal") if count else ""
    return Excess(count=count, total=differs.size, max_share=float("inf") if count else 0.0, failure=words)


def _words(expected: "NDArray[Any]", actual: "NDArray[Any]", place: int, count: int, allowed: str) -> str:
    """The worst number and the count, in words."""
    import numpy

    index = [int(each) for each in numpy.unravel_index(place, expected.shape)]
    wanted, got = expected.reshape(-1)[place], actual.reshape(-1)[place]
    return (
        f"{count} of {expected.size} numbers differ ({allowed}); "
        f"at {index} it is {_number(got)}, and should be {_number(wanted)}"
    )


def _number(value: Any) -> str:
    return f"{value:.6g}" if value.dtype.kind == "f" else repr(value.item())
