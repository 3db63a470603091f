"""Keeps scales of an earlier quantization where the new numbers fit them, so that integers that mean the same stay the
same."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packager.graph.weights.rounding import LIMITS, Parameters

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

LARGEST_CUT = 0.02
"""How far a new range may stick out of the earlier one, at either end, as a share of the earlier one's width: numbers
out there saturate. Of 8 bits it is 5 steps of 255."""
LARGEST_FACTOR = 1.25
"""How many times as wide as the new range the earlier one may be: rounding errors grow by that much, by a third of a
bit."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """Scales of a tensor, in the shape of Parameters."""

    scale: "NDArray[numpy.float32]"
    zero_point: "NDArray[Any] | None" = None
    """of the same shape; None where it is that of all symmetric ones"""

    @staticmethod
    def of(parameters: Parameters) -> "Scaling":
        return Scaling(parameters.scale, None if parameters.is_symmetric else parameters.zero_point)


def kept(own: Parameters, earlier: Scaling | None) -> Parameters:
    """`own`, the parameters of the new range, with those of `earlier` for each scale that fits. Earlier ones of
    another shape fit nothing."""
    import numpy

    if earlier is None or not has_same_form(own, earlier):
        return own
    zero = own.zero_point if earlier.zero_point is None else earlier.zero_point.astype(own.zero_point.dtype)
    is_fit = _fits(own, replace(own, scale=earlier.scale, zero_point=zero))
    return replace(
        own,
        scale=numpy.where(is_fit, earlier.scale, own.scale).astype(own.scale.dtype),
        zero_point=numpy.where(is_fit, zero, own.zero_point).astype(own.zero_point.dtype),
    )


def has_same_form(own: Parameters, earlier: Scaling) -> bool:
    """Whether both have as many scales, and zero points or none."""
    return own.scale.shape == earlier.scale.shape and (earlier.zero_point is None) == own.is_symmetric


def _fits(own: Parameters, earlier: Parameters) -> "NDArray[Any]":
    """Whether the ranges of `own` fit those of `earlier`, for each scale."""
    import numpy

    (low, high), (bottom, top) = _ends(own), _ends(earlier)
    width = top - bottom
    cut = numpy.maximum(bottom - low, high - top)
    found: NDArray[Any] = (cut <= LARGEST_CUT * width) & (width <= LARGEST_FACTOR * (high - low))
    return found


def _ends(parameters: Parameters) -> "tuple[NDArray[Any], NDArray[Any]]":
    """The smallest and the largest number that the integers mean, for each scale."""
    import numpy

    scale, zero = (numpy.asarray(each, numpy.float64) for each in (parameters.scale, parameters.zero_point))
    least, most = LIMITS[parameters.element]
    return (least - zero) * scale, (most - zero) * scale
