"""Small models of every operator whose form or meaning differs between opsets 7 and 18, in the older opset."""

CASES: dict[str, str] = {}
"""name, `@` and the opset -> graph"""


def case(name: str, opsets: int | tuple[int, ...], graph: str) -> None:
    for opset in (opsets,) if isinstance(opsets, int) else opsets:
        CASES[f"{name}@{opset}"] = graph


def branches(types: str, node: str, *, around: str = "") -> str:
    """A model that computes `node`, of x, in one branch, and of the positive part of x in the other."""
    return (
        f"(float[{types}] x, bool b) => (float[{types}] y) {around} {{ y = If (b) <"
        f"then_branch = t () => (float[s] u) {{ u = {node} }}, else_branch = e () => (float[s] v) {{ p = Relu (x) "
        f"v = {node.replace('(x', '(p')} }}> }}"
    ).replace("float[s]", "float")


def resizing() -> None:
    picture, result = "(float[1, 2, 9, 10] x)", "(float[1, 2, a, b] y)"
    for mode in ("linear", "nearest"):
        for height, width in ((2, 2), (1.5, 1.5), (0.75, 0.6), (0.75, 2.5), (3, 0.3)):
            scales = f"<float[4] s = {{1, 1, {height}, {width}}}>"
            case(
                f"Resize {mode} {height} {width}",
                10,
                f'{picture} => {result} {scales} {{ y = Resize <mode="{mode}"> (x, s) }}',
            )
        made = "one = Min (h, h) s = Concat <axis = 0> (o, one, w)"
        numbers = "<float[2] o = {1, 1}, float[1] h = {0.75}, float[1] w = {2.5}>"
        case(
            f"Resize {mode} computed",
            10,
            f'{picture} => {result} {numbers} {{ {made} y = Resize <mode="{mode}"> (x, s) }}',
        )
        given = f'{picture} => {result} {{ y = Upsample <mode="{mode}", scales = [1.0, 1.0, 2.0, 2.5]> (x) }}'
        case(f"Upsample {mode}", (7, 8), given)
        taken = "<float[4] s = {1, 1, 2, 2.5}>"
        case(f"Upsample {mode}", 9, f'{picture} => {result} {taken} {{ y = Upsample <mode="{mode}"> (x, s) }}')
        for opset, operator in ((9, "Upsample"), (10, "Resize")):
            same = branches("1, 1, 4, 4", f'{operator} <mode="{mode}"> (x, s)', around="<float[4] s = {1, 1, 1, 1}>")
            case(f"{operator} {mode} in branches", opset, same.replace("{1, 1, 1, 1}", "{1, 1, 2, 3}"))
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"):
        mode = f'<mode = "linear", coordinate_transformation_mode = "{coordinates}">'
        opsets = (11,) if coordinates.startswith("tf") else (11, 13)
        empty = "<float[0] r = {}, float[4] s = {1, 1, 2, 1.5}>"
        case(f"Resize {coordinates}", opsets, f"{picture} => {result} {empty} {{ y = Resize {mode} (x, r, s) }}")


def flattening() -> None:
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        case(f"{operator} open", 11, f"(float[n, 5, m] x) => (float[n, 5, m] y) {{ y = {operator} (x) }}")
        case(f"{operator} in branches", 11, branches("2, 5, 6", f"{operator} (x)"))
        for axis in (-2, -1, 0, 1, 2):
            node = f"y = {operator} <axis = {axis}> (x)"
            opsets = (7, 11, 12) if axis >= 0 else (11,)
            case(f"{operator} {axis}", opsets, f"(float[2, 5, 6] x) => (float[2, 5, 6] y) {{ {node} }}")
        body = f"r = {operator} (s)"
        case(
            f"{operator} in Loop",
            11,
            "(float[2, 5, 6] x) => (float[2, 5, 6] y) <int64 n = {2}, bool t = {1}> { y = Loop (n, t, x) <body = b "
            f"(int64 i, bool c, float[2, 5, 6] s) => (bool d, float[2, 5, 6] r) {{ d = Identity (c) {body} }}> }}",
        )


