"""A net that mattes videos, with states of many sizes."""

from tests.cases.onnx_text import weight

MATTING = """(float[batch, 3, height, width] src, float[batch, channels, height, width] r1i,
              float[batch, channels, height, width] r2i, float[1] downsample_ratio)
    => (float[batch, 1, height, width] pha, float[batch, channels, height, width] r1o,
        float[batch, channels, height, width] r2o) {
    one = Constant <value = float[2] {1.0, 1.0}> ()
    scales = Concat <axis = 0> (one, downsample_ratio, downsample_ratio)
    small = Resize <mode = "linear"> (src, , scales)
    a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (small, w1)
    shape1 = Shape (a) p1 = Expand (r1i, shape1) r1o = Add (a, p1)
    b = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (r1o, w2)
    shape2 = Shape (b) p2 = Expand (r2i, shape2) r2o = Add (b, p2)
    two = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> ()
    up = Resize <mode = "nearest"> (r2o, , two)
    joined = Concat <axis = 1> (up, r1o) m = ReduceMean <axes = [1], keepdims = 1> (joined) pha = Sigmoid (m) }"""
"""As RobustVideoMatting is exported: states have half and a quarter of the picture's size, with the same symbols."""

MATTING_WEIGHTS = {"w1": weight(16, 3, 3, 3), "w2": weight(20, 16, 3, 3)}
