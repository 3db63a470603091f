"""Rounds numbers to small integers: r = scale * (q - zero_point), as ONNX's QuantizeLinear and DequantizeLinear."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from packager.core.errors import ModelError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

Element = Literal["int8", "uint8", "int16", "uint16", "int4", "uint4", "int32"]

LIMITS: dict[Element, tuple[int, int]] = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int32": (-(2**31), 2**31 - 1),
}
SYMMETRIC_LIMITS: dict[Element, tuple[int, int]] = LIMITS | {"int8": (-127, 127), "int16": (-32767, 32767)}
"""ONNX Runtime's limits (ONNX_INT_TYPE_SYMMETRIC_RANGE of quant_utils.py). Four bits have too few values to give one
up: their scale spreads the range over all 16, and a number that rounds one too high saturates, within half a step."""

PACKED = ("int4", "uint4")
"""Elements stored two to a byte."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """Scale and zero point that convert numbers to integers of `element` and back. Both arrays have one entry for the
    tensor (no dimensions), for every channel (one dimension) or for every block (as many dimensions as the tensor)."""

    scale: "NDArray[numpy.float32]"
    zero_point: "NDArray[Any]"
    """of numpy's type for `element`; 4-bit ones use the 8-bit type"""
    element: Element
    is_symmetric: bool = False
    """whether integers are those of SYMMETRIC_LIMITS, and the zero point is in their middle"""

    def limits(self) -> tuple[float, float]:
        """The smallest and the largest number that integers of the element can represent, for a single scale."""
        low, high = ((limit - int(self.zero_point)) * float(self.scale) for limit in LIMITS[self.element])
        return low, high


def range_parameters(
    low: "ArrayLike", high: "ArrayLike", element: Element, *, is_symmetric: bool, name: str = ""
) -> Parameters:
    """Parameters for many ranges at once, those of tensor `name`.

    The formula of ONNX Runtime's quantizer (compute_scale_zp in quant_utils.py): scale 1 for an empty range, or for one
    so small that the scale would not be a normal float32. Symmetric ones keep the zero point in the middle then, too:
    the kernels of QLinearConv require the same one for all channels.
    """
    import numpy

    least, most = (SYMMETRIC_LIMITS if is_symmetric else LIMITS)[element]
    with numpy.errstate(over="ignore"):
        bottom, top = (numpy.asarray(end, numpy.float32).astype(numpy.float64) for end in (low, high))
    bottom, top = numpy.minimum(bottom, 0.0), numpy.maximum(top, 0.0)
    if not (numpy.isfinite(bottom).all() and numpy.isfinite(top).all()):
        raise ModelError(
            f"tensor '{name}' has values that are not finite" if name else "a range that is not finite has no scale",
            hint="the model computes NaN or infinity: train or export it again, or leave the node in float",
        )
    if is_symmetric:
        top = numpy.maximum(-bottom, top)
        bottom = -top
    scale = (top - bottom) / (most - least)
    is_normal = scale >= numpy.finfo(numpy.float32).tiny
    scale = numpy.where(is_normal, scale, 1.0)
    zero = numpy.rint(numpy.full_like(scale, (least + most) / 2) if is_symmetric else least - bottom / scale)
    if not is_symmetric:
        zero = numpy.where(is_normal, zero, 0.0)
    return Parameters(scale.astype(numpy.float32), zero.astype(storage(element)), element, is_symmetric)


def storage(element: Element) -> "numpy.dtype[Any]":
    """numpy's type for integers of `element`."""
    import numpy

    return numpy.dtype({"int4": "int8", "uint4": "uint8"}.get(element, element))


def round_in_place(
    numbers: "NDArray[numpy.float32]",
    scale: "NDArray[numpy.float32]",
    zero_point: "NDArray[Any]",
    element: Element,
    *,
    is_symmetric: bool = False,
) -> "NDArray[Any]":
    """The integers for `numbers`, which are overwritten: round half to even, saturating. Arguments must broadcast.

    Symmetric int8 stops at -127: kernels that add two products in 16 bits (XNNPACK's for ARM) have no room for -128.

    Raises FloatingPointError for NaN. Exact for up to 16 bits: float32 represents all their integers.
    """
    import numpy

    low, high = (SYMMETRIC_LIMITS if is_symmetric else LIMITS)[element]
    with numpy.errstate(over="ignore", invalid="raise"):
        numpy.divide(numbers, scale, out=numbers)
        numpy.rint(numbers, out=numbers)
        if zero_point.any():
            numbers += zero_point.astype(numpy.float32)
        numpy.clip(numbers, low, high, out=numbers)
        return numbers.astype(storage(element))


def pack(integers: "NDArray[Any]", *, is_second: bool = False) -> bytes:
    """4-bit integers, flattened, two to a byte, the first in the low half (ONNX, TensorProto.raw_data of int4).

    With `is_second` the first of them is the high half of its byte, whose low half is 0.
    """
    import numpy

    before, count = int(is_second), integers.size
    pairs = numpy.zeros((before + count + 1) // 2 * 2, numpy.uint8)
    pairs[before : before + count] = integers.reshape(-1).view(numpy.uint8)
    words = pairs.view("<u2")
    words &= 0x0F0F
    words |= words >> 4
    return words.astype(numpy.uint8).tobytes()


def unpack(content: bytes, count: int, element: Element) -> "NDArray[Any]":
    """The `count` 4-bit integers that `pack` packed into `content`."""
    import numpy

    halves = numpy.frombuffer(content, numpy.uint8)
    integers = numpy.stack([halves & 15, halves >> 4], axis=1).reshape(-1)[:count]
    return integers if element == "uint4" else ((integers ^ 8).astype(numpy.int8) - 8).astype(numpy.int8)
