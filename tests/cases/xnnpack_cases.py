"""Small models for the XNNPACK rules, each with the expected answer for one node."""

from dataclasses import dataclass, field
from typing import Any

import numpy
import onnx
from onnx import numpy_helper

from tests.cases.onnx_text import onnx_model, weight

Array = numpy.typing.NDArray[numpy.generic]


@dataclass(frozen=True, kw_only=True)
class Case:
    graph: str
    why: str = ""
    """part of the reason why its last node is left, or why XNNPACK must not get the model; empty if it is taken"""
    opset: int = 17
    constants: dict[str, Array] = field(default_factory=dict)

    def model(self) -> onnx.ModelProto:
        words = set(self.graph.replace("(", " ").replace(")", " ").replace(",", " ").split())
        model = onnx_model(
            self.graph.replace("<>", ""), opsets={"": self.opset}, ir_version=10 if self.opset > 20 else 8
        )
        used = {name: array for name, array in (CONSTANTS | self.constants).items() if name in words}
        model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in used.items())
        for index, node in enumerate(model.graph.node):
            node.name = f"{node.op_type}.{index}"
        return model


def case(graph: str, why: str = "", *, opset: int = 17, **constants: Array) -> Case:
    return Case(graph=graph, why=why, opset=opset, constants=constants)


def f32(*numbers: float) -> Array:
    return numpy.array(numbers, numpy.float32)


def i64(*numbers: int) -> Array:
    return numpy.array(numbers, numpy.int64)


def scalar(number: float, kind: Any = numpy.float32) -> Array:
    return numpy.array(number, kind)


def full(shape: tuple[int, ...], number: float, kind: Any) -> Array:
    return numpy.full(shape, number, kind)


CONSTANTS: dict[str, Array] = {
    "w": weight(4, 4, 3, 3),
    "w_depthwise": weight(4, 1, 3, 3),
    "w_grouped": weight(4, 2, 3, 3),
    "w_1d": weight(4, 4, 3),
    "w_3d": weight(4, 4, 3, 3, 3),
    "w_1x1": weight(4, 4, 1, 1),
    "b": weight(4),
    "b_wide": weight(8),
    "m": weight(8, 5),
    "m_t": weight(5, 8),
    "m_square": weight(8, 8),
    "m_row": weight(1, 5),
    "m_3d": weight(1, 8, 5),
    "v": weight(8),
    "c5": weight(5),
    "c_row": weight(1, 5),
    "c_all": weight(8, 8),
    "c_one": weight(1),
    "c_none": scalar(0.5),
    "zero": scalar(0),
    "six": scalar(6),
    "low": scalar(-0.5),
    "low_s8": scalar(3, numpy.int8),
    "high_s8": scalar(20, numpy.int8),
    "twice": f32(1, 1, 2, 2),
    "half": f32(1, 1, 0.5, 0.5),
    "third": f32(1, 1, 0.3, 0.3),
    "rows_twice": f32(2, 2),
    "nothing": f32(),
    "to_20": i64(1, 4, 20, 20),
    "to_7": i64(1, 4, 7, 7),
    "to_flat": i64(1, -1),
    "s": scalar(0.02),
    "s_other": scalar(0.05),
    "s_bias": scalar(0.0004),
    "s_256": scalar(1 / 256),
    "s_255": scalar(1 / 255),
    "s_280": scalar(1 / 280),
    "s_list": f32(0.01),
    "s_channels": f32(0.01, 0.02, 0.01, 0.02),
    "z_s8": scalar(0, numpy.int8),
    "z_u8": scalar(0, numpy.uint8),
    "z_128": scalar(128, numpy.uint8),
    "z_channels": numpy.zeros(4, numpy.int8),
    "z_channels_3": full((4,), 3, numpy.int8),
    "z_channels_u8": full((4,), 128, numpy.uint8),
    "z_list": numpy.zeros(1, numpy.int8),
    "z_u16": scalar(0, numpy.uint16),
    "w_s8": numpy.arange(144, dtype=numpy.int8).reshape(4, 4, 3, 3),
    "w_u8": numpy.arange(144, dtype=numpy.uint8).reshape(4, 4, 3, 3),
    "wt_s8": numpy.arange(72, dtype=numpy.int8).reshape(4, 2, 3, 3),
    "m_s8": numpy.arange(40, dtype=numpy.int8).reshape(8, 5),
    "b_s32": numpy.arange(4, dtype=numpy.int32),
    "z_s32": scalar(0, numpy.int32),
    "z_channels_s32": numpy.zeros(4, numpy.int32),
}

