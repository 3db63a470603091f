"""Rules of the NNAPI provider for convolution, matrix multiplication, pooling and resizing.

Written from the files that the table in operators.py names.
"""

from packager.verification.partition.nnapi import quantized
from packager.verification.partition.nnapi.view import DOES_NOT_LOAD, LEVEL_2, LEVEL_3, LEVEL_4, View


def conv(view: View) -> str:
    is_quantized = quantized.is_quantized(view)
    if is_quantized and view.unit.target.domain == "com.microsoft":
        return "com.microsoft::QLinearConv is not supported, only ONNX's own"
    weight = view.input(1)
    if not weight.is_constant:
        return "weight must be constant"
    if weight.rank != 4:
        return f"weight has {weight.rank} dimensions, only 2-D convolutions are supported"
    group = view.attribute("group", 1)
    dilations = view.attribute("dilations", (1, 1))
    if dilations != (1, 1):
        if group != 1 and view.sizes(1)[1] != 1:
            return f"dilations {dilations} with group {group}, which is not depthwise"
        if view.feature_level < LEVEL_3:
            return f"dilations {dilations} require feature level {LEVEL_3}"
    if is_quantized and view.count() > 2 and not view.input(2).is_constant:
        return "bias must be constant"
    return ""


def gemm(view: View) -> str:
    left, right = view.rank(0), view.rank(1)
    if left > 2 and right > 2:
        return _batched(view)
    if (left, right) != (2, 2):
        return f"inputs have {left} and {right} dimensions, not 2 and 2, and not more than 2 each"
    if view.op != "Gemm":
        return "" if view.input(1).is_constant else "the second matrix must be constant"
    return _single_gemm(view)


def _batched(view: View) -> str:
    if view.feature_level < LEVEL_3:
        return f"batched matrices require feature level {LEVEL_3}"
    if view.unit.is_group or view.op != "MatMul":
        return "quantized batched matrices are not supported"
    first, second = view.sizes(0), view.sizes(1)
    if len(first) != len(second) or first[:-2] != second[:-2]:
        return f"shapes {list(first)} and {list(second)} differ in more than the last two dimensions"
    return ""


def _single_gemm(view: View) -> str:
    for name, wanted in (("transA", 0), ("alpha", 1.0), ("beta", 1.0)):
        if view.attribute(name, wanted) != wanted:
            return f"{name} is {view.attribute(name, wanted):g}, not {wanted:g}"
    is_transposed = view.attribute("transB", 0) != 0
    if not is_transposed and not view.input(1).is_constant:
        return "the second matrix must be constant or transposed"
    if view.count() == 3:
        bias, width = view.sizes(2), view.sizes(1)[0 if is_transposed else 1]
        if len(bias) > 1 and view.feature_level < LEVEL_2:
            return f"C has {len(bias)} dimensions, which requires feature level {LEVEL_2}"
        if not bias or any(size != 1 for size in bias[:-1]) or bias[-1] != width:
            return f"C has shape {list(bias)}, not one row of {width}"
    if view.unit.is_group and view.count() > 2 and not view.input(2).is_constant:
        return "bias must be constant"
    return ""


def pool(view: View) -> str:
    if view.op in ("GlobalAveragePool", "GlobalMaxPool"):
        return ""
    for name, unwanted in (("count_include_pad", 1), ("storage_order", 1), ("ceil_mode", 1)):
        if view.attribute(name, 0) == unwanted:
            return f"{name} is {unwanted}"
    if len(view.attribute("kernel_shape", (1, 1))) != 2:
        return f"kernel_shape is {view.attribute('kernel_shape', (1, 1))}, only 2-D pooling is supported"
    if view.attribute("dilations", (1, 1)) != (1, 1):
        return f"dilations are {view.attribute('dilations', (1, 1))}, not (1, 1)"
    if len(view.unit.outputs) != 1:
        return "the indices output is not supported"
    if quantized.is_quantized(view):
        source = view.unit.inputs[0]
        scale, zero_point = view.scale(source), view.zero_point(source)
        if scale is None or zero_point is None:
            return "scale and zero point of input 0 must be constant"
        return quantized.required(view, view.unit.outputs[0], "the output", scale, zero_point)
    return ""


