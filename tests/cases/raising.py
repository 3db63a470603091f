"""Models of old opsets compute the same in newer ones, whatever ONNX's converter makes of them."""

SCAN = (
    "(float[2, 4] i, float[2, 3, 4] x) => (float[2, 4] y) { y = Scan <num_scan_inputs = 1, body = b "
    '(float[4] s, float[4] e) => (float[4] t) { t = Add (s, e) }> ("", i, x) }'
)
"""Its first version, in opset 8."""