IMAGE = "(float[1,4,12,12] x) => (float[] y)"
ROWS = "(float[N,8] x) => (float[] y)"


def convolution(attributes: str = "", inputs: str = "x, w, b", shape: str = "1,4,12,12", op: str = "Conv") -> str:
    return f"(float[{shape}] x) => (float[] y) {{ y = {op} <{attributes}> ({inputs}) }}"


def one(op: str, attributes: str = "", shape: str = "1,4,12,12", kind: str = "float") -> str:
    return f"({kind}[{shape}] x) => ({kind}[] y) {{ y = {op} <{attributes}> (x) }}"


def gemm(attributes: str = "", inputs: str = "x, m, c5", shape: str = "N,8") -> str:
    return f"(float[{shape}] x) => (float[] y) {{ y = Gemm <{attributes}> ({inputs}) }}"


def resize(attributes: str = "", inputs: str = "x, , twice", shape: str = "1,4,12,12") -> str:
    return f'(float[{shape}] x) => (float[] y) {{ y = Resize <mode = "linear"{attributes}> ({inputs}) }}'


def group(
    middle: str,
    *,
    s: str = "s",
    z: str = "z_s8",
    t: str = "s",
    n: str = "z_s8",
    before: str = "",
    shape: str = "1,4,12,12",
) -> str:
    """`middle`, which makes c of xd, between conversions."""
    return f"""(float[{shape}] x) => (float[] y) {{
        xq = QuantizeLinear (x, {s}, {z}) xd = DequantizeLinear (xq, {s}, {z}) {before}
        {middle}
        yq = QuantizeLinear (c, {t}, {n}) y = DequantizeLinear (yq, {t}, {n})
    }}"""


def weights(value: str = "w_s8", scale: str = "s", zero: str = "z_s8", axis: int | None = None) -> str:
    attribute = "" if axis is None else f"<axis = {axis}>"
    return f"wd = DequantizeLinear {attribute} ({value}, {scale}, {zero})"


BIAS = "bd = DequantizeLinear (b_s32, s_bias, z_s32)"

