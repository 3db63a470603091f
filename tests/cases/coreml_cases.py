"""Small graphs for the CoreML rules, each with the reason for which the node that makes y stays on the CPU."""

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


CASES = [
    # every node: base_op_builder.cc, helper.cc
    case(f"{ROWS} {{ y = Relu (x) }}"),
    case(f"{ROWS} {{ y = Neg (x) }}", "operator not supported"),
    case("(float16[2,6] x) => (float16[] y) { y = Relu (x) }", "", "the input is float16, not float"),
    case("(double[2,6] x) => (double[] y) { y = Relu (x) }", "double, not float or float16", "double, not float"),
    case("(int64[2,6] x) => (int64[] y) { y = Add (x, x) }", "int64, not float or float16", "int64, not float"),
    case("(float[1,1,1,1,2,6] x) => (float[] y) { y = Relu (x) }", "'x' has rank 6"),
    case("(float[1,1,1,2,6] x) => (float[] y) { y = Relu (x) }"),
    case("(float[] x) => (float[] y) { y = Relu (x) }", "shape of 'x' is unknown"),
    case("(float[0,6] x) => (float[] y) { y = Relu (x) }", "must not be empty: [0, 6]"),
    case("(float[N,40000] x) => (float[] y) { y = Relu (x) }"),
    case(f"{ROWS} {{ y = com.microsoft.Gelu (x) }}", "opset 1 of operator not supported, only 6", ONLY_ML),
    # quantized graphs
    case(
        f"{ROWS} <float s = {{1}}, uint8 z = {{0}}> {{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }}",
        "DequantizeLinear: operator not supported",
        "operator not",
    ),
    # activation_op_builder.cc
    case(f"{ROWS} {{ y = HardSigmoid (x) }}"),
    case(f"{ROWS} {{ y = Elu (x) }}", "", ONLY_ML),
    case(f"{ROWS} {{ y = Softplus (x) }}", "", ONLY_ML),
    case(f"{ROWS} {{ y = Gelu (x) }}", "", ONLY_ML, opset=20),
    case(f"{IMAGE} {{ y = PRelu (x, w) }}", w=(4, 1, 1)),
    case(f"{IMAGE} {{ y = PRelu (x, w) }}", "not [C, 1, 1] or one element", "one element", w=(4, 8, 8)),
    case(f"{ROWS} {{ y = PRelu (x, w) }}", "rank 2; CoreML supports 3 or 4", "rank 2", w=(1,)),
    case("(float[1,1,8,8] x) => (float[] y) { y = PRelu (x, w) }", "crashes CoreML", "crashes", w=(1,)),
    case("(float[1,4,8,8] x, float[4,1,1] s) => (float[] y) { y = PRelu (x, s) }", "slope must"),
    # quick_gelu_op_builder.cc
    case(f"{ROWS} {{ y = com.microsoft.QuickGelu (x) }}", "", ONLY_ML),
    # clip_op_builder.cc
    case(f"{ROWS} <float a = {{0}}, float b = {{6}}> {{ y = Clip (x, a, b) }}"),
    case(f"{ROWS} <float a = {{6}}> {{ y = Clip (x, a, a) }}", "min and max are both 6", "both 6"),
    case("(float[2,6] x, float m) => (float[] y) { y = Clip (x, m) }", "min must be constant", "min must"),
    case(f"{ROWS} {{ y = Clip <min = 1.0, max = 1.0> (x) }}", "min and max are both 1", "both 1", opset=10),
    # unary_op_builder.cc
    case(f"{ROWS} {{ y = Sqrt (x) }}"),
    case(f"{ROWS} {{ y = Erf (x) }}", "", ONLY_ML),
    case(f"{ROWS} {{ y = Cos (x) }}", "", ONLY_ML),
    # cast_op_builder.cc, argmax_op_builder.cc
    case("(float[2,6] x) => (int32[] y) { a = ArgMax (x) y = Cast <to = 6> (a) }"),
    case("(float[2,6] x) => (float[] y) { a = ArgMax (x) y = Cast <to = 1> (a) }", "", "casts to int32 only"),
    case("(int64[2,6] x) => (float[] z) { y = Cast <to = 1> (x) z = Relu (y) }", "", "no node computes its input"),
    case("(bool[2,6] x) => (float[] z) { y = Cast <to = 1> (x) z = Relu (y) }", "", "bool, not int64"),
    case("(uint8[2,6] x) => (float[] z) { y = Cast <to = 1> (x) z = Relu (y) }", "the input is uint8", "uint8"),
    case("(float[2,6] x) => (double[] y) { r = Relu (x) y = Cast <to = 11> (r) }", "the output is double", "float"),
    case("(float[2,6] x) => (int64[] y) { y = ArgMax <select_last_index = 1> (x) }", "select_last_index is set"),
    case(
        "(float[2,6] x) => (int32[] c, int64[] i) { y = ArgMax (x) c = Cast <to = 6> (y) i = Identity (y) }",
        "",
        "goes to a Cast to int32 and to other nodes",
    ),
    # binary_op_builder.cc, logical_op_builder.cc, where_op_builder.cc
    case(f"{ROWS} {{ y = Div (x, x) }}"),
    case(
        f"{ROWS} {{ y = Add <broadcast = 1> (x, x) }}",
        "opset 6 of operator not supported, only 7 to",
        "opset 6",
        opset=6,
    ),
    case(f"{ROWS} {{ y = Max (x, x) }}", "", ONLY_ML),
    case(f"{ROWS} <int64[1] e = {{2}}> {{ y = Pow (x, e) }}", "types differ: float and int64", "differ"),
    case(f"{ROWS} <float[1] e = {{2}}> {{ y = Pow (x, e) }}"),
    case("(bool[2] x) => (float[] y) { a = And (x, x) y = Where (a, w, w) }", "", ONLY_ML, w=(2,)),
    case("(bool[2] x, int64[2] v) => (int64[] y) { y = Where (x, v, v) }", "int64, not float or float16", ONLY_ML),
    # conv_op_builder.cc
    case(f"{IMAGE} {{ y = Conv (x, w) }}", w=(4, 4, 3, 3)),
    case("(float[1,4,9] x) => (float[] y) { y = Conv (x, w) }", w=(4, 4, 3)),
    case("(float[1,4,8,8,8] x) => (float[] y) { y = Conv (x, w) }", "3-D", w=(4, 4, 3, 3, 3)),
    case("(float[1,4,8,8] x, float[4,4,3,3] v) => (float[] y) { y = Conv (x, v) }", "", "the weight must"),
    case(
        "(float[1,4,8,8] x, float[4] b) => (float[] y) { y = Conv (x, w, b) }",
        "the bias must",
        "the bias must",
        w=(4, 4, 3, 3),
    ),
    case(f"{IMAGE} {{ y = Conv <kernel_shape = [3, 3]> (x, w) }}", w=(4, 4, 3, 3)),
    case(
        "(float[1,4,3,20000] x) => (float[] y) { y = Conv (x, w) }",
        "a dimension over 16384",
        "over 16384",
        w=(4, 4, 3, 3),
    ),
    case("(float[1,4,3,16384] x) => (float[] y) { y = Conv (x, w) }", w=(4, 4, 3, 3)),
    case(
        f'{IMAGE} {{ y = com.microsoft.FusedConv <activation = "Relu"> (x, w) }}',
        "the output shape is unknown",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    case(
        f'{IMAGE} {{ y = com.microsoft.FusedConv <activation = "Gelu"> (x, w) }}',
        "activation 'Gelu' is not one of Relu",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    case(
        f'{IMAGE} {{ y = com.microsoft.FusedConv <activation = "Clip"> (x, w) }}',
        "Clip has 0 parameters, not 2",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    case(
        '(float[1,4,8,8] x) => (float[1,4,6,6] y) { y = com.microsoft.FusedConv <activation = "Relu"> (x, w) }',
        "",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    # convtranspose_op_builder.cc
    case(f"{IMAGE} {{ y = ConvTranspose <pads = [1,1,1,1]> (x, w) }}", "", ONLY_ML, w=(4, 4, 3, 3)),
    case(
        f"{IMAGE} {{ y = ConvTranspose <pads = [0,0,1,1]> (x, w) }}",
        "pads differ (0, 0, 1, 1)",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    case(
        f'{IMAGE} {{ y = ConvTranspose <auto_pad = "SAME_UPPER"> (x, w) }}',
        "auto_pad 'SAME_UPPER'",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    case(
        f"{IMAGE} {{ y = ConvTranspose <pads = [0,0,0,0], strides = [2,2], output_padding = [1,1]> (x, w) }}",
        "output_padding must be 0",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    # pool_op_builder.cc
    case(f"{IMAGE} {{ y = MaxPool <kernel_shape = [2,2]> (x) }}"),
    case(f"{IMAGE} {{ y = AveragePool <kernel_shape = [3,3], ceil_mode = 1> (x) }}", "", "ceil_mode requires"),
    case(f"{IMAGE} {{ y = MaxPool <kernel_shape = [2,2], dilations = [2,2]> (x) }}", "dilations 2, 2", "dilations"),
    case(f"{IMAGE} {{ y, i = MaxPool <kernel_shape = [2,2]> (x) }}", "the indices output"),
    case("(float[1,4,8] x) => (float[] y) { y = GlobalMaxPool (x) }", "rank 3; CoreML pools rank 4", "rank 3"),
    # gemm_op_builder.cc
    case(f"{ROWS} {{ y = Gemm (x, w, b) }}", w=(6, 3), b=(3,)),
    case(f"{ROWS} {{ y = Gemm <transB = 1> (x, w, b) }}", w=(3, 6), b=(1, 3)),
    case(f"{ROWS} {{ y = Gemm <transA = 1> (x, w) }}", "transA must be 0", w=(2, 3)),
    case(f"{ROWS} {{ y = Gemm <alpha = 0.5> (x, w) }}", "alpha is 0.5, not 1", "alpha is 0.5", w=(6, 3)),
    case(f"{ROWS} {{ y = Gemm (x, w, b) }}", "C has shape [2, 3]", "C has shape", w=(6, 3), b=(2, 3)),
    case("(float[2,6] x, float[6,3] v) => (float[] y) { y = Gemm (x, v) }", "B must be constant", "B must"),
    case("(float[2,6] x, float[6,3] v) => (float[] y) { y = MatMul (x, v) }", "", "B must be constant"),
    case("(float[1,2,6] x) => (float[] y) { y = MatMul (x, w) }", "", "ranks 3 and 2", w=(6, 3)),
    case(f"{ROWS} {{ y = MatMul (x, w) }}", "1-D inputs", "ranks 2 and 1", w=(6,)),
    # reduction_op_builder.cc
    case(f"{ROWS} {{ y = ReduceMean <axes = [1]> (x) }}"),
    case(f"{ROWS} {{ y = ReduceMax (x) }}", "", ONLY_ML),
    case("(float[2,6] x, int64[1] a) => (float[] y) { y = ReduceSum (x, a) }", "axes must"),
    case(f"{ROWS} {{ y = ReduceSum <noop_with_empty_axes = 1> (x) }}", "", "requires the MLProgram format"),
    # batch_norm_op_builder.cc, normalization_op_builder.cc, LRN_op_builder.cc, softmax_op_builder.cc
    case(f"{IMAGE} {{ y = BatchNormalization (x, w, w, w, w) }}", w=(4,)),
    case("(float[1,4,8] x) => (float[] y) { y = BatchNormalization (x, w, w, w, w) }", "rank 3", "3", w=(4,)),
    case(f"{ROWS} {{ y = LayerNormalization (x, w, w) }}", "", ONLY_ML, w=(6,)),
    case("(float[2,6] x, float[6] s) => (float[] y) { y = LayerNormalization (x, s) }", "scale must", ONLY_ML),
    case(f"{ROWS} {{ y = LayerNormalization <stash_type = 16> (x, w) }}", "stash_type", ONLY_ML, w=(6,)),
    case(f"{IMAGE} {{ y = LRN <size = 3> (x) }}", "the NeuralNetwork format only", ""),
    case(f"{ROWS} {{ y = LRN <size = 3> (x) }}", "NeuralNetwork format only", "rank 2; CoreML supports 3 or 4"),
    case("(float[N,6] x) => (float[] y) { y = Softmax (x) }"),
    case("(float[N,6] x) => (float[] y) { y = Softmax (x) }", "static shape: [N, 6]", "static shape", opset=11),
    # reshape_op_builder.cc, squeeze_op_builder.cc, flatten_op_builder.cc
    case(f"{ROWS} <int64[1] s = {{-1}}> {{ r = Relu (x) y = Reshape (r, s) }}"),
    case(
        "(float[2,6] x, int64[1] s) => (float[] y) { r = Relu (x) y = Reshape (r, s) }",
        "the new shape",
        "must be constant",
    ),
    case(
        "(float[N,6] x) => (float[] y) <int64[1] s = {-1}> { r = Relu (x) y = Reshape (r, s) }",
        "the input must have a static shape: [N, 6]",
        "static shape",
    ),
    case(
        f"{ROWS} <int64[6] s = {{1,1,1,1,2,6}}> {{ r = Relu (x) y = Reshape (r, s) }}",
        "the new shape has rank 6",
        "rank 6",
    ),
    case(f"{ROWS} <int64[1] a = {{0}}> {{ r = Relu (x) y = Unsqueeze (r, a) }}", "", ONLY_ML),
    case(
        "(float[1,4,8,8] x) => (float[] y) <int64[2] a = {0, 1}> { r = Relu (x) y = Unsqueeze (r, a) }",
        "output rank 6",
        ONLY_ML,
    ),
    case(f"{IMAGE} {{ r = Relu (x) y = Flatten (r) }}", "the NeuralNetwork format only", ""),
    # concat_op_builder.cc, split_op_builder.cc
    case(f"{IMAGE} {{ y = Concat <axis = 1> (x, x) }}"),
    case(f"{IMAGE} {{ y = Concat <axis = 2> (x, x) }}", "", "axis 2; the NeuralNetwork format"),
    case(f"{ROWS} {{ y = Concat <axis = 1> (x, x) }}", "", "rank 2; the NeuralNetwork format supports 4"),
    case(f"{ROWS} <int64[2] s = {{2, 4}}> {{ y, z = Split <axis = 1> (x, s) }}"),
    case(
        f"{ROWS} {{ y, z, a, b = Split <axis = 1> (x) }}",
        "6 elements do not divide into 4 equal parts",
        "4 equal parts",
        opset=13,
    ),
    case(f"{ROWS} {{ y, z = Split <axis = 1, num_outputs = 2> (x) }}", opset=18),
    case(
        "(float[2,N] x) => (float[] y) { y, z = Split <axis = 1> (x) }",
        "split dimension must be static",
        "must be static",
    ),
    case("(float[2,6] x, int64[2] s) => (float[] y) { y, z = Split <axis = 1> (x, s) }", "split must", "split must"),
    # pad_op_builder.cc
    case(f"{IMAGE} <int64[8] p = {{0,0,1,1,0,0,1,1}}, float v = {{0}}> {{ y = Pad (x, p, v) }}"),
    case(f"{IMAGE} <int64[8] p = {{0,0,1,1,0,0,1,1}}> {{ y = Pad (x, p) }}", "", "requires constant_value"),
    case(f"{IMAGE} <int64[8] p = {{0,1,0,0,0,0,0,0}}, float v = {{0}}> {{ y = Pad (x, p, v) }}", "", "pads axis 1"),
    case(
        f'{IMAGE} <int64[8] p = {{0,0,1,1,0,0,1,1}}> {{ y = Pad <mode = "reflect"> (x, p) }}',
        "",
        "mode 'reflect' is not constant",
    ),
    case(
        f'{IMAGE} <int64[8] p = {{0,0,1,1,0,0,1,8}}> {{ y = Pad <mode = "reflect"> (x, p) }}',
        "reflects 8 of 8 elements of axis 3",
        "mode 'reflect'",
    ),
    case(
        '(float[N,4,8,8] x) => (float[] y) <int64[8] p = {0,0,1,1,0,0,1,1}> { y = Pad <mode = "reflect"> (x, p) }',
        "mode 'reflect' requires a static axis 0",
        "mode 'reflect'",
    ),
    case(
        f'{IMAGE} <int64[8] p = {{0,0,1,1,0,0,1,1}}> {{ y = Pad <mode = "edge"> (x, p) }}',
        "mode 'edge' is not constant or reflect",
        "mode 'edge'",
    ),
    case(
        f"{IMAGE} <int64[8] p = {{0,0,-1,0,0,0,0,0}}, float v = {{0}}> {{ y = Pad (x, p, v) }}",
        "pads must not be negative",
    ),
    # tile_op_builder.cc, depthtospace_op_builder.cc, shape_op_builder.cc
    case(f"{ROWS} <int64[2] r = {{2, 1}}> {{ h = Relu (x) y = Tile (h, r) }}"),
    case("(float[2,6] x, int64[2] r) => (float[] y) { h = Relu (x) y = Tile (h, r) }", "", "repeats must"),
    case(
        f"{ROWS} <int64[2] r = {{0, 1}}> {{ h = Relu (x) y = Tile (h, r) }}", "repeats must be positive: 0, 1", "0, 1"
    ),
    case(f"{IMAGE} {{ y = DepthToSpace <blocksize = 2> (x) }}"),
    case(f'{IMAGE} {{ y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }}', "", "mode 'CRD' requires"),
    case(
        '(float[N,4,8,8] x) => (float[] y) { y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }',
        "static shape",
        "mode 'CRD'",
    ),
    case("(float[N,6] x) => (int64[] y) { y = Shape (x) }"),
    case("(float[N,6] x) => (int64[] y) { y = Shape <start = 1> (x) }", "", "start and end require"),
    case(
        "(float[N,6] x) => (int64[] y) { y = Shape <start = 1, end = 1> (x) }", "select nothing of [N, 6]", "start and"
    ),
    # gather_op_builder.cc, gather_nd_op_builder.cc
    case(f"{ROWS} <int64[2] i = {{0, 1}}> {{ y = Gather (x, i) }}"),
    case(f"{ROWS} <int64 i = {{0}}> {{ y = Gather (x, i) }}"),
    case(
        "(float[N,6] x) => (float[] y) <int64 i = {0}> { y = Gather (x, i) }",
        "scalar indices: the input must have a static shape",
        "scalar",
    ),
    case("(float[1,4,8,8] x, int64[1,2,3] i) => (float[] y) { y = Gather (x, i) }", "output rank 6"),
    case("(int32[2,6] x) => (int32[] y) <int64[1] i = {0}> { y = Gather (x, i) }", "int32, not"),
    case(f"{ROWS} <int64[1,2] i = {{0, -1}}> {{ y = GatherND (x, i) }}", "", ONLY_ML),
    case("(float[2,6] x, int64[1,2] i) => (float[] y) { y = GatherND (x, i) }", "indices must be", ONLY_ML),
    # slice_op_builder.cc
    case(f"{ROWS} <int64[1] s = {{0}}, int64[1] e = {{1}}> {{ y = Slice (x, s, e) }}"),
    case(
        f"{ROWS} <int64[1] s = {{1}}, int64[1] e = {{1}}> {{ y = Slice (x, s, e) }}", "empty slice of axis 0", "axis 0"
    ),
    case(
        f"{ROWS} <int64[1] s = {{-1}}, int64[1] e = {{-99}}, int64[1] a = {{1}}, int64[1] n = {{-1}}>"
        " { y = Slice (x, s, e, a, n) }"
    ),
    case(
        "(float[N,6] x) => (float[] y) <int64[1] s = {0}, int64[1] e = {1}> { y = Slice (x, s, e) }",
        "static shape: [N, 6]",
        "static shape",
    ),
    case("(float[2,6] x, int64[1] s) => (float[] y) { y = Slice (x, s, s) }", "starts must"),
    case(
        f"{ROWS} {{ y = Slice <starts = [0], ends = [1]> (x) }}",
        "opset 1 of operator not supported, only 10",
        "only 10",
        opset=9,
    ),
    # gridsample_op_builder.cc
    case(f"{IMAGE} {{ y = GridSample (x, w) }}", "", ONLY_ML, w=(1, 2, 2, 2)),
    case(
        f'{IMAGE} {{ y = GridSample <mode = "bicubic"> (x, w) }}',
        "mode 'bicubic' is not linear",
        ONLY_ML,
        w=(1, 2, 2, 2),
    ),
    case(
        f'{IMAGE} {{ y = GridSample <padding_mode = "reflection"> (x, w) }}',
        "'reflection' requires align_corners",
        ONLY_ML,
        w=(1, 2, 2, 2),
    ),
]


# What is rarer: the other reasons, in the order of the files above.
RARE = [
    case(f"{IMAGE} {{ y = Conv <kernel_shape = [1, 1]> (x, w) }}", "kernel_shape [1, 1] differs", w=(4, 4, 3, 3)),
    case(
        f'{IMAGE} {{ y = com.microsoft.FusedConv <activation = "Relu"> (x, w, b, x) }}',
        "the residual input Z",
        ONLY_ML,
        w=(4, 4, 3, 3),
        b=(4,),
    ),
    case(
        "(float[1,4,8,8] x, float[4,4,3,3] v) => (float[] y) { y = ConvTranspose (x, v) }", "the weight must", ONLY_ML
    ),
    case(
        "(float[1,4,8,8] x, float[4] b) => (float[] y) { y = ConvTranspose <pads = [0,0,0,0]> (x, w, b) }",
        "the bias must",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    case(
        "(float[1,1,1,20000] x) => (float[] y) { y = ConvTranspose <pads = [0,0,0,0]> (x, w) }",
        "over 16384",
        ONLY_ML,
        w=(1, 1, 1, 3),
    ),
    case(f"{IMAGE} {{ y = ConvTranspose <kernel_shape = [1, 1]> (x, w) }}", "kernel_shape", ONLY_ML, w=(4, 4, 3, 3)),
    case(
        f"{IMAGE} {{ y = ConvTranspose <pads = [0,0,0,0], output_shape = [10, 10]> (x, w) }}",
        "output_shape is set",
        ONLY_ML,
        w=(4, 4, 3, 3),
    ),
    case("(float[1,4,8] x) => (float[] y) { y = MaxPool <kernel_shape = [2]> (x) }", "rank 3; CoreML pools rank 4"),
    case(f"{IMAGE} {{ y = MaxPool <kernel_shape = [2,2], storage_order = 1> (x) }}", "storage_order must be 0"),
    case("(float[1,N,8,8] x) => (float[] y) { y = PRelu (x, w) }", "third dimension from the end", w=(4, 1, 1)),
    case("(int64[2] x) => (int32[] y) { h = Abs (x) y = Cast <to = 6> (h) z = Relu (w) }", "", "not after Abs", w=(1,)),
    case(
        "(float[2,6] x) => (int32[] y) { a = ArgMax <select_last_index = 1> (x) y = Cast <to = 6> (a) z = Relu (x) }",
        "",
        "ArgMax 'a' before it is not supported",
    ),
    case(
        "(float[1,2,1,2,6] x) => (float[] y) <int64 i = {0}> { y = Gather (x, i) }", "scalar indices with input rank 5"
    ),
    case(
        f"{ROWS} <int64[2,1] i = {{0, 1}}> {{ y = GatherND <batch_dims = 1> (x, i) }}",
        "batch_dims is 1, not 0",
        ONLY_ML,
    ),
    case(
        "(float[N,6] x) => (float[] y) <int64[1,1] i = {0}> { y = GatherND (x, i) }", "indexed dimensions must", ONLY_ML
    ),
    case("(float[2,6] x) => (float[] y) <int32[2] i = {0, 1}> { y = Gather (x, i) }"),
    case("(uint8[2,6] x) => (uint8[] y) <int64[1,1] i = {0}> { y = GatherND (x, i) }", "the input is uint8", ONLY_ML),
    case(
        "(float[1,1,2,2,2] x) => (float[] y) { y = GridSample (x, w) }",
        "rank 5; CoreML supports 4",
        ONLY_ML,
        w=(1, 2, 2, 2, 3),
    ),
    case(
        "(float x) => (float[] y) <int64[1] s = {1}> { r = Relu (x) y = Reshape (r, s) }",
        "the input must not be a scalar",
    ),
    case(
        "(float[1,2] x) => (float[] y) <int64[2] s = {0, 2}> { r = Relu (x) y = Reshape <allowzero = 1> (r, s) }",
        "the new shape must not be empty",
    ),
    case("(float[1,6] x, int64[1] a) => (float[] y) { r = Relu (x) y = Squeeze (r, a) }", "axes must be constant"),
    case("(float[6] x, int64[1] a) => (float[] y) { r = Relu (x) y = Unsqueeze (r, a) }", "axes must", ONLY_ML),
    case(f"{ROWS} {{ r = Relu (x) y = Unsqueeze <axes = [0]> (r) }}", "", ONLY_ML, opset=11),
    case(
        "(float x) => (float[] y) { r = Relu (x) y = Flatten (r) }", "NeuralNetwork format only", "must not be a scalar"
    ),
    case(f"{IMAGE} {{ y = Concat <axis = 1> (x) }}", "a single input"),
    case(f"{ROWS} <int64[1] s = {{6}}> {{ y = Split <axis = 1> (x, s) }}", "a single output"),
    case(f"{ROWS} <int64[2] s = {{0, 6}}> {{ y, z = Split <axis = 1> (x, s) }}", "outputs must not be empty"),
    case(f"{ROWS} <int64[2] s = {{2, 3}}> {{ y, z = Split <axis = 1> (x, s) }}", "add up to 5, not 6"),
    case(f"{ROWS} {{ y, z = Split <axis = 1, split = [2, 4]> (x) }}", opset=11),
    case("(float[2,N] x) => (float[] y) { y, z = Split <axis = 1, split = [2, 4]> (x) }", "must be static", opset=11),
    case(f"{ROWS} {{ y = Split <axis = 1> (x) }}", "a single output", opset=13),
    case(f"{ROWS} {{ y = Split <axis = 1, num_outputs = 1> (x) }}", "a single output", opset=18),
    case(f"{ROWS} {{ y, z = Split <axis = 1> (x) }}", "neither sizes nor num_outputs", opset=18),
    case(f"{ROWS} {{ y, z, a = Split <axis = 0, num_outputs = 3> (x) }}", "2 elements do not split into 3", opset=18),
    case("(float[2,N] x) => (float[] y) { y, z = Split <axis = 1, num_outputs = 2> (x) }", "must be static", opset=18),
    case("(float[6] x) => (float[] y) <int64[2] p = {1, 1}, float v = {0}> { y = Pad (x, p, v) }", "", "rank 1"),
    case("(float[2,6] x, int64[4] p) => (float[] y) <float v = {0}> { y = Pad (x, p, v) }", "pads must be constant"),
    case(f"{ROWS} <int64[2] p = {{1, 1}}, float v = {{0}}, int64[1] a = {{-1}}> {{ y = Pad (x, p, v, a) }}", opset=18),
    case(
        "(float[2,6] x, int64[1] a) => (float[] y) <int64[2] p = {1, 1}, float v = {0}> { y = Pad (x, p, v, a) }",
        "axes must be constant",
        opset=18,
    ),
    case("(float[2,6] x, float v) => (float[] y) <int64[4] p = {1, 1, 1, 1}> { y = Pad (x, p, v) }", "constant_value"),
    case("(int8[2,6] x) => (int8[] y) <int64[2] r = {2, 1}> { y = Tile (x, r) }", "the input is int8"),
    case("(uint8[2,6] x) => (int64[] y) { y = Shape (x) }", "the input is uint8"),
    case("(int64[2,6] x) => (int64[] y) { y = Shape (x) }", "", "the input is int64, not float"),
    case("(float[2,6] x, float[3] c) => (float[] y) { y = Gemm (x, w, c) }", "C must be constant", w=(6, 3)),
    case(
        "(float[1,4,8,8] x, float[4] s) => (float[] y) { y = BatchNormalization (x, w, s, w, w) }",
        "bias must be constant",
        w=(4,),
    ),
    case(f"{IMAGE} {{ y, m, v = BatchNormalization <training_mode = 1> (x, w, w, w, w) }}", "training outputs", w=(4,)),
    case(f"{ROWS} {{ y, m = LayerNormalization (x, w) }}", "training outputs", ONLY_ML, w=(6,)),
    case(
        "(float[2,6] x, float[6] b) => (float[] y) { y = LayerNormalization (x, w, b) }", "bias must", ONLY_ML, w=(6,)
    ),
    case("(float16[2,6] x) => (float16[] y) { y = LayerNormalization (x, w) }", "types differ", ONLY_ML, w=(6,)),
    case("(float[2,6] x) => (float[] y) <int64[2] r = {1, 1}> { y = Pow (r, x) }", "types differ"),
    case("(float[2] x, bool[2] c, float16[2] h) => (float[] y) { y = Where (c, x, h) }", "types differ", ONLY_ML),
    case(f'{ROWS} <float[2] n = {{2, 2}}> {{ y = Resize <mode = "linear"> (x, "", n) }}', "rank 2; CoreML supports"),
    case(
        '(float[0,4,8,8] x) => (float[] y) <float[4] n = {1, 1, 2, 2}> { y = Resize <mode = "linear"> (x, "", n) }',
        "the input must not be empty",
    ),
    case(f'{IMAGE} {{ y = Resize <mode = "linear"> (x) }}', "neither scales nor sizes is set"),
    case(
        '(float[1,4,N,8] x) => (float[] y) <float[4] n = {1, 1, 2, 2}> { y = Resize <mode = "linear"> (x, "", n) }',
        "height and width must be static: [1, 4, N, 8]",
    ),
    case('(float[1,4,8,8] x, float[4] n) => (float[] y) { y = Resize <mode = "linear"> (x, "", n) }', "scales must"),
    case('(float[1,4,8,8] x, int64[4] n) => (float[] y) { y = Resize <mode = "linear"> (x, "", "", n) }', "sizes must"),
    case(
        '(float[1,4,N,8] x) => (float[] y) <int64[4] n = {1, 4, 9, 9}> { y = Resize <mode = "linear"> (x, "", "", n) }',
        "",
        "the input must have a static shape: [1, 4, N, 8]",
    ),
    case(
        f'{IMAGE} <float[2] n = {{2, 2}}> {{ y = Resize <mode = "linear", axes = [2, 3], antialias = 1> (x, "", n) }}',
        "antialias is set",
        opset=18,
    ),
    case(
        f'{IMAGE} <int64[2] n = {{16, 16}}> {{ y = Resize <axes = [2, 3], mode = "linear",'
        ' keep_aspect_ratio_policy = "not_larger"> (x, "", "", n) }',
        "keep_aspect_ratio_policy 'not_larger' is not stretch",
        opset=18,
    ),
]


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
ALL_CASES = [*CASES, *RARE, *RESIZES]
