"""Small graphs for the CoreML rules, each with the reason for which the node that makes y stays on the CPU."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

ONLY_ML = "supported in the MLProgram format only"
IMAGE = "(float[1,4,8,8] x) => (float[] y)"
ROWS = "(float[2,6] x) => (float[] y)"


@dataclass(frozen=True)
class Case:
    """A graph, and in either format the reason why CoreML leaves the node that makes y; empty if it takes the node."""

    text: str
    mlprogram: str
    neural_network: str
    opset: int
    weights: Mapping[str, tuple[int, ...]]


def case(text: str, ml: str = "", nn: str | None = None, *, opset: int = 17, **weights: tuple[int, ...]) -> Case:
    return Case(text, ml, ml if nn is None else nn, opset, weights)


TABLE = """
# every node: base_op_builder.cc, helper.cc
ROWS { y = Relu (x) }
ROWS { y = Neg (x) } | operator not supported
(float16[2,6] x) => (float16[] y) { y = Relu (x) } | taken | the input is float16, not float
(double[2,6] x) => (double[] y) { y = Relu (x) } | double, not float or float16 | double, not float
(int64[2,6] x) => (int64[] y) { y = Add (x, x) } | int64, not float or float16 | int64, not float
(float[1,1,1,1,2,6] x) { y = Relu (x) } | 'x' has rank 6
(float[1,1,1,2,6] x) { y = Relu (x) }
(float[] x) { y = Relu (x) } | shape of 'x' is unknown
(float[0,6] x) { y = Relu (x) } | must not be empty: [0, 6]
(float[N,40000] x) { y = Relu (x) }
ROWS { y = com.microsoft.Gelu (x) } | opset 1 of operator not supported, only 6 | ML only
# quantized graphs
ROWS <float s = {1}, uint8 z = {0}> { q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) } |
    DequantizeLinear: operator not supported | operator not
# activation_op_builder.cc
ROWS { y = HardSigmoid (x) }
ROWS { y = Elu (x) } | taken | ML only
ROWS { y = Softplus (x) } | taken | ML only
ROWS { y = Gelu (x) } | taken | ML only | opset=20
IMAGE { y = PRelu (x, w) } | taken | taken | w=4,1,1
IMAGE { y = PRelu (x, w) } | not [C, 1, 1] or one element | one element | w=4,8,8
ROWS { y = PRelu (x, w) } | rank 2; CoreML supports 3 or 4 | rank 2 | w=1
(float[1,1,8,8] x) { y = PRelu (x, w) } | crashes CoreML | crashes | w=1
(float[1,4,8,8] x, float[4,1,1] s) { y = PRelu (x, s) } | slope must
# quick_gelu_op_builder.cc
ROWS { y = com.microsoft.QuickGelu (x) } | taken | ML only
# clip_op_builder.cc
ROWS <float a = {0}, float b = {6}> { y = Clip (x, a, b) }
ROWS <float a = {6}> { y = Clip (x, a, a) } | min and max are both 6 | both 6
(float[2,6] x, float m) { y = Clip (x, m) } | min must be constant | min must
ROWS { y = Clip <min = 1.0, max = 1.0> (x) } | min and max are both 1 | both 1 | opset=10
# unary_op_builder.cc
ROWS { y = Sqrt (x) }
ROWS { y = Erf (x) } | taken | ML only
ROWS { y = Cos (x) } | taken | ML only
# cast_op_builder.cc, argmax_op_builder.cc
(float[2,6] x) => (int32[] y) { a = ArgMax (x) y = Cast <to = 6> (a) }
ROWS { a = ArgMax (x) y = Cast <to = 1> (a) } | taken | casts to int32 only
(int64[2,6] x) => (float[] z) { y = Cast <to = 1> (x) z = Relu (y) } | taken | no node computes its input
(bool[2,6] x) => (float[] z) { y = Cast <to = 1> (x) z = Relu (y) } | taken | bool, not int64
(uint8[2,6] x) => (float[] z) { y = Cast <to = 1> (x) z = Relu (y) } | the input is uint8 | uint8
(float[2,6] x) => (double[] y) { r = Relu (x) y = Cast <to = 11> (r) } | the output is double | float
(float[2,6] x) => (int64[] y) { y = ArgMax <select_last_index = 1> (x) } | select_last_index is set
(float[2,6] x) => (int32[] c, int64[] i) { y = ArgMax (x) c = Cast <to = 6> (y) i = Identity (y) } | taken | goes to
    a Cast to int32 and to other nodes
