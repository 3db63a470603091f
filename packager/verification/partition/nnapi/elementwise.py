"""Rules of the NNAPI provider for elementwise operators, and for those along one axis.

Written from the files that the table in operators.py names.
"""

from packager.verification.partition.clips import clip_bounds
from packager.verification.partition.nnapi import quantized
from packager.verification.partition.nnapi.view import DOES_NOT_LOAD, LEVEL_3, View


def binary(view: View) -> str:
    if view.rank(0) > 4 or view.rank(1) > 4:
        return f"inputs have {view.rank(0)} and {view.rank(1)} dimensions, more than 4"
    return ""


def binary_types(view: View) -> str:
    if quantized.is_quantized(view):
        return quantized.two_in_one_out(view)
    if view.op == "Pow" and view.input(1).element != "float":
        return f"exponent is {view.input(1).element}, not float"
    return quantized.element(view, ("float",))


def two_inputs(view: View) -> str:
    return "" if view.count() == 2 else f"{view.count()} inputs, not 2"


def clip(view: View) -> str:
    bounds = clip_bounds(view.unit.target, view.graph)
    if bounds is None:
        return "min and max must be constant"
    if bounds in ((0.0, 6.0), (-1.0, 1.0)):
        return ""
    return f"range {bounds[0]:g} to {bounds[1]:g} is neither 0 to 6 nor -1 to 1"


def cast(view: View) -> str:
    to = view.attribute("to", 0)
    return "" if to in (1, 6) else f"to is {_type_name(to)}, neither float nor int32"


def _type_name(element: int) -> str:
    from onnx import TensorProto

    return TensorProto.DataType.Name(element).lower() if element in TensorProto.DataType.values() else str(element)


def batch_normalization(view: View) -> str:
    if len(view.unit.outputs) != 1:
        return f"{len(view.unit.outputs)} outputs: training mode is not supported"
    if view.attribute("spatial", 1) != 1:
        return "spatial must be 1"
    for index, name in enumerate(("scale", "B", "mean", "var"), 1):
        if not view.input(index).is_constant:
            return f"{name} must be constant"
    return ""


def reduction(view: View) -> str:
    if view.has(1) and not view.input(1).is_constant:
        return "axes must be constant"
    if view.since >= 18 and view.attribute("noop_with_empty_axes", 0):
        return "noop_with_empty_axes is set"
    return ""


def local_response(view: View) -> str:
    is_too_old = view.use_nchw and view.feature_level < LEVEL_3
    return f"USE_NCHW requires feature level {LEVEL_3}{DOES_NOT_LOAD}" if is_too_old else ""


def softmax(view: View) -> str:
    if view.since < 13:
        return ""
    rank, axis = view.rank(), view.attribute("axis", -1)
    if rank > 4:
        return f"input 0 has {rank} dimensions, more than 4"
    if view.feature_level < LEVEL_3:
        if rank not in (2, 4):
            return f"input 0 has {rank} dimensions, other than 2 and 4 require feature level {LEVEL_3}"
        if axis not in (-1, rank - 1):
            return f"axis {axis} is not the last, which requires feature level {LEVEL_3}"
    return ""


def softmax_types(view: View) -> str:
    if not quantized.is_quantized(view):
        return quantized.element(view, ("float",))
    # NNAPI fixes the scale of the output: nn/common/operations/Softmax of Android's source.
    return quantized.in_and_out(view) or quantized.required(view, view.unit.outputs[0], "the output", 1 / 256, 0)


def sigmoid_types(view: View) -> str:
    return quantized.in_and_out(view) or quantized.required(view, view.unit.outputs[0], "the output", 1 / 256, 0)