FLOATS = [
    # convolution
    case(convolution()),
    case(convolution(), "opset 1 of the operator is older than 11", opset=10),
    *(case(convolution(), opset=opset) for opset in (11, 21, 22, 24, 26)),
    case(convolution(shape="N,4,12,12")),
    case(convolution(shape="1,4,H,12"), "channels, height and width must be known: [1, 4, H, 12]"),
    case(convolution(inputs="x, w_1d, b", shape="1,4,12")),
    case(convolution(inputs="x, w_3d, b", shape="1,4,6,6,6"), "input has 5 dimensions, not 3 or 4"),
    case(convolution('auto_pad = "SAME_UPPER", strides = [2, 2]')),
    case(convolution('auto_pad = "SAME_LOWER"'), "auto_pad SAME_LOWER is not supported"),
    case(convolution('auto_pad = "VALID"')),
    case(convolution("pads = [1, 1, 1, 1], dilations = [2, 2]")),
    case(convolution("group = 2", "x, w_grouped, b")),
    case(convolution("group = 4", "x, w_depthwise")),
    case("(float[1,4,12,12] x, float[4,4,3,3] k) => (float[] y) { y = Conv (x, k) }", "weight must be constant"),
    case("(float[1,4,12,12] x, float[4] k) => (float[] y) { y = Conv (x, w, k) }", "bias must be constant"),
    case(convolution(op="ConvTranspose")),
    case(convolution(op="ConvTranspose"), opset=22),
    case(convolution("group = 2", "x, w_grouped", op="ConvTranspose")),
    case(convolution("strides = [2, 2], output_padding = [1, 1]", op="ConvTranspose")),
    case(convolution("strides = [2, 2], output_shape = [24, 24]", op="ConvTranspose")),
    case(convolution(inputs="x, w_1d, b", shape="1,4,12", op="ConvTranspose")),
    # activations behind it
    case(f"{IMAGE} {{ a = Conv (x, w) y = Relu (a) }}"),
    case(f"{IMAGE} {{ a = Conv (x, w) y = Clip (a, zero, six) }}"),
    case(f"{IMAGE} {{ a = Conv (x, w) y = Clip (a, low) }}"),
    case(f"{IMAGE} {{ a = Conv (x, w) y = Clip (a, , six) }}", "Clip: no kernel for it"),
    case(f"{IMAGE} {{ a = Conv (x, w) y = Sigmoid (a) }}", "Sigmoid: no kernel for it"),
    case(f"{IMAGE} {{ a = ConvTranspose (x, w) y = Relu (a) }}", "Relu: no kernel for it"),
    case("(float[1,4,12,12] x) => (float[] y, float[] a) { a = Conv (x, w) y = Relu (a) }", "no kernel for it"),
    case(f"{IMAGE} {{ a = Conv (x, w) e = Erf (a) r = Relu (a) y = Add (e, r) }}", "Add: no kernel for it"),
    case(f"{IMAGE} {{ a = MaxPool <kernel_shape = [2, 2]> (x) y = Relu (a) }}"),
    case(f"{IMAGE} {{ a = AveragePool <kernel_shape = [2, 2]> (x) y = Clip (a, zero, six) }}"),
    case(f"{IMAGE} {{ a = AveragePool <kernel_shape = [2, 2]> (x) y = Clip <max = 0.5> (a) }}", opset=10),
    case(f"{ROWS} {{ a = Gemm (x, m, c5) y = Relu (a) }}", "Relu: no kernel for it"),
    # pools
    case(one("MaxPool", "kernel_shape = [2, 2], strides = [2, 2]")),
    case(one("MaxPool", "kernel_shape = [2, 2]"), opset=22),
    case(one("MaxPool", "kernel_shape = [2, 2]"), opset=8),
    case(one("MaxPool", "kernel_shape = [2, 2], strides = [3, 3]")),
    case(one("MaxPool", "kernel_shape = [2, 2], dilations = [2, 2]")),
    case(one("MaxPool", "kernel_shape = [2, 2], ceil_mode = 1"), "ceil_mode is not supported"),
    case(one("MaxPool", "kernel_shape = [1, 1]"), "a kernel of 1 x 1 is not supported"),
    case(one("MaxPool", "kernel_shape = [2]", "1,4,12"), "input has 3 dimensions, not 4"),
    case(one("MaxPool", 'kernel_shape = [2, 2], auto_pad = "SAME_LOWER"'), "auto_pad SAME_LOWER is not supported"),
    case(one("MaxPool", 'kernel_shape = [3, 3], strides = [2, 2], auto_pad = "SAME_UPPER"')),
    case(one("MaxPool", "kernel_shape = [2, 2]", kind="uint8")),
    case(one("MaxPool", "kernel_shape = [2, 2]", kind="int8")),
    case(one("MaxPool", "kernel_shape = [2, 2]", kind="double"), "input is double, not float or uint8 or int8"),
    case(
        "(float[1,4,12,12] x) => (float[] z, int64[] i) { z, i = MaxPool <kernel_shape = [2, 2]> (x) }",
        "indices are not computed",
    ),
    case(one("AveragePool", "kernel_shape = [2, 2], strides = [2, 2]")),
    case(one("AveragePool", "kernel_shape = [2, 2], pads = [1, 1, 1, 1]")),
    *(case(one("AveragePool", "kernel_shape = [2, 2]"), opset=opset) for opset in (7, 10, 19, 22)),
    case(one("AveragePool", "kernel_shape = [2, 2], dilations = [2, 2]"), "dilations are not supported", opset=19),
    case(one("AveragePool", "kernel_shape = [2, 2], count_include_pad = 1"), "count_include_pad is not supported"),
    case(one("GlobalAveragePool"), "GlobalAveragePool: no kernel for it"),
    # products
    case(gemm()),
    case(gemm("transB = 1", "x, m_t, c5")),
    case(gemm(inputs="x, m")),
    case(gemm("alpha = 2.0"), "alpha and beta must be 1"),
    case(gemm("beta = 2.0"), "alpha and beta must be 1"),
    case(gemm(inputs="x, m, c_row"), "C of [1, 5]"),
    case(gemm(inputs="x, m, c_one"), "C of [1]"),
    case(gemm(inputs="x, m, c_none"), "C of []"),
    case("(float[N,8] x, float[8,5] k) => (float[] y) { y = Gemm (x, k, c5) }", "B must be constant"),
    case("(float[N,8] x, float[5] k) => (float[] y) { y = Gemm (x, m, k) }", "C must be constant"),
    *(case(gemm(), opset=opset) for opset in (7, 9, 11, 13)),
    case("(float[1,16,8] x) => (float[] y) { y = MatMul (x, m) }"),
    case("(float[B,4,S,8] x) => (float[] y) { y = MatMul (x, m) }"),
    case("(float[8] x) => (float[] y) { y = MatMul (x, m) }"),
    case("(float[2,8] x) => (float[] y) { y = MatMul (x, v) }"),
    case("(float[2,8] x) => (float[] y) { y = MatMul (x, m_3d) }", "B of [1, 8, 5] has neither one nor two"),
    case("(float[2,8] x, float[8,5] k) => (float[] y) { y = MatMul (x, k) }", "B must be constant"),
    case("(float[5,2] x) => (float[] y) { y = MatMul (m, x) }", "B must be constant"),
    # softmax
    case(one("Softmax", "axis = -1", "1,16,8")),
    case(one("Softmax", "axis = 2", "1,16,8")),
    case(one("Softmax", "axis = 1", "1,16,8"), "axis 1 is not the last"),
    case(one("Softmax", "axis = 1", "1,16,8"), opset=11),
    case(one("Softmax", "axis = -1", "1,16,N"), "size of the last dimension is unknown"),
    case(one("Softmax", "axis = -1", "B,S,8")),
    # resize
    case(resize()),
    *(case(resize(), opset=opset) for opset in (13, 18, 19)),
    case(resize(inputs="x, nothing, twice"), opset=11),
    case(one("Resize", 'mode = "nearest"').replace("(x) }", "(x, , twice) }"), "mode nearest is not linear"),
    case(one("Resize", 'mode = "cubic"').replace("(x) }", "(x, , twice) }"), "mode cubic is not linear"),
    case(resize(inputs="x, , , to_20")),
    case(resize(inputs="x, , , to_7")),
    case(resize(', coordinate_transformation_mode = "align_corners"', "x, , , to_20")),
    case(resize(', coordinate_transformation_mode = "asymmetric"')),
    case(resize(', coordinate_transformation_mode = "pytorch_half_pixel"')),
    case(resize(', coordinate_transformation_mode = "half_pixel_symmetric"'), "is not supported", opset=19),
    case(resize(', coordinate_transformation_mode = "tf_half_pixel_for_nn"'), "is not supported"),
    case(resize(inputs="x, , half")),
    case(resize(inputs="x, , third"), "do not divide height and width"),
    case(resize(", antialias = 1"), "antialias, axes and exclude_outside are not supported", opset=18),
    case(resize(", axes = [2, 3]", "x, , rows_twice"), "2 scales for 4 dimensions", opset=18),
    case(resize(shape="1,C,12,12"), "number of channels is unknown"),
    # others
    case(
        "(int8[1,4,12,12] x) => (int8[] y) { y = QLinearConv (x, s, z_s8, w_s8, s, z_s8, s, z_s8) }",
        "QLinearConv: no kernel for it",
    ),
    case(one("HardSigmoid"), "HardSigmoid: no kernel for it"),
]