# binary_op_builder.cc, logical_op_builder.cc, where_op_builder.cc
ROWS { y = Div (x, x) }
ROWS { y = Add <broadcast = 1> (x, x) } | opset 6 of operator not supported, only 7 to | opset 6 | opset=6
ROWS { y = Max (x, x) } | taken | ML only
ROWS <int64[1] e = {2}> { y = Pow (x, e) } | types differ: float and int64 | differ
ROWS <float[1] e = {2}> { y = Pow (x, e) }
(bool[2] x) { a = And (x, x) y = Where (a, w, w) } | taken | ML only | w=2
(bool[2] x, int64[2] v) => (int64[] y) { y = Where (x, v, v) } | int64, not float or float16 | ML only
# conv_op_builder.cc
IMAGE { y = Conv (x, w) } | taken | taken | w=4,4,3,3
(float[1,4,9] x) { y = Conv (x, w) } | taken | taken | w=4,4,3
(float[1,4,8,8,8] x) { y = Conv (x, w) } | 3-D | 3-D | w=4,4,3,3,3
(float[1,4,8,8] x, float[4,4,3,3] v) { y = Conv (x, v) } | taken | the weight must
(float[1,4,8,8] x, float[4] b) { y = Conv (x, w, b) } | the bias must | the bias must | w=4,4,3,3
IMAGE { y = Conv <kernel_shape = [3, 3]> (x, w) } | taken | taken | w=4,4,3,3
(float[1,4,3,20000] x) { y = Conv (x, w) } | a dimension over 16384 | over 16384 | w=4,4,3,3
(float[1,4,3,16384] x) { y = Conv (x, w) } | taken | taken | w=4,4,3,3
IMAGE { y = com.microsoft.FusedConv <activation = "Relu"> (x, w) } | the output shape is unknown | ML only |
    w=4,4,3,3
IMAGE { y = com.microsoft.FusedConv <activation = "Gelu"> (x, w) } | activation 'Gelu' is not one of Relu | ML only
    | w=4,4,3,3
IMAGE { y = com.microsoft.FusedConv <activation = "Clip"> (x, w) } | Clip has 0 parameters, not 2 | ML only |
    w=4,4,3,3
(float[1,4,8,8] x) => (float[1,4,6,6] y) { y = com.microsoft.FusedConv <activation = "Relu"> (x, w) } | taken | ML
    only | w=4,4,3,3
# convtranspose_op_builder.cc
IMAGE { y = ConvTranspose <pads = [1,1,1,1]> (x, w) } | taken | ML only | w=4,4,3,3
IMAGE { y = ConvTranspose <pads = [0,0,1,1]> (x, w) } | pads differ (0, 0, 1, 1) | ML only | w=4,4,3,3
IMAGE { y = ConvTranspose <auto_pad = "SAME_UPPER"> (x, w) } | auto_pad 'SAME_UPPER' | ML only | w=4,4,3,3
IMAGE { y = ConvTranspose <pads = [0,0,0,0], strides = [2,2], output_padding = [1,1]> (x, w) } | output_padding must
    be 0 | ML only | w=4,4,3,3