def inputs_for_attributes() -> None:
    matrix = "(float[2, 6] x) => (float[2, 6] y)"
    for limits in ("", "<min = -0.3>", "<max = 0.5>", "<min = -0.3, max = 0.5>"):
        case(f"Clip {limits}", (7, 10), f"{matrix} {{ y = Clip {limits} (x) }}")
    case("Clip in branches", 9, branches("2, 5", "Clip <min = -0.1, max = 0.5> (x)"))
    for mode in ("constant", "reflect", "edge"):
        padded = f'y = Pad <mode = "{mode}", pads = [0, 1, 2, 0, 1, 1], value = 0.7> (x)'
        case(f"Pad {mode}", (7, 10), f"(float[2, 5, 6] x) => (float[2, 7, 9] y) {{ {padded} }}")
    pads = "<int64[4] p = {0, 1, 0, 1}, float v = {0.5}>"
    case("Pad", (11, 13), f"(float[2, 6] x) => (float[2, 8] y) {pads} {{ y = Pad (x, p, v) }}")
    cut = "y = Slice <axes = [1, 2], starts = [1, -3], ends = [4, 9223372036854775807]> (x)"
    case("Slice", (7, 9), f"(float[2, 5, 6] x) => (float[a, b, c] y) {{ {cut} }}")
    case("TopK", (7, 9), "(float[9, 2] x) => (float[3, 2] y, int64[3, 2] i) { y, i = TopK <k = 3, axis = 0> (x) }")
    case("TopK", 10, "(float[2, 9] x) => (float[2, 3] y, int64[2, 3] i) <int64[1] k = {3}> { y, i = TopK (x, k) }")
    case("Squeeze", (7, 11), "(float[1, 5, 1] x) => (float[5] y) { y = Squeeze <axes = [0, 2]> (x) }")
    case("Squeeze all", (7, 11), "(float[1, 5, 1] x) => (float[5] y) { y = Squeeze (x) }")
    case("Unsqueeze", (7, 11), "(float[5] x) => (float[1, 5, 1] y) { y = Unsqueeze <axes = [0, 2]> (x) }")
    case("Split", (7, 12), "(float[6, 4] x) => (float[1, 4] y, float[5, 4] z) { y, z = Split <split = [1, 5]> (x) }")
    case("Split evenly", (7, 13), "(float[4, 6] x) => (float[4, 3] y, float[4, 3] z) { y, z = Split <axis = 1> (x) }")
    case("Squeeze in branches", 11, branches("5", "Squeeze <axes = [0]> (x)").replace("[5] x", "[1, 5] x"))
    for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"):
        opsets = (7, 12) if name == "Sum" else (7, 12, 17)
        reduced = f"p = Exp (x) y = Reduce{name} <axes = [1], keepdims = 0> (p) z = Reduce{name} (p)"
        case(f"Reduce{name}", opsets, f"(float[3, 4, 5] x) => (float[3, 5] y, float[1, 1, 1] z) {{ {reduced} }}")


def normalizing() -> None:
    numbers = "float[3] s = {1, 2, 3}, float[3] b = {0.1, 0.2, 0.3}, float[3] m = {0, 1, 2}, float[3] v = {1, 2, 3}"
    node = "y = BatchNormalization <epsilon = 0.01> (x, s, b, m, v)"
    case("BatchNormalization", (7, 8, 9, 13, 14), f"(float[2, 3, 4] x) => (float[2, 3, 4] y) <{numbers}> {{ {node} }}")
    whole = "float[3, 2] {} = {{1, 2, 3, 4, 5, 6}}"
    each = ", ".join(whole.format(name) for name in "sbmv")
    node = "y = BatchNormalization <spatial = 0> (x, s, b, m, v)"
    case("BatchNormalization of elements", (7, 8), f"(float[2, 3, 2] x) => (float[2, 3, 2] y) <{each}> {{ {node} }}")
    case(
        "MeanVarianceNormalization",
        9,
        "(float[2, 3, 4, 5] x) => (float[2, 3, 4, 5] y) { y = MeanVarianceNormalization (x) }",
    )
    case("LRN", 7, "(float[1, 6, 4, 4] x) => (float[1, 6, 4, 4] y) { y = LRN <size = 3, alpha = 0.5> (x) }")
    dropped = "(float[2, 5] x) => (float[2, 5] y, {0}[2, 5] m) {{ y, m = Dropout <ratio = 0.4> (x) }}"
    case("Dropout", (7, 9), dropped.format("float"))
    case("Dropout", (10, 11), dropped.format("bool"))
    case("Dropout", 12, "(float[2, 5] x) => (float[2, 5] y) <float r = {0.4}> { y = Dropout (x, r) }")


