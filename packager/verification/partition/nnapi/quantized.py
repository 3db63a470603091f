"""Rules of the NNAPI provider for quantized operators: types, scales and zero points.

Written from op_builder_helpers.cc and helper.cc in core/providers/nnapi/nnapi_builtin/builders/ of ONNX Runtime.
"""

from collections.abc import Callable

from packager.graph.view import Value
from packager.verification.partition.nnapi.view import DOES_NOT_LOAD, LEVEL_3, View
from packager.verification.partition.unit import UnitPort

SINGLE = frozenset(
    "DequantizeLinear QuantizeLinear QLinearConv QLinearMatMul QLinearAdd QLinearMul QLinearSigmoid "
    "QLinearAveragePool".split()
)
"""Operators that are quantized by themselves."""
GROUPS = frozenset("Conv Resize AveragePool Add Mul Transpose Reshape Softmax Concat Gemm MatMul".split())
"""Operators that are taken together with the QuantizeLinear and DequantizeLinear nodes around them."""
WITH_WEIGHT = frozenset("Conv QLinearConv Gemm MatMul QLinearMatMul".split())
"""Operators whose second input may be int8."""
MATMULS = frozenset(("MatMul", "QLinearMatMul"))


def is_quantized(view: View) -> bool:
    """Whether GetQuantizedOpType in helper.cc knows it."""
    return view.op in (GROUPS if view.unit.is_group else SINGLE)


def ports(view: View, *, inputs: tuple[int, ...] = (), outputs: tuple[int, ...] = ()) -> str:
    """Why quantized inputs and outputs are not supported, or empty (IsQuantizedIOSupported)."""
    for index in inputs:
        if index >= len(view.unit.inputs):
            return f"input {index} is missing"
        weight = index == 1 and view.op in WITH_WEIGHT
        if reason := _port(view, view.unit.inputs[index], f"input {index}", may_be_int8=weight):
            return reason
    for index in outputs:
        if reason := _port(view, view.unit.outputs[index], f"output {index}", may_be_int8=False):
            return reason
    return ""


def two_inputs(view: View) -> str:
    """Why the types of two quantized inputs are not supported, or empty (HasValidBinaryOpQuantizedInputTypes)."""
    first, second = view.input(0).element, view.input(1).element
    if first != "uint8":
        return f"quantized input 0 is {first}, not uint8"
    if view.op in WITH_WEIGHT and second not in ("uint8", "int8"):
        return f"quantized input 1 is {second}, neither uint8 nor int8"
    if view.op not in WITH_WEIGHT and second != first:
        return f"quantized inputs are {first} and {second}, not both uint8"
    return ""


def required(view: View, port: UnitPort, what: str, scale: float, zero_point: int) -> str:
    """Why `port` lacks the required scale and zero point, or empty (HasRequiredScaleAndZeroPoint)."""
    found = view.scale(port)
    if found is None or view.zero_point(port) is None:
        return f"scale and zero point of {what} must be constant"
    if found != scale:
        return f"scale of {what} is {found:.6g}, not {scale:.6g}"
    if view.zero_point(port) != zero_point:
        return f"zero point of {what} is {view.zero_point(port)}, not {zero_point}"
    return ""


def _port(view: View, port: UnitPort, what: str, *, may_be_int8: bool) -> str:
    quantization = port.quantization
    if quantization is None:
        return f"{what} is not quantized{DOES_NOT_LOAD}"
    value = view.graph.value(port.value)
    is_int8 = may_be_int8 and value.element == "int8"
    if value.element != "uint8" and not is_int8:
        return f"{what} is {value.element}, not uint8{' or int8' if may_be_int8 else ''}"
    scale, zero_point = (view.graph.value(name) for name in (quantization.scale, quantization.zero_point))
    if not scale.is_constant:
        return f"scale of {what} must be constant"
    if quantization.zero_point and not zero_point.is_constant:
        return f"zero point of {what} must be constant"
    if is_int8:
        return _int8_weight(view, value, scale, zero_point if quantization.zero_point else None)
    if _count(scale) != 1 or (quantization.zero_point and _count(zero_point) != 1):
        return f"{what} is quantized per channel, which only int8 weights of Conv support"
    return ""


def _int8_weight(view: View, weight: Value, scale: Value, zero_point: Value | None) -> str:
    channels = weight.sizes[0] if weight.sizes else 0
    if _count(scale) != 1:
        if view.op in MATMULS:
            return "weight is quantized per channel"
        if view.feature_level < LEVEL_3:
            return f"weight is quantized per channel, which requires feature level {LEVEL_3}"
        if channels != _count(scale):
            return f"weight has {channels} channels and {_count(scale)} scales"
    if zero_point is None:
        return ""
    if zero_point.element != "int8":
        return f"zero point of the int8 weight is {zero_point.element}"
    if _count(zero_point) not in (1, channels) or (_count(zero_point) != 1 and view.op in MATMULS):
        return f"weight has {channels} rows and {_count(zero_point)} zero points"
    if zero_point.constant is not None and zero_point.constant.any():
        return "zero points of the int8 weight must be 0"
    return ""


def _count(value: Value) -> int:
    """Numbers in a scale or zero point; ONNX Runtime uses the first dimension only."""
    return value.sizes[0] if value.sizes else 1


def quantized_input(view: View) -> str:
    return ports(view, inputs=(0,))


def quantized_output(view: View) -> str:
    return ports(view, outputs=(0,))


def in_and_out(view: View) -> str:
    return ports(view, inputs=(0,), outputs=(0,))


def two_in_one_out(view: View) -> str:
    return two_inputs(view) or ports(view, inputs=(0, 1), outputs=(0,))


def floats(view: View) -> str:
    return element(view, ("float",))


def element(view: View, wanted: tuple[str, ...]) -> str:
    element = view.input(0).element
    return "" if element in wanted else f"input 0 is {element or 'of unknown type'}, not {' or '.join(wanted)}"


def element_or_quantized(wanted: tuple[str, ...], when_quantized: Callable[[View], str]) -> Callable[[View], str]:
    """Type check of an operator that is taken both as float and quantized."""

    def types(view: View) -> str:
        return when_quantized(view) if is_quantized(view) else element(view, wanted)

    return types


def resize_or_transpose_types(view: View) -> str:
    reason = element(view, ("float", "uint8"))
    return reason or (in_and_out(view) if is_quantized(view) else "")