# pool_op_builder.cc
IMAGE { y = MaxPool <kernel_shape = [2,2]> (x) }
IMAGE { y = AveragePool <kernel_shape = [3,3], ceil_mode = 1> (x) } | taken | ceil_mode requires
IMAGE { y = MaxPool <kernel_shape = [2,2], dilations = [2,2]> (x) } | dilations 2, 2 | dilations
IMAGE { y, i = MaxPool <kernel_shape = [2,2]> (x) } | the indices output
(float[1,4,8] x) { y = GlobalMaxPool (x) } | rank 3; CoreML pools rank 4 | rank 3
# gemm_op_builder.cc
ROWS { y = Gemm (x, w, b) } | taken | taken | w=6,3 b=3
ROWS { y = Gemm <transB = 1> (x, w, b) } | taken | taken | w=3,6 b=1,3
ROWS { y = Gemm <transA = 1> (x, w) } | transA must be 0 | transA must be 0 | w=2,3
ROWS { y = Gemm <alpha = 0.5> (x, w) } | alpha is 0.5, not 1 | alpha is 0.5 | w=6,3
ROWS { y = Gemm (x, w, b) } | C has shape [2, 3] | C has shape | w=6,3 b=2,3
(float[2,6] x, float[6,3] v) { y = Gemm (x, v) } | B must be constant | B must
(float[2,6] x, float[6,3] v) { y = MatMul (x, v) } | taken | B must be constant
(float[1,2,6] x) { y = MatMul (x, w) } | taken | ranks 3 and 2 | w=6,3
ROWS { y = MatMul (x, w) } | 1-D inputs | ranks 2 and 1 | w=6
# reduction_op_builder.cc
ROWS { y = ReduceMean <axes = [1]> (x) }
ROWS { y = ReduceMax (x) } | taken | ML only
(float[2,6] x, int64[1] a) { y = ReduceSum (x, a) } | axes must
ROWS { y = ReduceSum <noop_with_empty_axes = 1> (x) } | taken | requires the MLProgram format
# batch_norm_op_builder.cc, normalization_op_builder.cc, LRN_op_builder.cc, softmax_op_builder.cc
IMAGE { y = BatchNormalization (x, w, w, w, w) } | taken | taken | w=4
(float[1,4,8] x) { y = BatchNormalization (x, w, w, w, w) } | rank 3 | 3 | w=4
ROWS { y = LayerNormalization (x, w, w) } | taken | ML only | w=6
(float[2,6] x, float[6] s) { y = LayerNormalization (x, s) } | scale must | ML only
ROWS { y = LayerNormalization <stash_type = 16> (x, w) } | stash_type | ML only | w=6
IMAGE { y = LRN <size = 3> (x) } | the NeuralNetwork format only | taken
ROWS { y = LRN <size = 3> (x) } | NeuralNetwork format only | rank 2; CoreML supports 3 or 4
(float[N,6] x) { y = Softmax (x) }
(float[N,6] x) { y = Softmax (x) } | static shape: [N, 6] | static shape | opset=11
# reshape_op_builder.cc, squeeze_op_builder.cc, flatten_op_builder.cc
ROWS <int64[1] s = {-1}> { r = Relu (x) y = Reshape (r, s) }
(float[2,6] x, int64[1] s) { r = Relu (x) y = Reshape (r, s) } | the new shape | must be constant
(float[N,6] x) <int64[1] s = {-1}> { r = Relu (x) y = Reshape (r, s) } | the input must have a static shape: [N, 6]
    | static shape
ROWS <int64[6] s = {1,1,1,1,2,6}> { r = Relu (x) y = Reshape (r, s) } | the new shape has rank 6 | rank 6
ROWS <int64[1] a = {0}> { r = Relu (x) y = Unsqueeze (r, a) } | taken | ML only
IMAGE <int64[2] a = {0, 1}> { r = Relu (x) y = Unsqueeze (r, a) } | output rank 6 | ML only
IMAGE { r = Relu (x) y = Flatten (r) } | the NeuralNetwork format only | taken
# concat_op_builder.cc, split_op_builder.cc
IMAGE { y = Concat <axis = 1> (x, x) }
IMAGE { y = Concat <axis = 2> (x, x) } | taken | axis 2; the NeuralNetwork format
ROWS { y = Concat <axis = 1> (x, x) } | taken | rank 2; the NeuralNetwork format supports 4
ROWS <int64[2] s = {2, 4}> { y, z = Split <axis = 1> (x, s) }
ROWS { y, z, a, b = Split <axis = 1> (x) } | 6 elements do not divide into 4 equal parts | 4 equal parts | opset=13
ROWS { y, z = Split <axis = 1, num_outputs = 2> (x) } | taken | taken | opset=18
(float[2,N] x) { y, z = Split <axis = 1> (x) } | split dimension must be static | must be static
(float[2,6] x, int64[2] s) { y, z = Split <axis = 1> (x, s) } | split must
# pad_op_builder.cc
IMAGE <int64[8] p = {0,0,1,1,0,0,1,1}, float v = {0}> { y = Pad (x, p, v) }
IMAGE <int64[8] p = {0,0,1,1,0,0,1,1}> { y = Pad (x, p) } | taken | requires constant_value
IMAGE <int64[8] p = {0,1,0,0,0,0,0,0}, float v = {0}> { y = Pad (x, p, v) } | taken | pads axis 1
IMAGE <int64[8] p = {0,0,1,1,0,0,1,1}> { y = Pad <mode = "reflect"> (x, p) } | taken | mode 'reflect' is not
    constant
