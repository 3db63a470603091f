"""Quantizes biases to 32-bit integers, with the scale of the product they are added to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.graph.weights.rounding import LIMITS, Parameters

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

MARGIN = 1.0001
"""ONNX Runtime's margin for the rounding of scales to float32."""


@dataclass(frozen=True, eq=False)
class Bias:
    values: "NDArray[numpy.int32]"
    parameters: Parameters
    clipped: int
    """numbers that did not fit and saturated"""


def weight_scale_factors(
    bias: "NDArray[Any]", activation_scale: float, weight_scale: "ArrayLike"
) -> "NDArray[numpy.float64]":
    """Factor for the scales of a weight that makes its bias fit 32 bits; 1 if it already fits.

    `weight_scale` is one for the tensor or one for each channel, and so is the result
    (_adjust_weight_scale_for_int32_bias in ONNX Runtime's qdq_quantizer.py). In addition, the product of the scales
    stays a normal float32: one that rounds to zero could not be a divisor.
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

    Raises ModelError for NaN, an infinity, or a scale that float32 cannot represent.
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