def pooling() -> None:
    for operator, options in (("MaxPool", ""), ("AveragePool", ", count_include_pad = 1"), ("AveragePool", "")):
        shape = "kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]"
        pooled = (
            f"(float[1, 2, 10, 10] x) => (float[1, 2, a, b] y) {{{{ y = {operator} <{shape}{options}{{0}}> (x) }}}}"
        )
        case(f"{operator}{options}", (7, 10, 11), pooled.format(""))
        case(f"{operator}{options} upwards", (10, 11), pooled.format(", ceil_mode = 1"))
    found = "y, i = MaxPool <kernel_shape = [3, 3], storage_order = 1> (x)"
    case(
        "MaxPool indices", (8, 11), f"(float[1, 2, 9, 9] x) => (float[1, 2, 7, 7] y, int64[1, 2, 7, 7] i) {{ {found} }}"
    )
    pooled = "y = LpPool <kernel_shape = [2, 2], strides = [2, 2], p = 3> (x)"
    case("LpPool", (7, 11, 17), f"(float[1, 2, 8, 8] x) => (float[1, 2, 4, 4] y) {{ {pooled} }}")
    rois = "<float[2, 4] r = {1, 1, 7, 8, 0, 2, 9, 10}, int64[2] i = {0, 0}>"
    aligned = "y = RoiAlign <output_height = 3, output_width = 3, sampling_ratio = 2, spatial_scale = 0.8> (x, r, i)"
    case("RoiAlign", (10, 15, 16), f"(float[1, 2, 12, 12] x) => (float[2, 2, 3, 3] y) {rois} {{ {aligned} }}")


def recurrent() -> None:
    for operator, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        weights = f"float[1, {4 * gates}, 3] w, float[1, {4 * gates}, 4] r, float[1, {8 * gates}] b"
        run = f"y, h = {operator} <hidden_size = 4> (x, w, r, b)"
        case(operator, (7, 13), f"(float[7, 2, 3] x, {weights}) => (float[7, 1, 2, 4] y, float[1, 2, 4] h) {{ {run} }}")
    scanned = "y, z = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] e) => (float[4] t, float[4] o) "
    step = "{ t = Add (s, e) o = Softmax <axis = 0> (t) }> (i, x)"
    case("Scan", (9, 11), f"(float[4] i, float[3, 4] x) => (float[4] y, float[3, 4] z) {{ {scanned}{step} }}")


def choosing() -> None:
    for operator in ("ArgMax", "ArgMin"):
        case(operator, (7, 11, 12), f"(float[3, 5] x) => (int64[3, 1] y) {{ y = {operator} <axis = 1> (x) }}")
    square = "(float[3, 3] x) => (float[3, 3] y)"
    updates = "<int64[2, 3] i = {1, 0, 2, 0, 2, 1}, float[2, 3] u = {1, 2, 3, 4, 5, 6}>"
    case("Scatter", (9, 10), f"{square} {updates} {{ y = Scatter (x, i, u) }}")
    case("ScatterElements", (11, 13, 16), f"{square} {updates} {{ y = ScatterElements (x, i, u) }}")
    rows = "<int64[2, 1] i = {2, 0}, float[2, 3] u = {1, 2, 3, 4, 5, 6}>"
    case("ScatterND", (11, 13, 16), f"{square} {rows} {{ y = ScatterND (x, i, u) }}")
    case("GatherND", 11, "(float[3, 3] x) => (float[2] y) <int64[2, 2] i = {2, 0, 1, 1}> { y = GatherND (x, i) }")
    case(
        "OneHot",
        (9, 10),
        "(float[3] x) => (float[3, 5] y) <float d = {5}, float[2] v = {-1, 3}> { k = Abs (x) y = OneHot (k, d, v) }",
    )
    boxes = "(float[1, 6, 4] q, float[1, 1, 6] p) => (int64[n, 3] y) <int64 k = {3}, float t = {0.5}>"
    case("NonMaxSuppression", 10, f"{boxes} {{ y = NonMaxSuppression (q, p, k, t) }}")
    case("OptionalHasElement", 15, "(float[3] x) => (bool y) { o = Optional (x) y = OptionalHasElement (o) }")