IMAGE <int64[8] p = {0,0,1,1,0,0,1,8}> { y = Pad <mode = "reflect"> (x, p) } | reflects 8 of 8 elements of axis 3 |
    mode 'reflect'
(float[N,4,8,8] x) <int64[8] p = {0,0,1,1,0,0,1,1}> { y = Pad <mode = "reflect"> (x, p) } | mode 'reflect' requires
    a static axis 0 | mode 'reflect'
IMAGE <int64[8] p = {0,0,1,1,0,0,1,1}> { y = Pad <mode = "edge"> (x, p) } | mode 'edge' is not constant or reflect |
    mode 'edge'
IMAGE <int64[8] p = {0,0,-1,0,0,0,0,0}, float v = {0}> { y = Pad (x, p, v) } | pads must not be negative
# tile_op_builder.cc, depthtospace_op_builder.cc, shape_op_builder.cc
ROWS <int64[2] r = {2, 1}> { h = Relu (x) y = Tile (h, r) }
(float[2,6] x, int64[2] r) { h = Relu (x) y = Tile (h, r) } | taken | repeats must
ROWS <int64[2] r = {0, 1}> { h = Relu (x) y = Tile (h, r) } | repeats must be positive: 0, 1 | 0, 1
IMAGE { y = DepthToSpace <blocksize = 2> (x) }
IMAGE { y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) } | taken | mode 'CRD' requires
(float[N,4,8,8] x) { y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) } | static shape | mode 'CRD'
(float[N,6] x) => (int64[] y) { y = Shape (x) }
(float[N,6] x) => (int64[] y) { y = Shape <start = 1> (x) } | taken | start and end require
(float[N,6] x) => (int64[] y) { y = Shape <start = 1, end = 1> (x) } | select nothing of [N, 6] | start and
# gather_op_builder.cc, gather_nd_op_builder.cc
ROWS <int64[2] i = {0, 1}> { y = Gather (x, i) }
ROWS <int64 i = {0}> { y = Gather (x, i) }
(float[N,6] x) <int64 i = {0}> { y = Gather (x, i) } | scalar indices: the input must have a static shape | scalar
(float[1,4,8,8] x, int64[1,2,3] i) { y = Gather (x, i) } | output rank 6
(int32[2,6] x) => (int32[] y) <int64[1] i = {0}> { y = Gather (x, i) } | int32, not
ROWS <int64[1,2] i = {0, -1}> { y = GatherND (x, i) } | taken | ML only
(float[2,6] x, int64[1,2] i) { y = GatherND (x, i) } | indices must be | ML only
# slice_op_builder.cc
ROWS <int64[1] s = {0}, int64[1] e = {1}> { y = Slice (x, s, e) }
ROWS <int64[1] s = {1}, int64[1] e = {1}> { y = Slice (x, s, e) } | empty slice of axis 0 | axis 0
ROWS <int64[1] s = {-1}, int64[1] e = {-99}, int64[1] a = {1}, int64[1] n = {-1}> { y = Slice (x, s, e, a, n) }
(float[N,6] x) <int64[1] s = {0}, int64[1] e = {1}> { y = Slice (x, s, e) } | static shape: [N, 6] | static shape
(float[2,6] x, int64[1] s) { y = Slice (x, s, s) } | starts must
ROWS { y = Slice <starts = [0], ends = [1]> (x) } | opset 1 of operator not supported, only 10 | only 10 | opset=9
# gridsample_op_builder.cc
IMAGE { y = GridSample (x, w) } | taken | ML only | w=1,2,2,2
IMAGE { y = GridSample <mode = "bicubic"> (x, w) } | mode 'bicubic' is not linear | ML only | w=1,2,2,2
IMAGE { y = GridSample <padding_mode = "reflection"> (x, w) } | 'reflection' requires align_corners | ML only |
    w=1,2,2,2
