"""Small models for the NNAPI rules, each with the expected answer for one node."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy
import onnx
from onnx import numpy_helper

from tests.cases.onnx_text import onnx_model, weight

Array = numpy.typing.NDArray[numpy.generic]


def i64(*numbers: int) -> Array:
    return numpy.array(numbers, numpy.int64)


def f32(*numbers: float) -> Array:
    return numpy.array(numbers, numpy.float32)


def scalar(number: float, kind: str) -> Array:
    return numpy.array(number, kind)


CONSTANTS: Mapping[str, Array] = {
    "w": weight(4, 3, 3, 3),
    "w_depthwise": weight(4, 1, 3, 3),
    "w_grouped": weight(4, 2, 3, 3),
    "w_1d": weight(4, 3, 3),
    "w_u8": numpy.full((4, 3, 3, 3), 7, numpy.uint8),
    "w_s8": numpy.full((4, 3, 3, 3), 7, numpy.int8),
    "c4": weight(4),
    "c4_s32": numpy.zeros(4, numpy.int32),
    "c1": f32(0.1),
    "m": weight(8, 5),
    "m_t": weight(5, 8),
    "m_u8": numpy.full((8, 5), 7, numpy.uint8),
    "m_s8": numpy.full((8, 5), 7, numpy.int8),
    "batch": weight(2, 8, 5),
    "c5": weight(5),
    "c15": weight(1, 5),
    "c25": weight(2, 5),
    "s": scalar(0.5, "float32"),
    "s_other": scalar(0.25, "float32"),
    "s_256": scalar(1 / 256, "float32"),
    "s4": f32(0.5, 0.25, 0.5, 0.25),
    "z": scalar(0, "uint8"),
    "z3": scalar(3, "uint8"),
    "z_s8": scalar(0, "int8"),
    "z3_s8": scalar(3, "int8"),
    "z4_s8": numpy.zeros(4, numpy.int8),
    "z0300_s8": numpy.array([0, 3, 0, 0], numpy.int8),
    "to_6": i64(1, 6),
    "to_0": i64(0, -1),
    "to_00": i64(0, 3),
    "pads_2d": i64(0, 1, 0, 1),
    "pads_1d": i64(1, 1),
    "nothing": f32(),
    "scores": weight(1, 1, 6),
    "pads_negative": i64(0, -1, 0, 1),
    "axis_0": i64(0),
    "axis_1": i64(1),
    "axis_last": i64(-1),
    "first": i64(0),
    "second": i64(2),
    "step": i64(1),
    "halves": i64(2, 2),
    "uneven": i64(1, 3),
    "zero": scalar(0, "float32"),
    "six": scalar(6, "float32"),
    "minus_one": scalar(-1, "float32"),
    "one": scalar(1, "float32"),
    "twice": f32(1, 1, 2, 2),
    "thrice": f32(1, 3, 3),
    "half": f32(1, 1, 0.5, 0.5),
    "third": f32(1, 1, 0.3, 0.3),
    "channels_twice": f32(1, 2, 2, 2),
    "to_16": i64(1, 3, 16, 16),
    "rows": i64(1, 0),
    "rows_s32": numpy.array([1, 0], numpy.int32),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    graph: str
    why: str = ""
    """part of the reason why its node is left; empty if it is taken"""
    level: int = 31
    opset: int = 17
    use_nchw: bool = False

    def model(self) -> onnx.ModelProto:
        words = set(re.findall(r"\w+", self.graph.split("{", 1)[1]))
        used = {name: array for name, array in CONSTANTS.items() if name in words}
        model = onnx_model(self.graph, opsets={"": self.opset, "com.microsoft": 1})
        model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in used.items())
        for index, node in enumerate(model.graph.node):
            node.name = f"{node.op_type}.{index}"
        return model


def case(graph: str, why: str = "", *, level: int = 31, opset: int = 17, use_nchw: bool = False) -> Case:
    return Case(graph=graph, why=why, level=level, opset=opset, use_nchw=use_nchw)


IMAGE = "(float[1,3,8,8] x) => (float[] y)"
ROWS = "(float[2,8] x) => (float[] y)"

SINGLE = [
    # convolution
    case(f"{IMAGE} {{ y = Conv (x, w) }}"),
    case(f"{IMAGE} {{ y = Conv (x, w) }}", "requires feature level 28, the device has 27", level=27),
    case(f"{IMAGE} {{ y = Conv (x, w) }}", level=28),
    case(f'{IMAGE} {{ y = Conv <auto_pad = "SAME_UPPER"> (x, w, c4) }}'),
    case(f"{IMAGE} {{ y = Conv <dilations = [2, 2]> (x, w) }}"),
    case(f"{IMAGE} {{ y = Conv <dilations = [2, 2]> (x, w) }}", "dilations (2, 2) require feature level 29", level=28),
    case("(float[1,4,8,8] x) => (float[] y) { y = Conv <group = 4> (x, w_depthwise) }"),
    case("(float[1,4,8,8] x) => (float[] y) { y = Conv <group = 4, dilations = [2, 2]> (x, w_depthwise) }"),
    case("(float[1,4,8,8] x) => (float[] y) { y = Conv <group = 2> (x, w_grouped) }"),
    case(
        "(float[1,4,8,8] x) => (float[] y) { y = Conv <group = 2, dilations = [2, 2]> (x, w_grouped) }",
        "with group 2, which is not depthwise",
    ),
    case("(float[1,3,8,8] x, float[4,3,3,3] v) => (float[] y) { y = Conv (x, v) }", "weight must be constant"),
    case("(float[1,3,8] x) => (float[] y) { y = Conv (x, w_1d) }", "weight has 3 dimensions"),
    case("(float[N,3,8,8] x) => (float[] y) { y = Conv (x, w) }", "input 0 must have a static shape"),
    case("(float[1,4,8,8] x) => (float[] y) { y = ConvTranspose (x, w) }", "operator not supported"),
    # matrices
    case(f"{ROWS} {{ y = MatMul (x, m) }}", level=27),
    case("(float[2,8] x, float[8,5] v) => (float[] y) { y = MatMul (x, v) }", "second matrix must be constant"),
    case("(float[8] x) => (float[] y) { y = MatMul (x, m) }", "inputs have 1 and 2 dimensions"),
    case("(float[3,2,8] x) => (float[] y) { y = MatMul (x, m) }", "inputs have 3 and 2 dimensions"),
    case("(float[2,3,8] x) => (float[] y) { y = MatMul (x, batch) }"),
    case("(float[2,3,8] x, float[2,8,5] v) => (float[] y) { y = MatMul (x, v) }"),
    case("(float[2,3,8] x) => (float[] y) { y = MatMul (x, batch) }", "require feature level 29", level=28),
    case("(float[1,3,8] x) => (float[] y) { y = MatMul (x, batch) }", "differ in more than the last two"),
    case(f"{ROWS} {{ y = Gemm (x, m, c5) }}"),
    case(f"{ROWS} {{ y = Gemm <transB = 1> (x, m_t, c15) }}"),
    case(f"{ROWS} {{ y = Gemm <transB = 1> (x, m_t, c15) }}", "C has 2 dimensions", level=27),
    case(f"{ROWS} {{ y = Gemm (x, m, c25) }}", "C has shape [2, 5], not one row of 5"),
    case(f"{ROWS} {{ y = Gemm (x, m, zero) }}", "C has shape [], not one row of 5"),
    case("(float[8,2] x) => (float[] y) { y = Gemm <transA = 1> (x, m) }", "transA is 1, not 0"),
    case(f"{ROWS} {{ y = Gemm <alpha = 0.5> (x, m) }}", "alpha is 0.5, not 1"),
    case(f"{ROWS} {{ y = Gemm <beta = 0.5> (x, m, c5) }}", "beta is 0.5, not 1"),
    case("(float[2,8] x, float[8,5] v) => (float[] y) { y = Gemm (x, v) }", "must be constant or transposed"),
    case("(float[2,8] x, float[5,8] v) => (float[] y) { y = Gemm <transB = 1> (x, v) }"),
    # pooling
    case(f"{IMAGE} {{ y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) }}"),
    case(f"{IMAGE} {{ y = MaxPool <kernel_shape = [2, 2], ceil_mode = 1> (x) }}", "ceil_mode is 1"),
    case(f"{IMAGE} {{ y = MaxPool <kernel_shape = [2, 2], dilations = [2, 2]> (x) }}", "dilations are (2, 2)"),
    case(f"{IMAGE} {{ y = MaxPool <kernel_shape = [2, 2], storage_order = 1> (x) }}", "storage_order is 1"),
    case(
        "(float[1,3,8,8] x) => (float[] y, int64[] i) { y, i = MaxPool <kernel_shape = [2, 2]> (x) }",
        "indices output is not supported",
    ),
    case("(float[1,3,8] x) => (float[] y) { y = MaxPool <kernel_shape = [2]> (x) }", "input 0 has 3 dimensions, not 4"),
    case("(uint8[1,3,8,8] x) => (uint8[] y) { y = MaxPool <kernel_shape = [2, 2]> (x) }", "without its scale"),
    case("(int8[1,3,8,8] x) => (int8[] y) { y = MaxPool <kernel_shape = [2, 2]> (x) }", "input 0 is int8"),
    case(f"{IMAGE} {{ y = AveragePool <kernel_shape = [2, 2]> (x) }}"),
    case(f"{IMAGE} {{ y = AveragePool <kernel_shape = [2, 2], count_include_pad = 1> (x) }}", "count_include_pad is 1"),
    case(f"{IMAGE} {{ y = GlobalAveragePool (x) }}", level=28),
    case(f"{IMAGE} {{ y = GlobalMaxPool (x) }}"),
    # Resize
    case(f'{IMAGE} {{ y = Resize <mode = "linear"> (x, , twice) }}'),
    case(
        f'{IMAGE} {{ y = Resize <mode = "linear"> (x, , twice) }}', "'half_pixel' requires feature level 30", level=29
    ),
    case(
        f'{IMAGE} {{ y = Resize <mode = "linear", coordinate_transformation_mode = "asymmetric"> (x, , twice) }}',
        level=29,
    ),
    case(
        f'{IMAGE} {{ y = Resize <mode = "linear", coordinate_transformation_mode = "pytorch_half_pixel"> (x,,twice) }}',
        "coordinate_transformation_mode 'pytorch_half_pixel' is none of half_pixel, align_corners, asymmetric",
    ),
    case(f'{IMAGE} {{ y = Resize <mode = "cubic"> (x, , twice) }}', "mode 'cubic' is neither linear nor nearest"),
    case(f"{IMAGE} {{ y = Resize (x, , twice) }}", "'half_pixel' with mode nearest, only asymmetric"),
    case(
        f'{IMAGE} {{ y = Resize <coordinate_transformation_mode = "asymmetric"> (x, , twice) }}',
        "nearest_mode 'round_prefer_floor', only floor",
    ),
    case(
        f'{IMAGE} {{ y = Resize <coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (x,,twice) }}'
    ),
    case(f'{IMAGE} {{ y = Resize <mode = "linear"> (x, , half) }}'),
    case(f'{IMAGE} {{ y = Resize <mode = "linear"> (x, , third) }}', "do not divide height 8 and width 8"),
    case(
        f'{IMAGE} {{ y = Resize <coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> '
        "(x, , channels_twice) }",
        "change more than height and width",
    ),
    case(f'{IMAGE} {{ y = Resize <mode = "linear"> (x, , , to_16) }}'),
    case(
        '(float[1,3,8,8] x, int64[4] v) => (float[] y) { y = Resize <mode = "linear"> (x, , , v) }',
        "sizes must be constant",
    ),
    case(f'{IMAGE} {{ y = Resize <mode = "linear", antialias = 1> (x, , twice) }}', "antialias is set", opset=18),
    case('(float[3,8,8] x) => (float[] y) { y = Resize <mode = "linear"> (x, , thrice) }', "has 3 dimensions, not 4"),
    # shapes
    case("(float[2,3] x) => (float[] y) { a = Relu (x) y = Reshape (a, to_6) }"),
    case("(float[2,3] x) => (float[] y) { y = Reshape (x, to_6) }", "its partition would only copy"),
    case("(float[2,3] x) => (float[] y) { a = Relu (x) y = Reshape (a, to_0) }"),
    case("(float[0,3] x) => (float[] y) { a = Relu (x) y = Reshape <allowzero = 1> (a, to_00) }", "allowzero is set"),
    case(
        "(float[2,3] x, int64[2] v) => (float[] y) { a = Relu (x) y = Reshape (a, v) }",
        "the new shape must be constant",
    ),
    case("(float[1,2,1,3,1] x) => (float[] y) { a = Relu (x) y = Reshape (a, to_6) }", "has 5 dimensions, not 1 to 4"),
    case("(int64[2,3] x) => (int64[] y) { y = Reshape (x, to_6) }", "input 0 is int64"),
    case("(float[2,3,4] x) => (float[] y) { a = Relu (x) y = Flatten (a) }"),
    case("(float[2,3] x) => (float[] y) { y = Transpose (x) }"),
    case("(float[2,3] x) => (float[] y) { y = Transpose (x) }", "requires feature level 28", level=27),
    case("(float[1,2,1,3,1] x) => (float[] y) { y = Transpose (x) }", "has 5 dimensions"),
    case("(int32[2,3] x) => (int32[] y) { y = Transpose (x) }", "input 0 is int32, not float or uint8"),
    case("(float[2,3] x) => (float[] y) { y = Concat <axis = 0> (x, x) }"),
    case("(int64[2,3] x) => (int64[] y) { y = Concat <axis = 0> (x, x) }", "input 0 is int64"),
    case("(float[1,3] x) => (float[] y) { y = Squeeze (x, axis_0) }"),
    case("(float[1,3] x, int64[1] v) => (float[] y) { y = Squeeze (x, v) }", "axes must be constant"),
    case("(float[2,3] x) => (float[] y) { y = Unsqueeze (x, axis_0) }"),
    case("(float[1,2,3,4,5] x) => (float[] y) { y = Unsqueeze (x, axis_0) }", "has 5 dimensions"),
    case("(float[4,4] x) => (float[] y) { y = Slice (x, first, second, axis_1, step) }"),
    case("(float[4,4] x, int64[1] v) => (float[] y) { y = Slice (x, first, v, axis_1) }", "ends must be constant"),
    case("(float[4,4] x) => (float[] y) { y = Slice (x, first, second, , step) }", "axes is missing"),
    case("(float[4,4] x) => (float[] y, float[] v) { y, v = Split (x) }"),
    case("(float[4,4] x) => (float[] y, float[] v) { y, v = Split (x, halves) }"),
    case("(float[4,4] x) => (float[] y, float[] v) { y, v = Split (x, uneven) }", "parts of different size"),
    case("(float[4,4] x) => (float[] y, float[] v) { y, v = Split (x) }", "older than 13", opset=12),
    case("(float[5,4] x) => (float[] y, float[] v) { y, v = Split <num_outputs = 2> (x) }", "5 does not", opset=18),
    case("(float[4,4] x) => (float[] y) { y = Pad (x, pads_2d) }"),
    case("(float[4,4] x) => (float[] y) { y = Pad (x, pads_2d, one) }"),
    case("(float[4,4] x) => (float[] y) { y = Pad (x, pads_negative) }", "are not all positive"),
    case('(float[4,4] x) => (float[] y) { y = Pad <mode = "reflect"> (x, pads_2d) }', "mode 'reflect' is not constant"),
    case("(float[4,4] x, float v) => (float[] y) { y = Pad (x, pads_2d, v) }", "constant_value must be constant"),
    case("(float[4,4] x) => (float[] y) { y = Gather (x, rows) }"),
    case("(float[4,4] x, int64[2] v) => (float[] y) { y = Gather (x, v) }", "indices are int64, not constant"),
    case("(float[4,4] x, int32[2] v) => (float[] y) { y = Gather (x, v) }"),
    case("(float[0,4] x) => (float[] y) { y = Gather (x, axis_0) }", "shape [0, 4] has a 0"),
    case("(float[1,4,2,2] x) => (float[] y) { y = DepthToSpace <blocksize = 2> (x) }"),
    case(
        '(float[1,4,2,2] x) => (float[] y) { y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }',
        "mode 'CRD' is not DCR",
    ),
    # numbers
    case(f"{ROWS} {{ y = Relu (x) }}", level=27),
    case(f"{ROWS} {{ y = Relu (x) }}", "feature level 26 is below 27", level=26),
    case("(float16[2,8] x) => (float16[] y) { y = Relu (x) }", "input 0 is float16, not float"),
    case(f"{ROWS} {{ y = Abs (x) }}"),
    case(f"{ROWS} {{ y = Abs (x) }}", "requires feature level 29", level=28),
    case(f"{ROWS} {{ y = Ceil (x) }}", "operator not supported"),
    case(f"{ROWS} {{ y = Floor (x) }}", level=27),
    case(f"{ROWS} {{ y = Sigmoid (x) }}", level=27),
    case("(float[1,2,1,3,1] x) => (float[] y) { y = Sigmoid (x) }", "has 5 dimensions"),
    case("(float[1,2,1,3,1] x) => (float[] y) { y = Tanh (x) }"),
    case(f"{ROWS} {{ y = Elu (x) }}", level=30),
    case(f"{ROWS} {{ y = Elu (x) }}", "requires feature level 30", level=29),
    case(f"{ROWS} {{ y = LeakyRelu (x) }}"),
    case(f"{ROWS} {{ y = HardSigmoid (x) }}", "operator not supported"),
    case(f"{ROWS} {{ y = Clip (x, zero, six) }}"),
    case(f"{ROWS} {{ y = Clip (x, minus_one, one) }}"),
    case(f"{ROWS} {{ y = Clip (x, zero, one) }}", "range 0 to 1 is neither 0 to 6 nor -1 to 1"),
    case("(float[2,8] x, float v) => (float[] y) { y = Clip (x, zero, v) }", "min and max must be constant"),
    case("(float[2,8] x) => (int32[] y) { y = Cast <to = 6> (x) }"),
    case("(float[2,8] x) => (int64[] y) { y = Cast <to = 7> (x) }", "to is int64, neither float nor int32"),
    case("(int64[2,8] x) => (float[] y) { y = Cast <to = 1> (x) }", "input 0 is int64, not float"),
    case(f"{ROWS} {{ y = Add (x, x) }}", level=27),
    case("(int32[2,8] x) => (int32[] y) { y = Add (x, x) }", "input 0 is int32"),
    case("(float[1,2,1,3,1] x) => (float[] y) { y = Add (x, zero) }", "5 and 0 dimensions, more than 4"),
    case(f"{ROWS} {{ y = Div (x, six) }}", "requires feature level 28", level=27),
    case(f"{ROWS} {{ y = Pow (x, six) }}"),
    case("(float[2,8] x) => (float[] y) { y = Pow (x, first) }", "exponent is int64, not float"),
    case(f"{ROWS} {{ y = PRelu (x, six) }}"),
    case(f"{ROWS} {{ y = Max (x, six) }}"),
    case(f"{ROWS} {{ y = Max (x, six, zero) }}", "3 inputs, not 2"),
    case(f"{ROWS} {{ y = ReduceMean <axes = [1]> (x) }}"),
    case(f"{ROWS} {{ y = ReduceMean (x, axis_1) }}", opset=18),
    case("(float[2,8] x, int64[1] v) => (float[] y) { y = ReduceMean (x, v) }", "axes must be constant", opset=18),
    case(f"{ROWS} {{ y = ReduceMax <axes = [1]> (x) }}", "operator not supported"),
    case(f"{ROWS} {{ y = Softmax (x) }}", level=28),
    case(f"{ROWS} {{ y = Softmax <axis = 0> (x) }}"),
    case(f"{ROWS} {{ y = Softmax <axis = 0> (x) }}", "axis 0 is not the last", level=28),
    case("(float[2,3,8] x) => (float[] y) { y = Softmax (x) }", "other than 2 and 4", level=28),
    case("(float[1,2,1,3,1] x) => (float[] y) { y = Softmax (x) }", "has 5 dimensions"),
    case("(float[1,4,2,2] x) => (float[] y) { y = BatchNormalization (x, c4, c4, c4, c4) }"),
    case(
        "(float[1,4,2,2] x, float[4] v) => (float[] y) { y = BatchNormalization (x, c4, c4, c4, v) }",
        "var must be constant",
    ),
    case("(float[1,4,2,2] x) => (float[] y) { y = LRN <size = 3> (x) }"),
    case("(float[2,3,4,5] x) => (float[] y) { y = LayerNormalization (x, c5, c5) }", "operator not supported"),
]
"""Its last node is the one in question."""


def quantized(
    inputs: str,
    body: str,
    *,
    before: str = "",
    pair: str = "s, z",
    scale: str = "s",
    zero: str = "z",
    element: str = "",
) -> str:
    """A graph whose x is quantized and dequantized with `pair`, `body` makes f of xd, and f goes the same way."""
    return (
        f"(float[{inputs}] x) => (float[] y) {{ q = QuantizeLinear (x, {pair}) xd = DequantizeLinear (q, {pair}) "
        f"{before} {body} fq = QuantizeLinear (f, {scale}, {zero}) y = DequantizeLinear (fq, {scale}, {zero}) }}"
    )


def _weights(weight_name: str, scale: str, zero: str, bias: str = "") -> str:
    made = f"wd = DequantizeLinear ({weight_name}, {scale}, {zero})"
    return made + (f" bd = DequantizeLinear <axis = 0> ({bias}, {scale})" if bias else "")


PER_CHANNEL = "wd = DequantizeLinear <axis = 0> (w_s8, s4, z4_s8)"
CONV = "f = Conv (xd, wd)"
QUANTIZED = [
    case(quantized("1,3,8,8", CONV, before=_weights("w_u8", "s", "z"))),
    case(quantized("1,3,8,8", CONV, before=_weights("w_s8", "s", "z_s8"))),
    case(quantized("1,3,8,8", CONV, before=_weights("w_s8", "s", "z3_s8")), "weight must be 0"),
    case(quantized("1,3,8,8", CONV, before=PER_CHANNEL)),
    case(quantized("1,3,8,8", CONV, before=PER_CHANNEL.replace("z4_s8", "z0300_s8")), "weight must be 0"),
    case(quantized("1,3,8,8", CONV, before=PER_CHANNEL), "requires feature level 29", level=28),
    case(
        quantized("1,3,8,8", CONV, before=_weights("w_s8", "s", "z_s8"), pair="s, z_s8", zero="z_s8"),
        "quantized input 0 is int8, not uint8",
    ),
    case(quantized("1,3,8,8", "g = Conv (xd, wd) f = Relu (g)", before=_weights("w_u8", "s", "z"))),
    case(quantized("1,3,8,8", "g = Conv (xd, wd) f = Relu (g)", before=_weights("w_u8", "s", "z"), zero="z3")),
    case(quantized("2,8", "f = MatMul (xd, wd)", before=_weights("m_u8", "s", "z"))),
    case(quantized("2,8", "f = MatMul (xd, wd)", before=_weights("m_s8", "s", "z_s8"))),
    case(quantized("2,8", "f = Gemm (xd, wd)", before=_weights("m_u8", "s", "z"))),
    case(quantized("2,8", "f = Gemm <alpha = 0.5> (xd, wd)", before=_weights("m_u8", "s", "z")), "alpha is 0.5"),
    case(quantized("2,8", "f = Softmax (xd)", scale="s_256")),
    case(quantized("2,8", "f = Softmax (xd)"), "scale of the output is 0.5, not 0.00390625"),
    case(quantized("2,8", "f = Softmax (xd)", scale="s_256", zero="z3"), "zero point of the output is 3, not 0"),
    case(quantized("2,8", "f = Sigmoid (xd)"), "not supported between DequantizeLinear and QuantizeLinear"),
    case(quantized("2,8", "f = Transpose (xd)")),
    case(quantized("2,8", "f = Transpose (xd)", scale="s_other")),
    case(quantized("1,3,8,8", "f = AveragePool <kernel_shape = [2, 2]> (xd)")),
    case(quantized("1,3,8,8", "f = AveragePool <kernel_shape = [2, 2]> (xd)", scale="s_other"), "is 0.25, not 0.5"),
    case(quantized("1,3,8,8", "f = MaxPool <kernel_shape = [2, 2]> (xd)"), "not supported between", opset=13),
    case(quantized("1,3,8,8", "f = GlobalAveragePool (xd)"), "not supported between"),
    case(quantized("2,8", "f = Add (xd, xe)", before="xe = DequantizeLinear (q, s, z)")),
    case(quantized("2,8", "f = Sub (xd, xe)", before="xe = DequantizeLinear (q, s, z)"), "not supported between"),
    case(quantized("2,8", "f = Mul (xd, xd)")),
    case(quantized("2,8", "f = Concat <axis = 0> (xd, xe)", before="xe = DequantizeLinear (q, s, z)")),
    case(quantized("2,8", "f = Concat <axis = 0> (xd, xe)", before="xe = DequantizeLinear (q, s, z)", scale="s_other")),
    case(
        quantized("2,8", "f = Concat <axis = 0> (xd, xe)", before="xe = DequantizeLinear (q, s, z)", scale="s_other"),
        "different ones require feature level 29",
        level=28,
    ),
    case("(uint8[2,8] x) => (float[] y) { y = DequantizeLinear (x, s, z) }", level=27),
    case("(int8[2,8] x) => (float[] y) { y = DequantizeLinear (x, s, z_s8) }", "input 0 is int8, not uint8"),
    case(
        "(uint8[2,8] x, float v) => (float[] y) { y = DequantizeLinear (x, v, z) }", "scale of input 0 must be constant"
    ),
    case(f"{ROWS} {{ y = QuantizeLinear (x, s, z) }}".replace("float[] y", "uint8[] y")),
    case(f"{ROWS} {{ y = QuantizeLinear (x, s, z) }}".replace("float[] y", "uint8[] y"), "feature level 29", level=28),
    case(f"{ROWS} {{ y = QuantizeLinear (x, s, z_s8) }}".replace("float[] y", "int8[] y"), "output 0 is int8"),
]

CONTRIBUTED = [
    case("(uint8[1,3,8,8] x) => (uint8[] y) { y = QLinearConv (x, s, z, w_u8, s, z, s, z) }"),
    case("(uint8[2,8] x) => (uint8[] y) { y = QLinearMatMul (x, s, z, m_u8, s, z, s, z) }"),
    case("(uint8[2,8] x) => (uint8[] y) { y = com.microsoft.QLinearAdd (x, s, z, x, s, z, s, z) }"),
    case("(int8[2,8] x) => (int8[] y) { y = com.microsoft.QLinearAdd (x, s, z_s8, x, s, z_s8, s, z_s8) }", "is int8"),
    case("(uint8[2,8] x) => (uint8[] y) { y = com.microsoft.QLinearMul (x, s, z, x, s, z, s, z) }"),
    case("(uint8[2,8] x) => (uint8[] y) { y = com.microsoft.QLinearSigmoid (x, s, z, s_256, z) }"),
    case("(uint8[2,8] x) => (uint8[] y) { y = com.microsoft.QLinearSigmoid (x, s, z, s, z) }", "scale of the output"),
    case(
        "(uint8[1,3,8,8] x) => (uint8[] y) "
        "{ y = com.microsoft.QLinearAveragePool <kernel_shape = [2, 2]> (x, s, z, s, z) }"
    ),
]

PARTITIONS = [
    case("(float[2,8] x) => (float[] y) { a = Relu (x) b = Ceil (a) c = Relu (b) y = Add (a, c) }"),
    case("(float[2,8] x) => (float[] y, float[] v) { a = Relu (x) b = Ceil (a) y = Add (a, b) v = Relu (x) }"),
    case("(float[2,8] x, float[2,8] v) => (float[] y) { a = Relu (x) b = Ceil (v) c = Relu (b) y = Add (a, c) }"),
    case("(float[2,8] x) => (float[] y) { a = Relu (x) b = Ceil (a) c = Identity (b) d = Ceil (c) y = Relu (d) }"),
    case("(float[2,8] x) => (float[] y) { a = Relu (c5) b = Relu (x) c = Ceil (a) d = Ceil (b) y = Relu (d) }"),
    case(
        "(float[1,3,8,8] x) => (float[] y) { a = Conv (x, w) b = Ceil (a) c = Conv <group = 4> (b, w_depthwise) "
        "d = Flatten (c) e = Ceil (d) y = Relu (e) }"
    ),
    case(quantized("1,3,8,8", "g = Conv (xd, wd) h = Relu (g) f = Ceil (h)", before=_weights("w_u8", "s", "z"))),
    case(quantized("1,3,8,8", "g = Conv (xd, wd) f = Clip (g, zero, six)", before=_weights("w_u8", "s", "z"))),
    case(
        quantized(
            "1,3,8,8", "g = Conv (xd, wd) f = Clip (g, zero, six)", before=_weights("w_u8", "s", "z"), scale="s_256"
        )
    ),
    case(quantized("2,8", "f = Reshape (xd, to_0)")),
    case(quantized("2,8", "f = Flatten (xd)")),
    case("(float[1,6,4] x) => (float[] y) { i = NonMaxSuppression (x, scores) f = Cast <to = 1> (i) y = Relu (f) }"),
]
"""Several nodes, of which some are left."""

FATAL = [
    case(
        quantized("2,8", "f = Gemm (xd, wd)", before=_weights("m_u8", "s", "z")).split(" fq =")[0] + " y = Relu (f) }",
        "QDQ Gemm: output 0 is not quantized; with NNAPI the model does not load",
    ),
    case(
        f'{IMAGE} {{ y = Resize <mode = "linear"> (x, , nothing, to_16) }}',
        "Resize: 0 scales, not 4; with NNAPI the model does not load",
    ),
    case(
        "(float[4,4] x) => (float[] y) { y = Pad (x, pads_1d, zero, axis_1) }",
        "Pad: axes as an input are not supported; with NNAPI the model does not load",
        opset=18,
    ),
    case(
        "(float[1,4,2,2] x) => (float[] y) { y = LRN <size = 3> (x) }",
        "LRN: USE_NCHW requires feature level 29; with NNAPI the model does not load",
        level=28,
        use_nchw=True,
    ),
]
"""Nodes at which ONNX Runtime gives up where it could have left them to the CPU."""