def arithmetic() -> None:
    for operator in ("Max", "Min", "Mean", "Sum"):
        case(operator, 7, f"(float[3, 4] x, float[3, 4] w) => (float[3, 4] y) {{ y = {operator} (x, w) }}")
    case("Pow", 9, "(float[3] x) => (float[3] y) <float p = {2}> { y = Pow (x, p) }")
    case(
        "Gemm",
        (7, 9),
        "(float[2, 3] x, float[3, 4] w, float[2, 1] b) => (float[2, 4] y) { y = Gemm <beta = 0.5> (x, w, b) }",
    )
    case("PRelu", (7, 9), "(float[2, 3, 4] x, float[3, 1] w) => (float[2, 3, 4] y) { y = PRelu (x, w) }")
    case("Cast", (7, 9), "(float[4] x) => (int32[4] y) { k = Exp (x) y = Cast <to = 6> (k) }")
    case("Shape", 13, "(float[3, 4] x) => (int64[2] y) { y = Shape (x) }")
    case("Reshape", (7, 13), "(float[2, 3, 4] x) => (float[2, 12] y) <int64[2] s = {0, -1}> { y = Reshape (x, s) }")
    case(
        "DepthToSpace",
        (7, 10),
        "(float[1, 8, 3, 3] x) => (float[1, 2, 6, 6] y) { y = DepthToSpace <blocksize = 2> (x) }",
    )
    case(
        "Constant", (9, 11), "(float[2] x) => (float[2] y) { k = Constant <value = float[2] {1, 2}> () y = Add (x, k) }"
    )
    point = "<float s = {0.02}, int8 z = {3}>"
    rounded = "q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z)"
    case("QuantizeLinear", (10, 12), f"(float[2, 3] x) => (float[2, 3] y) {point} {{ {rounded} }}")
    loss = "l = LogSoftmax <axis = 1> (x) y = NegativeLogLikelihoodLoss (l, t) z = SoftmaxCrossEntropyLoss (x, t)"
    case("Losses", 12, f"(float[3, 5] x) => (float y, float z) <int64[3] t = {{1, 4, 0}}> {{ {loss} }}")


def experiments() -> None:
    """Operators that ONNX has dropped, and that ONNX Runtime computes."""
    for node in (
        "Affine <alpha = 0.4, beta = 0.3>",
        "ScaledTanh <alpha = 0.4, beta = 0.3>",
        "ParametricSoftplus <alpha = 0.4, beta = 0.3>",
    ):
        case(node, (7, 9), f"(float[2, 3] x) => (float[2, 3] y) {{ y = {node} (x) }}")
    for alpha in ("", "<alpha = 0.3>"):
        node = f"ThresholdedRelu {alpha}"
        case(node, (7, 9), f"(float[2, 3] x) => (float[2, 3] y) {{ y = {node} (x) }}")
    below = "y = ThresholdedRelu <alpha = -0.5> (x)"
    case("ThresholdedRelu below 0", 9, f"(float[2, 3] x) => (float[2, 3] y) {{ {below} }}")
    for parts, width in (("border = [1, 2, 0, 1]", 4), ("border = [1, 2, 0, 1], scale = [3, 2]", 2)):
        node = f"y = Crop <{parts}> (x)"
        case(f"Crop {parts}", (7, 9), f"(float[1, 2, 6, 5] x) => (float[1, 2, 3, {width}] y) {{ {node} }}")
    scaled = "y = ImageScaler <scale = 0.5, bias = [0.1, 0.2, 0.3]> (x)"
    case("ImageScaler", (7, 9), f"(float[1, 3, 4, 4] x) => (float[1, 3, 4, 4] y) {{ {scaled} }}")


resizing()
flattening()
inputs_for_attributes()
normalizing()
pooling()
recurrent()
choosing()
arithmetic()
experiments()
