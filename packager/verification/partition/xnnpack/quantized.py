"""Rules of the XNNPACK provider for an operator between DequantizeLinear and QuantizeLinear.

Written from detail/utils.cc, nn/conv_base.cc, nn/max_pool.cc and math/softmax.cc in core/providers/xnnpack/ of ONNX
Runtime.
"""

from packager.verification.partition.unit import UnitPort, number
from packager.verification.partition.xnnpack.view import View

PER_CHANNEL = "int8 per channel"
NEAR = 1e-4
"""How far the output's scale of a Softmax may be from 1/256."""


def why_not(view: View) -> str:
    """Why a group is left, in words; empty if it is taken, or if there are no rules for groups of its operator."""
    match view.op:
        case "Conv" | "ConvTranspose":
            return _convolution(view)
        case "MaxPool":
            taken, given = kind(view, view.unit.inputs[0]), kind(view, view.unit.outputs[0])
            return "" if taken == given and taken in ("int8", "uint8") else f"{taken} becomes {given}"
        case "Softmax":
            return _softmax(view)
    return ""


def kind(view: View, port: UnitPort) -> str:
    """The type of a quantized value, or why it has none (GetTensorQuantType in detail/utils.cc)."""
    value, quantization = view.graph.value(port.value), port.quantization
    if quantization is None:
        return f"{value.element or 'unknown'} without a scale"
    scale, zero_point = view.graph.value(quantization.scale), view.graph.value(quantization.zero_point)
    has_zero_point = bool(quantization.zero_point)
    if not scale.is_constant:
        return f"{value.element} with a scale that is computed"
    if value.element not in ("int8", "uint8") or value.shape is None:
        return value.element or "unknown"
    scales = scale.shape[0] if scale.shape else 1
    zeros = (zero_point.shape[0] if zero_point.shape else 1) if has_zero_point else 0
    if value.element == "uint8":
        return "uint8 per channel" if has_zero_point and (scales, zeros) != (1, 1) else "uint8"
    if zeros and scales != zeros:
        return f"int8 with {scales} scales and {zeros} zero points"
    if scales == 1:
        return "int8"
    return PER_CHANNEL if scales == value.shape[0] else f"int8 with {scales} scales for {value.shape[0]}"


def _convolution(view: View) -> str:
    """GetConvCompType in nn/conv_base.cc."""
    taken, weight = kind(view, view.unit.inputs[0]), kind(view, view.unit.inputs[1])
    given = kind(view, view.unit.outputs[0])
    is_signed = taken == given == "int8" and weight in ("int8", PER_CHANNEL)
    if not is_signed and not taken == given == weight == "uint8":
        return f"input {taken}, weight {weight}, output {given}: neither all int8 nor all uint8 per tensor"
    if view.has(2) and weight != PER_CHANNEL and view.input(2).element != "int32":
        return f"bias is {view.input(2).element}, not int32"
    return ""


def _softmax(view: View) -> str:
    """IsQuantSoftmaxSupported in math/softmax.cc."""
    port = view.unit.outputs[0]
    taken, given = kind(view, view.unit.inputs[0]), kind(view, port)
    if not taken == given == "uint8" or port.quantization is None:
        return f"{taken} becomes {given}: both must be uint8"
    scale, zero_point = number(view.graph.value(port.quantization.scale)), 0.0
    if port.quantization.zero_point:
        zero_point = number(view.graph.value(port.quantization.zero_point)) or 0.0
    if scale is None or abs(scale - 1 / 256) > NEAR or zero_point:
        return f"output has scale {scale or 0:.6g} and zero point {zero_point:g}, not 1/256 and 0"
    return ""