GROUPS = [
    case(group("c = Conv (xd, wd, bd)", before=f"{weights()} {BIAS}")),
    case(group("c = Conv (xd, wd)", before=weights())),
    case(group("c = Conv (xd, wd)", before=weights(scale="s_channels", zero="z_channels", axis=0))),
    case(group("c = Conv (xd, wd)", z="z_128", n="z_128", before=weights("w_u8", zero="z_128"))),
    case(group("c = Conv (xd, wd)", z="z_128", n="z_128", before=weights()), "neither all int8 nor all uint8"),
    case(
        group(
            "c = Conv (xd, wd)",
            z="z_128",
            n="z_128",
            before=weights("w_u8", scale="s_channels", zero="z_channels_u8", axis=0),
        ),
        "weight uint8 per channel",
    ),
    case(group("c = Conv (xd, wd)", z="z_u16", n="z_u16", before=weights("w_u8", zero="z_128")), "uint16", opset=21),
    case(group("a = Conv (xd, wd) c = Relu (a)", before=weights()), "no kernel for it"),
    case(group("c = ConvTranspose (xd, wd)", before=weights())),
    case(
        group("c = ConvTranspose <group = 2> (xd, wd)", before=weights("wt_s8", "s_pair", "z_pair", axis=1)),
        "int8 with 2 scales for 4",
        s_pair=f32(0.01, 0.02),
        z_pair=numpy.zeros(2, numpy.int8),
    ),
    case(group("c = MaxPool <kernel_shape = [2, 2]> (xd)")),
    case(group("c = MaxPool <kernel_shape = [2, 2]> (xd)", t="s_other")),
    case(group("c = AveragePool <kernel_shape = [2, 2]> (xd)", z="z_u8", n="z_u8"), "not supported between"),
    case(group("c = Softmax (xd)", z="z_u8", n="z_u8", t="s_256", shape="1,10")),
    case(group("c = Softmax (xd)", z="z_u8", n="z_u8", t="s_280", shape="1,10"), "not 1/256 and 0"),
    case(group("c = Softmax (xd)", t="s_256", shape="1,10"), "both must be uint8"),
    case(group('c = Resize <mode = "linear"> (xd, , twice)')),
    case(group("c = Gemm (xd, wd)", before=weights("m_s8"), shape="1,8"), "not supported between"),
    case(group("c = MatMul (xd, wd)", before=weights("m_s8"), shape="1,4,8"), "not supported between"),
]

