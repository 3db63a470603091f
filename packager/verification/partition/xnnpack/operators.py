"""Rules of the XNNPACK provider for each operator.

Written from detail/node_support_checker.cc, nn/ , math/ and tensor/ in core/providers/xnnpack/ of ONNX Runtime.
"""

from collections.abc import Callable, Mapping

from packager.graph.view import Node
from packager.verification.partition.xnnpack.view import View

Rule = Callable[[View], str]
"""Why a node is left, in words; empty if it is taken."""

PADDINGS = ("NOTSET", "VALID", "SAME_UPPER")
"""IsPaddingTypeSupported in detail/utils.cc."""
TRANSFORMATIONS = ("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel")


def convolution(view: View) -> str:
    """ConvBase::IsOnnxNodeSupported in nn/conv_base.cc."""
    if reason := view.older_than(11) or view.not_of(3, 4) or view.open_dimension():
        return reason
    if not view.unit.is_group and view.input(0).element != "float":
        return f"input is {view.input(0).element}, not float"
    if not view.is_constant(1):
        return "weight must be constant"
    if view.has(2) and not view.is_constant(2):
        return "bias must be constant"
    padding = view.attribute("auto_pad", "NOTSET")
    if not view.attribute("pads", ()) and padding not in PADDINGS:
        return f"auto_pad {padding} is not supported"
    return ""


def max_pool(view: View) -> str:
    """MaxPool::IsOnnxNodeSupported in nn/max_pool.cc."""
    if reason := view.older_than(8) or view.other_element("float", "uint8", "int8"):
        return reason
    if reason := view.not_of(4) or view.open_dimension():
        return reason
    outputs = view.unit.target.outputs
    if len(outputs) == 2 and outputs[1]:
        return "indices are not computed"
    return _pool(view)


def average_pool(view: View) -> str:
    """AveragePool::IsOnnxNodeSupported in nn/average_pool.cc."""
    if view.unit.is_group:
        return "not supported between DequantizeLinear and QuantizeLinear"
    if reason := view.older_than(7) or view.not_of(4) or view.other_element("float"):
        return reason
    if reason := view.open_dimension() or _pool(view):
        return reason
    if view.attribute("count_include_pad", 0):
        return "count_include_pad is not supported"
    if any(each != 1 for each in view.attribute("dilations", ())):
        return "dilations are not supported"
    return ""


def _pool(view: View) -> str:
    if view.attribute("ceil_mode", 0):
        return "ceil_mode is not supported"
    padding = view.attribute("auto_pad", "NOTSET")
    if padding not in PADDINGS:
        return f"auto_pad {padding} is not supported"
    kernel = view.attribute("kernel_shape", ())
    return "a kernel of 1 x 1 is not supported" if kernel == (1, 1) else ""


def gemm(view: View) -> str:
    """Gemm::IsOnnxNodeSupported in math/gemm.cc."""
    if view.unit.is_group:
        return "not supported between DequantizeLinear and QuantizeLinear"
    if view.attribute("alpha", 1.0) != 1.0 or view.attribute("beta", 1.0) != 1.0:
        return "alpha and beta must be 1"
    if reason := view.older_than(7) or view.other_element("float"):
        return reason
    if not view.is_constant(1):
        return "B must be constant"
    if view.has(2) and not view.is_constant(2):
        return "C must be constant"
    if view.input(0).rank is None and not view.is_generous:
        return "shape of A is unknown"
    b, c = view.sizes(1), view.sizes(2)
    if view.has(2) and (not 0 < len(c) <= 2 or c[0] not in b):
        return f"C of {list(c)} is not one number for each of {b[0] if view.attribute('transB', 0) else b[-1]} columns"
    return ""


def product(view: View) -> str:
    """MatMul::IsOnnxNodeSupported in math/matmul.cc."""
    if view.unit.is_group:
        return "not supported between DequantizeLinear and QuantizeLinear"
    if reason := view.other_element("float"):
        return reason
    if not view.input(0).rank and not view.is_generous:
        return "shape of A is unknown, or it is a scalar"
    if not view.is_constant(1):
        return "B must be constant"
    if not 1 <= view.rank(1) <= 2 or 0 in view.sizes(1):
        return f"B of {list(view.sizes(1))} has neither one nor two dimensions, or is empty"
    return ""


