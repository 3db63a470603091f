"""Biases as 32-bit integers, whose scale is that of the product they are added to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.graph.weights.rounding import LIMITS, Parameters

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

MARGIN = 1.0001
"""ONNX Runtime's, for what rounding the scales to float32 takes."""


@dataclass(frozen=True, eq=False)
class Bias:
    values: "NDArray[numpy.int32]"
    parameters: Parameters
    clipped: int
    """numbers that do not fit and became the least or greatest integer"""


def weight_scale_factors(
    bias: "NDArray[Any]", activation_scale: float, weight_scale: "ArrayLike"
) -> "NDArray[numpy.float64]":
    """What to multiply the scales of a weight with, so that its bias fits 32 bits; 1 where it fits already.

    `weight_scale` is one for the tensor or one for each channel, and so is the result (_adjust_weight_scale_for_int32
    _bias in ONNX Runtime's qdq_quantizer.py). Beyond that the product of the scales stays a normal float32: one that
    is rounded to zero can be divided by no more.
    """
    import numpy

    scales = numpy.asarray(weight_scale, numpy.float64)
    sizes = numpy.abs(numpy.asarray(bias, numpy.float64))
    if scales.ndim == 0:
        sizes = sizes.max(initial=0.0)
    least = MARGIN * sizes / LIMITS["int32"][1]
    least = numpy.where(sizes > 0, numpy.maximum(least, float(numpy.finfo(numpy.float32).tiny) * MARGIN), 0.0)
    factors: NDArray[numpy.float64] = numpy.maximum(1.0, least / (scales * activation_scale))
    return factors


def quantize_bias(bias: "NDArray[Any]", activation_scale: float, weight_scale: "ArrayLike", *, name: str = "") -> Bias:
    """The bias `name` as integers of scale `activation_scale * weight_scale`; those that do not fit saturate.

    Raises ModelError for NaN, an infinity, or a scale that float32 has not.
    """
    import numpy

    with numpy.errstate(under="ignore", over="ignore"):
        scale = (numpy.asarray(weight_scale, numpy.float64) * activation_scale).astype(numpy.float32)
    numbers = numpy.asarray(bias, numpy.float64)
    if not (numpy.isfinite(numbers).all() and numpy.isfinite(scale).all() and (scale > 0).all()):
        raise ModelError(
            f"bias '{name}' or its scale is not finite, or the scale is zero",
            hint="train or export the model again, or leave the node in float",
        )
    low, high = LIMITS["int32"]
    exact = numpy.rint(numbers / scale.astype(numpy.float64))
    clipped = int(numpy.count_nonzero((exact < low) | (exact > high)))
    zero = numpy.zeros(scale.shape, numpy.int32)
    return Bias(numpy.clip(exact, low, high).astype(numpy.int32), Parameters(scale, zero, "int32"), clipped)
