"""Rules of the NNAPI provider for operators that move numbers.

Written from the files that the table in operators.py names.
"""

from packager.verification.partition.nnapi import quantized
from packager.verification.partition.nnapi.view import DOES_NOT_LOAD, LEVEL_3, View


def reshape(view: View) -> str:
    shape = view.integers(1)
    if not view.input(1).is_constant or shape is None:
        return "the new shape must be constant"
    if 0 in shape and view.attribute("allowzero", 0) == 1:
        return "the new shape has a 0 and allowzero is set"
    sizes = view.sizes(0)
    if any(wanted == 0 and index < len(sizes) and sizes[index] == 0 for index, wanted in enumerate(shape)):
        return f"the new shape {list(shape)} keeps a dimension of size 0"
    return ""


def flatten(view: View) -> str:
    axis = view.attribute("axis", 1)
    sizes = view.sizes(0)
    axis = axis + len(sizes) if axis < 0 else axis
    return (
        f"shape {list(sizes)} has a 0 on both sides of axis {axis}" if 0 in sizes[:axis] and 0 in sizes[axis:] else ""
    )


def axes_13(view: View) -> str:
    is_input = view.since > 12 and view.count() > 1
    return "axes must be constant" if is_input and not view.input(1).is_constant else ""


def slice_(view: View) -> str:
    if 0 in view.sizes(0):
        return f"shape {list(view.sizes(0))} has a 0"
    for index, name in enumerate(("starts", "ends", "axes", "steps"), 1):
        if index < view.count() and not view.input(index).is_constant:
            return f"{name} must be constant" if view.has(index) else f"{name} is missing before others"
    return ""


def pad(view: View) -> str:
    if 0 in view.sizes(0):
        return f"shape {list(view.sizes(0))} has a 0"
    mode = view.attribute("mode", "constant")
    if mode != "constant":
        return f"mode '{mode}' is not constant"
    pads = view.integers(1)
    if not view.input(1).is_constant or pads is None:
        return "pads must be constant"
    if any(pad < 0 for pad in pads):
        return f"pads {list(pads)} are not all positive"
    if view.count() > 2 and not view.input(2).is_constant:
        return "constant_value must be constant" if view.has(2) else "constant_value is missing"
    return f"axes as an input are not supported{DOES_NOT_LOAD}" if view.has(3) else ""


def gather(view: View) -> str:
    if 0 in view.sizes(0):
        return f"shape {list(view.sizes(0))} has a 0"
    indices = view.input(1)
    return "" if indices.element == "int32" or indices.is_constant else f"indices are {indices.element}, not constant"


def split(view: View) -> str:
    sizes = view.sizes(0)
    if not sizes:
        return "input 0 must not be a scalar"
    size = sizes[view.attribute("axis", 0)]
    if view.has(1):
        parts = view.integers(1)
        if not view.input(1).is_constant or parts is None:
            return "split must be constant"
        if sum(parts) != size:
            return f"split {list(parts)} does not add up to {size}"
        return "" if len(set(parts)) <= 1 else f"split {list(parts)} has parts of different size"
    parts_wanted = len(view.unit.outputs)
    if view.since >= 18:
        given = view.attribute("num_outputs", 0)
        if given != parts_wanted or given > size:
            return f"num_outputs is {given} for {parts_wanted} outputs and a dimension of {size}"
    return "" if size % parts_wanted == 0 else f"{size} does not divide into {parts_wanted} parts of the same size"


def depth_to_space(view: View) -> str:
    if view.use_nchw and view.feature_level < LEVEL_3:
        return f"USE_NCHW requires feature level {LEVEL_3}"
    mode = view.attribute("mode", "DCR")
    return f"mode '{mode}' is not DCR" if view.since >= 11 and mode != "DCR" else ""


def concat_types(view: View) -> str:
    if reason := quantized.element(view, ("float", "uint8")):
        return reason
    if not quantized.is_quantized(view):
        return ""
    everything = tuple(range(view.count()))
    if reason := quantized.ports(view, inputs=everything, outputs=(0,)):
        return reason
    if view.feature_level >= LEVEL_3:
        return ""
    first, *others = view.unit.inputs
    scale, zero_point = view.scale(first) or 0.0, view.zero_point(first) or 0
    checks = [(port, f"input {index}") for index, port in enumerate(others, 1)]
    for port, what in (*checks, (view.unit.outputs[0], "the output")):
        if reason := quantized.required(view, port, what, scale, zero_point):
            return f"{reason}, different ones require feature level {LEVEL_3}"
    return ""