# What is rarer: the other reasons, in the order of the files above.
IMAGE { y = Conv <kernel_shape = [1, 1]> (x, w) } | kernel_shape [1, 1] differs | kernel_shape [1, 1] differs |
    w=4,4,3,3
IMAGE { y = com.microsoft.FusedConv <activation = "Relu"> (x, w, b, x) } | the residual input Z | ML only |
    w=4,4,3,3 b=4
(float[1,4,8,8] x, float[4,4,3,3] v) { y = ConvTranspose (x, v) } | the weight must | ML only
(float[1,4,8,8] x, float[4] b) { y = ConvTranspose <pads = [0,0,0,0]> (x, w, b) } | the bias must | ML only |
    w=4,4,3,3
(float[1,1,1,20000] x) { y = ConvTranspose <pads = [0,0,0,0]> (x, w) } | over 16384 | ML only | w=1,1,1,3
IMAGE { y = ConvTranspose <kernel_shape = [1, 1]> (x, w) } | kernel_shape | ML only | w=4,4,3,3
IMAGE { y = ConvTranspose <pads = [0,0,0,0], output_shape = [10, 10]> (x, w) } | output_shape is set | ML only |
    w=4,4,3,3
(float[1,4,8] x) { y = MaxPool <kernel_shape = [2]> (x) } | rank 3; CoreML pools rank 4
IMAGE { y = MaxPool <kernel_shape = [2,2], storage_order = 1> (x) } | storage_order must be 0
(float[1,N,8,8] x) { y = PRelu (x, w) } | third dimension from the end | third dimension from the end | w=4,1,1
(int64[2] x) => (int32[] y) { h = Abs (x) y = Cast <to = 6> (h) z = Relu (w) } | taken | not after Abs | w=1
(float[2,6] x) => (int32[] y) { a = ArgMax <select_last_index = 1> (x) y = Cast <to = 6> (a) z = Relu (x) } | taken
    | ArgMax 'a' before it is not supported
(float[1,2,1,2,6] x) <int64 i = {0}> { y = Gather (x, i) } | scalar indices with input rank 5
ROWS <int64[2,1] i = {0, 1}> { y = GatherND <batch_dims = 1> (x, i) } | batch_dims is 1, not 0 | ML only
(float[N,6] x) <int64[1,1] i = {0}> { y = GatherND (x, i) } | indexed dimensions must | ML only
ROWS <int32[2] i = {0, 1}> { y = Gather (x, i) }
(uint8[2,6] x) => (uint8[] y) <int64[1,1] i = {0}> { y = GatherND (x, i) } | the input is uint8 | ML only
(float[1,1,2,2,2] x) { y = GridSample (x, w) } | rank 5; CoreML supports 4 | ML only | w=1,2,2,2,3
(float x) <int64[1] s = {1}> { r = Relu (x) y = Reshape (r, s) } | the input must not be a scalar
(float[1,2] x) <int64[2] s = {0, 2}> { r = Relu (x) y = Reshape <allowzero = 1> (r, s) } | the new shape must not be
    empty