def pool_types(view: View) -> str:
    if quantized.is_quantized(view):
        return quantized.in_and_out(view)
    wanted = ("float", "uint8") if view.op == "MaxPool" else ("float",)
    return quantized.element(view, wanted)


def resize(view: View) -> str:
    mode = view.attribute("mode", "nearest")
    if mode not in ("linear", "nearest"):
        return f"mode '{mode}' is neither linear nor nearest"
    if view.attribute("exclude_outside", 0):
        return "exclude_outside is set"
    return _coordinates(view, mode) or _resize_18(view) or _new_size(view)


def _coordinates(view: View, mode: str) -> str:
    coordinates = view.attribute("coordinate_transformation_mode", "half_pixel")
    named = f"coordinate_transformation_mode '{coordinates}'"
    if mode == "nearest":
        if coordinates != "asymmetric":
            return f"{named} with mode nearest, only asymmetric is supported"
        nearest = view.attribute("nearest_mode", "round_prefer_floor")
        return "" if nearest == "floor" else f"nearest_mode '{nearest}', only floor is supported"
    if coordinates not in ("half_pixel", "align_corners", "asymmetric"):
        return f"{named} is none of half_pixel, align_corners, asymmetric"
    if coordinates != "asymmetric" and view.feature_level < LEVEL_4:
        return f"{named} requires feature level {LEVEL_4}"
    return ""


def _resize_18(view: View) -> str:
    if view.since < 18:
        return ""
    if view.attribute("antialias", 0):
        return "antialias is set"
    if view.attribute("axes", ()):
        return "axes are not supported"
    policy = view.attribute("keep_aspect_ratio_policy", "stretch")
    return "" if policy == "stretch" else f"keep_aspect_ratio_policy '{policy}' is not stretch"


def _new_size(view: View) -> str:
    if view.has(2):
        reason, is_nchw = _scales(view)
    elif view.has(3):
        reason, is_nchw = _new_sizes(view)
    else:
        return "neither scales nor sizes is set"
    if not reason and is_nchw and view.feature_level <= LEVEL_2:
        return f"resizing the last two dimensions requires feature level {LEVEL_3}"
    return reason


def _scales(view: View) -> tuple[str, bool]:
    scales = view.input(2)
    if not scales.is_constant or scales.constant is None:
        return "scales must be constant", False
    found = tuple(float(each) for each in scales.constant.reshape(-1))
    if len(found) != 4:
        return f"{len(found)} scales, not 4{DOES_NOT_LOAD}", False
    is_nchw = found[1] == 1
    batch, channel, height, width = found if is_nchw else (found[0], found[3], found[1], found[2])
    if batch != 1 or channel != 1:
        return f"scales {found} change more than height and width", is_nchw
    rows, columns = view.sizes(0)[2:] if is_nchw else view.sizes(0)[1:3]
    if (height < 1 or width < 1) and not (_divides(rows, height) and _divides(columns, width)):
        return f"scales {found} do not divide height {rows} and width {columns} evenly", is_nchw
    return "", is_nchw


def _divides(size: int, scale: float) -> bool:
    """ReciprocalIsAFactorOfN in core/providers/utils.cc."""
    if scale <= 0 or scale > 1:
        return scale > 1
    reciprocal = 1 / scale
    return abs(reciprocal - round(reciprocal)) < 1e-6 and size % round(reciprocal) == 0


def _new_sizes(view: View) -> tuple[str, bool]:
    sizes, shape = view.integers(3), view.sizes(0)
    if sizes is None or not view.input(3).is_constant:
        return "sizes must be constant", False
    is_nchw = sizes[1] == shape[1]
    channel = 1 if is_nchw else 3
    if sizes[0] != shape[0] or sizes[channel] != shape[channel]:
        return f"sizes {list(sizes)} change more than height and width of {list(shape)}", is_nchw
    return "", is_nchw
