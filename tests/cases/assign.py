"""A chain of convolutions, which providers take node by node."""

from pathlib import Path

from tests.cases.onnx_text import onnx_model, saved, weight

CONVOLUTIONS = """(float[1,3,16,16] x) => (float[1,4,16,16] y) {
    [first] c = Conv <pads = [1,1,1,1]> (x, w)
    r = Relu (c)
    [second] d = Conv <pads = [1,1,1,1]> (r, v)
    y = Sigmoid (d)
}"""
"""Two nodes without a name, identified by their outputs `r` and `y`."""


def convolutions(folder: Path) -> Path:
    weights = {"w": weight(4, 3, 3, 3), "v": weight(4, 4, 3, 3, seed=1)}
    return saved(folder / "model.onnx", onnx_model(CONVOLUTIONS, weights=weights))
