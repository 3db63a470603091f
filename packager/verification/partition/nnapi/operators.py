"""Rules of the NNAPI provider, one row for each operator.

Written from core/providers/nnapi/nnapi_builtin/builders/impl/ of ONNX Runtime 1.21, where `Rule.source` names the file.
The library of 1.29 still contains every message with which that code explains why it leaves a node.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from packager.verification.partition.nnapi import elementwise, layers, quantized, shapes
from packager.verification.partition.nnapi.view import LEVEL_1, LEVEL_2, LEVEL_3, LEVEL_4, View

Check = Callable[[View], str]
"""Why a unit is left, in words, or empty."""


def accepted(_: View) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Rule:
    source: str
    level: int = LEVEL_1
    """the lowest feature level that supports it"""
    nchw_level: int = LEVEL_1
    """the same if USE_NCHW is set"""
    since: int = 1
    """the first form of the operator that is taken"""
    ranks: tuple[int, int] = (0, 99)
    """minimum and maximum dimensions of input 0"""
    types: Check = quantized.floats
    """check of the types of inputs and outputs, and of their quantization"""
    check: Check = accepted


_UNARY = Rule(source="unary_op_builder.cc", since=6)
_UNARY_3 = Rule(source="unary_op_builder.cc", since=6, level=LEVEL_3)
_POOL = Rule(
    source="pool_op_builder.cc",
    level=LEVEL_2,
    nchw_level=LEVEL_3,
    ranks=(4, 4),
    types=layers.pool_types,
    check=layers.pool,
)
_CONV = Rule(
    source="conv_op_builder.cc",
    level=LEVEL_2,
    nchw_level=LEVEL_3,
    types=quantized.element_or_quantized(("float",), quantized.two_in_one_out),
    check=layers.conv,
)
_MATMUL = Rule(
    source="gemm_op_builder.cc",
    types=quantized.element_or_quantized(("float",), quantized.two_in_one_out),
    check=layers.gemm,
)


def _binary_rule(level: int, since: int = 1) -> Rule:
    return Rule(
        source="binary_op_builder.cc",
        level=level,
        since=since,
        types=elementwise.binary_types,
        check=elementwise.binary,
    )


RULES: Mapping[str, Rule] = {
    "Abs": _UNARY_3,
    "Add": _binary_rule(LEVEL_1, 7),
    "AveragePool": _POOL,
    "BatchNormalization": Rule(
        source="batchnorm_op_builder.cc", since=7, ranks=(0, 4), check=elementwise.batch_normalization
    ),
    "Cast": Rule(source="cast_op_builder.cc", level=LEVEL_3, since=6, check=elementwise.cast),
    "Clip": Rule(source="clip_op_builder.cc", check=elementwise.clip),
    "Concat": Rule(source="concat_op_builder.cc", ranks=(1, 4), types=shapes.concat_types),
    "Conv": _CONV,
    "DepthToSpace": Rule(source="depthtospace_op_builder.cc", ranks=(4, 4), check=shapes.depth_to_space),
    "DequantizeLinear": Rule(source="dequantizelinear_op_builder.cc", types=quantized.quantized_input),
    "Div": _binary_rule(LEVEL_2, 7),
    "Elu": Rule(source="elu_op_builder.cc", level=LEVEL_4, since=6),
    "Exp": _UNARY_3,
    "Flatten": Rule(source="flatten_op_builder.cc", ranks=(1, 4), check=shapes.flatten),
    "Floor": _UNARY,
    "Gather": Rule(source="gather_op_builder.cc", level=LEVEL_3, ranks=(1, 4), check=shapes.gather),
    "Gemm": Rule(source=_MATMUL.source, since=7, types=_MATMUL.types, check=layers.gemm),
    "GlobalAveragePool": _POOL,
    "GlobalMaxPool": _POOL,
    "Identity": Rule(source="identity_op_builder.cc"),
    "LRN": Rule(source="LRN_op_builder.cc", level=LEVEL_2, ranks=(4, 4), check=elementwise.local_response),
    "LeakyRelu": Rule(source="leakyrelu_op_builder.cc", since=6, ranks=(1, 4)),
    "Log": _UNARY_3,
    "MatMul": _MATMUL,
    "Max": Rule(source="minmax_op_builder.cc", level=LEVEL_3, since=6, check=elementwise.two_inputs),
    "MaxPool": _POOL,
    "Min": Rule(source="minmax_op_builder.cc", level=LEVEL_3, since=6, check=elementwise.two_inputs),
    "Mul": _binary_rule(LEVEL_1, 7),
    "Neg": _UNARY_3,
    "PRelu": _binary_rule(LEVEL_3),
    "Pad": Rule(source="pad_op_builder.cc", level=LEVEL_3, since=11, ranks=(1, 4), check=shapes.pad),
    "Pow": _binary_rule(LEVEL_3, 7),
    "QLinearAdd": _binary_rule(LEVEL_1),
    "QLinearAveragePool": _POOL,
    "QLinearConv": _CONV,
    "QLinearMatMul": _MATMUL,
    "QLinearMul": _binary_rule(LEVEL_1),
    "QLinearSigmoid": Rule(source="unary_op_builder.cc", types=elementwise.sigmoid_types),
    "QuantizeLinear": Rule(source="quantizelinear_op_builder.cc", level=LEVEL_3, types=quantized.quantized_output),
    "ReduceMean": Rule(source="reduction_op_builder.cc", level=LEVEL_2, ranks=(1, 4), check=elementwise.reduction),
    "Relu": Rule(source="relu_op_builder.cc"),
    "Reshape": Rule(
        source="reshape_op_builder.cc",
        since=5,
        ranks=(1, 4),
        types=quantized.element_or_quantized(("float",), quantized.in_and_out),
        check=shapes.reshape,
    ),
    "Resize": Rule(
        source="resize_op_builder.cc",
        level=LEVEL_2,  # and LEVEL_3 for all but uint8, see level_of
        since=11,
        ranks=(4, 4),
        types=quantized.resize_or_transpose_types,
        check=layers.resize,
    ),
    "Sigmoid": Rule(source="unary_op_builder.cc", since=6, ranks=(1, 4)),
    "Sin": _UNARY_3,
    "Slice": Rule(source="slice_op_builder.cc", level=LEVEL_2, since=10, ranks=(0, 4), check=shapes.slice_),
    "Softmax": Rule(
        source="softmax_op_builder.cc",
        level=LEVEL_2,
        types=elementwise.softmax_types,
        check=elementwise.softmax,
    ),
    "Split": Rule(source="split_op_builder.cc", level=LEVEL_3, since=13, check=shapes.split),
    "Sqrt": _UNARY_3,
    "Squeeze": Rule(source="squeeze_op_builder.cc", level=LEVEL_2, ranks=(1, 4), check=shapes.axes_13),
    "Sub": _binary_rule(LEVEL_2, 7),
    "Tanh": _UNARY,
    "Transpose": Rule(
        source="transpose_op_builder.cc",
        level=LEVEL_2,
        ranks=(1, 4),
        types=quantized.resize_or_transpose_types,
    ),
    "Unsqueeze": Rule(source="unsqueeze_op_builder.cc", ranks=(1, 4), check=shapes.axes_13),
}
"""Operator, of any domain -> its rule: op_builder_factory.cc."""


def level_of(rule: Rule, view: View) -> int:
    """The lowest feature level that has the operator for these inputs."""
    if view.op == "Resize" and view.input(0).element != "uint8":
        return LEVEL_3
    return max(rule.level, rule.nchw_level) if view.use_nchw else rule.level