(float[1,6] x, int64[1] a) { r = Relu (x) y = Squeeze (r, a) } | axes must be constant
(float[6] x, int64[1] a) { r = Relu (x) y = Unsqueeze (r, a) } | axes must | ML only
ROWS { r = Relu (x) y = Unsqueeze <axes = [0]> (r) } | taken | ML only | opset=11
(float x) { r = Relu (x) y = Flatten (r) } | NeuralNetwork format only | must not be a scalar
IMAGE { y = Concat <axis = 1> (x) } | a single input
ROWS <int64[1] s = {6}> { y = Split <axis = 1> (x, s) } | a single output
ROWS <int64[2] s = {0, 6}> { y, z = Split <axis = 1> (x, s) } | outputs must not be empty
ROWS <int64[2] s = {2, 3}> { y, z = Split <axis = 1> (x, s) } | add up to 5, not 6
ROWS { y, z = Split <axis = 1, split = [2, 4]> (x) } | taken | taken | opset=11
(float[2,N] x) { y, z = Split <axis = 1, split = [2, 4]> (x) } | must be static | must be static | opset=11
ROWS { y = Split <axis = 1> (x) } | a single output | a single output | opset=13
ROWS { y = Split <axis = 1, num_outputs = 1> (x) } | a single output | a single output | opset=18
ROWS { y, z = Split <axis = 1> (x) } | neither sizes nor num_outputs | neither sizes nor num_outputs | opset=18
ROWS { y, z, a = Split <axis = 0, num_outputs = 3> (x) } | 2 elements do not split into 3 | 2 elements do not split
    into 3 | opset=18
(float[2,N] x) { y, z = Split <axis = 1, num_outputs = 2> (x) } | must be static | must be static | opset=18
(float[6] x) <int64[2] p = {1, 1}, float v = {0}> { y = Pad (x, p, v) } | taken | rank 1
(float[2,6] x, int64[4] p) <float v = {0}> { y = Pad (x, p, v) } | pads must be constant
ROWS <int64[2] p = {1, 1}, float v = {0}, int64[1] a = {-1}> { y = Pad (x, p, v, a) } | taken | taken | opset=18
(float[2,6] x, int64[1] a) <int64[2] p = {1, 1}, float v = {0}> { y = Pad (x, p, v, a) } | axes must be constant |
    axes must be constant | opset=18
(float[2,6] x, float v) <int64[4] p = {1, 1, 1, 1}> { y = Pad (x, p, v) } | constant_value
(int8[2,6] x) => (int8[] y) <int64[2] r = {2, 1}> { y = Tile (x, r) } | the input is int8
(uint8[2,6] x) => (int64[] y) { y = Shape (x) } | the input is uint8
(int64[2,6] x) => (int64[] y) { y = Shape (x) } | taken | the input is int64, not float
(float[2,6] x, float[3] c) { y = Gemm (x, w, c) } | C must be constant | C must be constant | w=6,3
(float[1,4,8,8] x, float[4] s) { y = BatchNormalization (x, w, s, w, w) } | bias must be constant | bias must be
    constant | w=4
IMAGE { y, m, v = BatchNormalization <training_mode = 1> (x, w, w, w, w) } | training outputs | training outputs |
    w=4
ROWS { y, m = LayerNormalization (x, w) } | training outputs | ML only | w=6
(float[2,6] x, float[6] b) { y = LayerNormalization (x, w, b) } | bias must | ML only | w=6
(float16[2,6] x) => (float16[] y) { y = LayerNormalization (x, w) } | types differ | ML only | w=6
ROWS <int64[2] r = {1, 1}> { y = Pow (r, x) } | types differ
(float[2] x, bool[2] c, float16[2] h) { y = Where (c, x, h) } | types differ | ML only
ROWS <float[2] n = {2, 2}> { y = Resize <mode = "linear"> (x, "", n) } | rank 2; CoreML supports
(float[0,4,8,8] x) <float[4] n = {1, 1, 2, 2}> { y = Resize <mode = "linear"> (x, "", n) } | the input must not be
    empty
IMAGE { y = Resize <mode = "linear"> (x) } | neither scales nor sizes is set
(float[1,4,N,8] x) <float[4] n = {1, 1, 2, 2}> { y = Resize <mode = "linear"> (x, "", n) } | height and width must
    be static: [1, 4, N, 8]
(float[1,4,8,8] x, float[4] n) { y = Resize <mode = "linear"> (x, "", n) } | scales must
(float[1,4,8,8] x, int64[4] n) { y = Resize <mode = "linear"> (x, "", "", n) } | sizes must
(float[1,4,N,8] x) <int64[4] n = {1, 4, 9, 9}> { y = Resize <mode = "linear"> (x, "", "", n) } | taken | the input
    must have a static shape: [1, 4, N, 8]
