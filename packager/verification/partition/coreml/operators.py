"""Every operator that the provider supports: its formats, first version, types and rule.

Names: builders/op_builder_factory.cc. Versions, formats and trivial ones: the overrides of BaseOpBuilder in the
builder's class.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from packager.verification.partition.coreml import convolution, elementwise, indexing, layout, products, resize, types
from packager.verification.partition.coreml.candidate import Rule, none


@dataclass(frozen=True, kw_only=True)
class Operator:
    """Requirements of a builder on its nodes."""

    rule: Rule = none
    elements: Rule = types.floats
    """the builder's requirement on element types"""
    since: int = 1
    """the first operator set whose form of it is taken"""
    is_in_mlprogram: bool = True
    is_in_neural_network: bool = True
    is_trivial: bool = False
    """whether it is not worth a partition of its own"""
    takes_empty: bool = False
    """whether the rule handles inputs without elements"""


def _mlprogram(rule: Rule = none, *, elements: Rule = types.floats, since: int = 1) -> Operator:
    return Operator(rule=rule, elements=elements, since=since, is_in_neural_network=False)


def _trivial(rule: Rule = none, *, elements: Rule = types.floats, since: int = 1) -> Operator:
    return Operator(rule=rule, elements=elements, since=since, is_trivial=True)


OPERATORS: Mapping[str, Operator] = {
    # builders/impl/activation_op_builder.cc
    "Sigmoid": Operator(since=6),
    "Tanh": Operator(since=6),
    "Relu": Operator(since=6),
    "LeakyRelu": Operator(since=6),
    "HardSigmoid": Operator(since=6),
    "PRelu": Operator(since=6, rule=elementwise.prelu),
    "Gelu": _mlprogram(since=6),
    "Elu": _mlprogram(since=6),
    "Softplus": _mlprogram(),
    # builders/impl/quick_gelu_op_builder.cc, clip_op_builder.cc
    "QuickGelu": _mlprogram(),
    "Clip": Operator(rule=elementwise.clip),
    # builders/impl/unary_op_builder.cc, identity_op_builder.cc, cast_op_builder.cc
    "Sqrt": Operator(),
    "Reciprocal": Operator(),
    "Ceil": _trivial(),
    "Erf": _mlprogram(),
    "Round": _mlprogram(),
    "Exp": _mlprogram(),
    "Sin": _mlprogram(),
    "Cos": _mlprogram(),
    "Identity": _trivial(),
    "Cast": _trivial(elementwise.cast, elements=types.cast),
    # builders/impl/binary_op_builder.cc, logical_op_builder.cc, where_op_builder.cc
    "Add": Operator(since=7),
    "Sub": Operator(since=7),
    "Mul": Operator(since=7),
    "Div": Operator(since=7),
    "Pow": Operator(since=7, elements=types.same_floats),
    "Max": _mlprogram(since=7),
    "And": _mlprogram(elements=types.logical),
    "Where": _mlprogram(elements=types.where),
    # builders/impl/conv_op_builder.cc, convtranspose_op_builder.cc, pool_op_builder.cc
    "Conv": Operator(rule=convolution.conv),
    "FusedConv": _mlprogram(convolution.fused_conv),
    "ConvTranspose": _mlprogram(convolution.conv_transpose),
    "AveragePool": Operator(rule=convolution.pool),
    "MaxPool": Operator(rule=convolution.pool),
    "GlobalAveragePool": Operator(rule=convolution.global_pool),
    "GlobalMaxPool": Operator(rule=convolution.global_pool),
    # builders/impl/gemm_op_builder.cc, reduction_op_builder.cc, argmax_op_builder.cc
    "Gemm": Operator(rule=products.gemm),
    "MatMul": Operator(rule=products.matmul),
    "ReduceMean": Operator(rule=products.reduction),
    "ReduceSum": Operator(rule=products.reduction),
    "ReduceMax": _mlprogram(products.reduction),
    "ReduceMin": _mlprogram(products.reduction),
    "ReduceProd": _mlprogram(products.reduction),
    "ArgMax": Operator(rule=products.argmax),
    # builders/impl/batch_norm_op_builder.cc, normalization_op_builder.cc, LRN_op_builder.cc, softmax_op_builder.cc
    "BatchNormalization": Operator(since=7, rule=products.batch_normalization),
    "GroupNormalization": _mlprogram(products.normalization, elements=types.normalization),
    "InstanceNormalization": _mlprogram(products.normalization, elements=types.normalization),
    "LayerNormalization": _mlprogram(products.normalization, elements=types.normalization),
    "LRN": Operator(rule=products.lrn, is_in_mlprogram=False),
    "Softmax": Operator(rule=products.softmax),
    # builders/impl/reshape_op_builder.cc, squeeze_op_builder.cc, flatten_op_builder.cc, transpose_op_builder.cc
    "Reshape": _trivial(layout.reshape, since=5),
    "Squeeze": _trivial(layout.squeeze),
    "Unsqueeze": Operator(rule=layout.unsqueeze, is_trivial=True, is_in_neural_network=False),
    "Flatten": Operator(rule=layout.flatten, is_trivial=True, is_in_mlprogram=False),
    "Transpose": _trivial(),
    # builders/impl/concat_op_builder.cc, split_op_builder.cc, pad_op_builder.cc, tile_op_builder.cc and others
    "Concat": Operator(rule=layout.concat),
    "Split": Operator(rule=layout.split),
    "Pad": Operator(since=11, rule=layout.pad),
    "Tile": _trivial(layout.tile, elements=types.tile),
    "DepthToSpace": Operator(rule=layout.depth_to_space),
    "Shape": Operator(rule=layout.shape, elements=types.shape),
    # builders/impl/gather_op_builder.cc, gather_nd_op_builder.cc, slice_op_builder.cc, gridsample_op_builder.cc
    "Gather": Operator(rule=indexing.gather, elements=types.floats_or_int64),
    "GatherND": _mlprogram(indexing.gather_nd, elements=types.gather_nd),
    "Slice": Operator(since=10, rule=indexing.slice_, elements=types.floats_or_int64),
    "GridSample": _mlprogram(indexing.grid_sample),
    # builders/impl/resize_op_builder.cc
    "Resize": Operator(since=11, rule=resize.resize, takes_empty=True),
}