def softmax(view: View) -> str:
    """Softmax::IsOnnxNodeSupported in math/softmax.cc."""
    if not view.unit.is_group and (reason := view.other_element("float")):
        return reason
    rank = view.input(0).rank
    if not rank:
        return "" if view.is_generous else "shape of the input is unknown, or it is a scalar"
    if view.since < 13:
        return ""
    if view.attribute("axis", -1) not in (-1, rank - 1):
        return f"axis {view.attribute('axis', -1)} is not the last"
    return "" if view.is_known(rank - 1) else "size of the last dimension is unknown"


def resize(view: View) -> str:
    """Resize::IsOnnxNodeSupported in tensor/resize.cc."""
    if reason := view.older_than(10) or view.other_element("float", "uint8", "int8") or view.not_of(4):
        return reason
    if not view.is_known(1):
        return "number of channels is unknown"
    scales, sizes = view.numbers(1 if view.since == 10 else 2), view.integers(3) if view.since > 10 else None
    if scales is None and sizes is None:
        return "scales or sizes must be constant"
    if reason := (_scales(view, scales) if scales else "") or (_sizes(view, sizes) if sizes else ""):
        return reason
    return _resize_mode(view)


def _scales(view: View, scales: tuple[float, ...]) -> str:
    if len(scales) != 4:
        return f"{len(scales)} scales for 4 dimensions"
    if scales[1] != 1:
        return f"scale {scales[1]:g} of channels is not 1"
    sizes = zip(view.shape()[2:], scales[2:], strict=False)
    if min(scales[2:]) < 1 and not all(_is_factor(*each) or (view.is_generous and each[0] < 0) for each in sizes):
        return f"scales {scales[2]:g} and {scales[3]:g} do not divide height and width"
    return ""


def _is_factor(size: int, scale: float) -> bool:
    """ReciprocalIsAFactorOfN in core/providers/utils.cc."""
    reciprocal = 1 / scale
    return abs(reciprocal - round(reciprocal)) < 1e-6 and size % round(reciprocal) == 0


def _sizes(view: View, sizes: tuple[int, ...]) -> str:
    if len(sizes) != 4:
        return f"{len(sizes)} sizes for 4 dimensions"
    channels = view.shape()[1:2] or (-1,)
    is_same = channels == sizes[1:2] or (view.is_generous and channels == (-1,))
    return "" if is_same else f"{channels[0]} channels become {sizes[1]}"


def _resize_mode(view: View) -> str:
    if view.attribute("mode", "nearest") != "linear":
        return f"mode {view.attribute('mode', 'nearest')} is not linear"
    if view.attribute("antialias", 0) or view.attribute("axes", ()) or view.attribute("exclude_outside", 0):
        return "antialias, axes and exclude_outside are not supported"
    if view.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        return "keep_aspect_ratio_policy is not supported"
    if view.attribute("extrapolation_value", 0.0) != 0:
        return "extrapolation_value is not supported"
    default = "asymmetric" if view.since == 10 else "half_pixel"
    mode = view.attribute("coordinate_transformation_mode", default)
    if mode not in TRANSFORMATIONS:
        return f"coordinate_transformation_mode {mode} is not supported"
    height, width = view.output_shape()[2:] if len(view.output_shape()) == 4 else (-1, -1)
    if mode == "pytorch_half_pixel" and not view.is_generous and min(height, width) <= 1:
        return "pytorch_half_pixel requires a known height and width above 1"
    return ""


RULES: Mapping[str, Rule] = {
    "AveragePool": average_pool,
    "Conv": convolution,
    "ConvTranspose": convolution,
    "Gemm": gemm,
    "MatMul": product,
    "MaxPool": max_pool,
    "Resize": resize,
    "Softmax": softmax,
}
"""Operators with a kernel (RegisterKernels in xnnpack_execution_provider.cc). QLinearConv is listed there too and never
taken: its form is of opset 10, and the check wants 11."""
FUSED = frozenset(("Relu", "Clip"))
"""Operators that join the one before them."""
FUSING = frozenset(("Conv", "MaxPool", "AveragePool"))
"""Operators that take one of `FUSED` in (ClipReluChecker in detail/node_support_checker.cc)."""


def is_fusible(activation: Node, view: View) -> bool:
    """Whether XNNPACK computes `activation` together with a node before it, if nothing stands between them."""
    bounds = activation.inputs[1:]
    is_fixed = all(view.graph.value(name).is_constant or name in view.folded for name in bounds)
    return activation.op in FUSED and not activation.domain and is_fixed