BORDERS = [
    case(f"{IMAGE} {{ a = Conv (x, w) s1 = Sigmoid (a) m1 = Mul (a, s1) y = Conv (m1, w) }}"),
    case(f"""{IMAGE} {{
        a = Conv (x, w) g = GlobalAveragePool (a) k = Conv (g, w_1x1) h = HardSigmoid (k) n = Mul (a, h) y = Conv (n, w)
    }}"""),
    case(f"{IMAGE} {{ a = Conv (x, w) f = Reshape (a, to_flat) y = Softmax (f) }}"),
    case(
        f"{IMAGE} {{ a = Conv (x, w) o = Concat <axis = 1> (a, a) r = Relu (o) y = Conv (r, w_wide) }}",
        w_wide=weight(4, 8, 1, 1),
    ),
    case("(float[1,4,12,12] x) => (int64[] y) { a = Conv (x, w) y = ArgMax <axis = 1> (a) }", "ArgMax: no kernel"),
]

WRONG = [
    case(gemm("transA = 1", shape="8,3"), "XNNPACK computes transA wrong"),
    case(gemm(inputs="x, m_square, c_all", shape="8,8"), "in the place of C of [8, 8]"),
    case(gemm(inputs="x, m_row, c_one", shape="3,1"), "in the place of C of [1]"),
    case(f"{IMAGE} {{ a = Conv (x, w) y = Clip (a) }}", "missing lower bound"),
    case(
        "(int8[1,4,12,12] x) => (int8[] y) { a = MaxPool <kernel_shape = [2, 2]> (x) y = Relu (a) }",
        "leaves it out behind a pool of 8 bits",
    ),
    case(
        "(int8[1,4,12,12] x) => (int8[] y) { a = MaxPool <kernel_shape = [2, 2]> (x) y = Clip (a, low_s8, high_s8) }",
        "leaves it out behind a pool of 8 bits",
    ),
    case(
        group("c = Conv (xd, wd)", before=weights(scale="s_channels", zero="z_channels_3", axis=0)),
        "ignores the zero points of channels",
    ),
    case(
        one("MaxPool", 'kernel_shape = [1, 3], strides = [3, 1], auto_pad = "SAME_UPPER"', "1,4,9,6"),
        "begins elsewhere with a kernel of 1, a stride of 3",
    ),
    case(
        convolution('strides = [3, 1], auto_pad = "SAME_UPPER"', "x, w_1d_2d", "2,4,6,7"),
        "begins elsewhere with a kernel of 1, a stride of 3",
        w_1d_2d=weight(4, 4, 1, 5),
    ),
    case(
        "(float[1,4,6] x) => (float[] y) { a = Transpose <perm = [0, 2, 1]> (x) y = Softmax (a) }",
        "divides along another axis",
    ),
    case(f"{IMAGE} {{ a = Conv (x, w) y = Softmax (a) }}", "divides along another axis"),
    case(f"{IMAGE} {{ a = MaxPool <kernel_shape = [2, 2]> (x) e = Erf (a) y = Softmax (e) }}", "along another axis"),
]
"""Models that XNNPACK computes wrong."""