IMAGE <float[2] n = {2, 2}> { y = Resize <mode = "linear", axes = [2, 3], antialias = 1> (x, "", n) } | antialias is
    set | antialias is set | opset=18
IMAGE <int64[2] n = {16, 16}> { y = Resize <axes = [2, 3], mode = "linear", keep_aspect_ratio_policy = "not_larger">
    (x, "", "", n) } | keep_aspect_ratio_policy 'not_larger' is not stretch | keep_aspect_ratio_policy 'not_larger'
    is not stretch | opset=18
"""


def read(line: str) -> Case:
    """The case of a line of TABLE: graph | why MLProgram leaves it | why NeuralNetwork, if not the same | the rest."""
    graph, ml, nn, rest = ([*line.split(" | "), "", "", ""])[:4]
    text = re.sub("^(IMAGE|ROWS)", lambda found: {"IMAGE": IMAGE, "ROWS": ROWS}[found[0]], graph)
    text = text if "=>" in text else text.replace(") ", ") => (float[] y) ", 1)
    words = dict(each.split("=") for each in rest.split())
    opset = int(words.pop("opset", 17))
    ml, nn = ({"taken": "", "ML only": ONLY_ML}.get(each, each) for each in (ml, nn or ml))
    return Case(text, ml, nn, opset, {name: tuple(map(int, shape.split(","))) for name, shape in words.items()})


LINES = TABLE.replace("\n    ", " ").strip().splitlines()
CASES = [read(line) for line in LINES if not line.startswith("#")]


def resize(attributes: str, *, sizes: str = "", scales: str = "") -> str:
    numbers, inputs = (
        (f"int64[4] n = {{{sizes}}}", 'x, "", "", n') if sizes else (f"float[4] n = {{{scales}}}", 'x, "", n')
    )
    return f"{IMAGE} <{numbers}> {{ y = Resize <{attributes}> ({inputs}) }}"


NEAREST = 'mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"'
LINEAR = 'mode = "linear", coordinate_transformation_mode = "half_pixel"'

# resize_op_builder.cc
RESIZES = [
    case(resize(NEAREST, scales="1,1,2,2"), "", ""),
    case(resize(LINEAR, scales="1,1,2,2"), "", "'half_pixel' is not asymmetric"),
    case(resize(LINEAR, sizes="1,4,20,20"), "", "resizes 8 to 20; the NeuralNetwork format supports multiples only"),
    case(resize('mode = "cubic"', scales="1,1,2,2"), "mode 'cubic' is neither nearest nor linear", "mode 'cubic'"),
    case(resize('mode = "nearest"', scales="1,1,2,2"), "nearest_mode 'round_prefer_floor' is not floor", "not floor"),
    case(resize(LINEAR, scales="1,1,1.5,1.5"), "scales up by 1.5; CoreML supports whole numbers", "by 1.5"),
    case(resize(LINEAR, scales="1,1,0.5,0.5"), "", "scaling down requires the MLProgram format"),
    case(resize(LINEAR, scales="1,1,0.3,0.3"), "not 1 over a divisor of 8", "scaling down"),
    case(resize(LINEAR, scales="1,1,0.5,1"), "scales down by 1, which is not 1 over a divisor", "scaling down"),
    case(resize(LINEAR, scales="1,1,2,0.5"), "one dimension up and the other down", "one dimension up"),
    case(resize(LINEAR, scales="1,2,2,2"), "scales axis 1 by 2", "scales axis 1 by 2"),
    case(resize(LINEAR, sizes="1,8,16,16"), "resizes axis 1 from 4 to 8", "axis 1"),
    case(resize(LINEAR + ", exclude_outside = 1", scales="1,1,2,2"), "exclude_outside is set", "exclude_outside"),
    case(
        resize('mode = "linear", coordinate_transformation_mode = "asymmetric"', scales="1,1,2,2"),
        "'asymmetric' is not align_corners or half_pixel",
        "",
    ),
]
ALL_CASES = [*CASES, *RESIZES]