BRANCHES = """(float[1, 4, 8, 8] x, bool c) => (float[1, 4, N, M] y) { y = If (c) <
    then_branch = t () => (float[1, 4, 6, 6] p) { p = Conv (x, w) },
    else_branch = e () => (float[1, 4, N, M] Conv_q) { %s }> }"""
"""Weights of branches are in the main graph, as exporters write them."""

FAILS = [
    case(BRANCHES % "Conv_q = Conv <dilations = [4, 4]> (x, w)", "refuses a window of 9 on a size of 8"),
    case(
        BRANCHES % "a = Pad (x, cut) Conv_q = Conv (a, w)",
        "refuses a window of 3 on a size of 2",
        cut=i64(0, 0, -3, 0, 0, 0, -3, 0),
    ),
    case(
        BRANCHES
        % """size = Shape <start = 2> (x) most = Max (size, four) end = Div (most, four)
             a = Slice (x, start, end, last) Conv_q = Conv (a, w)""",
        "may refuse its size, which only ONNX Runtime finds out",
        four=i64(4, 4),
        start=i64(0, 0),
        last=i64(2, 3),
    ),
    case(group("c = Softmax (xd)", z="z_u8", n="z_u8", t="s_255", shape="1,10"), "which is not 1/256"),
    case(resize(shape="1,4,H,W"), "refuses an unknown height or width"),
    case(resize(inputs="x, , , to_20", shape="N,4,12,12"), "refuses sizes where the batch is unknown"),
    case(resize().replace("x, , twice", "x, twice"), "no Resize of opset 10", opset=10),
    case(resize(inputs="x, nothing, nothing, to_20"), "crashes on 0 constant scales"),
    case(one("Softmax", "axis = 1", "1,16,N"), "crashes where the size from axis on is unknown", opset=11),
    case(
        one("MaxPool", 'kernel_shape = [3, 3], dilations = [2, 2], auto_pad = "SAME_UPPER"'),
        "refuses dilations with auto_pad SAME_UPPER",
    ),
    case(
        one("MaxPool", 'kernel_shape = [2, 2], pads = [1, 1, 1, 1], auto_pad = "VALID"'),
        "takes pads beside auto_pad VALID",
    ),
    case(
        one("AveragePool", 'kernel_shape = [5, 5], pads = [1, 0, 1, 1], auto_pad = "SAME_UPPER"'),
        "takes pads beside auto_pad SAME_UPPER",
    ),
    case(
        group("c = ConvTranspose (xd, wd)", before=weights(scale="s_channels", zero="z_channels", axis=1)),
        "refuses scales of the weight in a list",
    ),
    case(
        group("c = ConvTranspose (xd, wd)", before=weights(scale="s_list", zero="z_list", axis=1)),
        "refuses scales of the weight in a list",
    ),
]
"""Models with which XNNPACK fails, when it opens or runs them."""

HALF = case(
    "(float16[1,4,12,12] x) => (float16[] y) { y = Conv (x, w_half, b_half) }",
    "in 16 bits on phones",
    w_half=weight(4, 4, 3, 3).astype(numpy.float16),
    b_half=weight(4).astype(numpy.float16),
)
