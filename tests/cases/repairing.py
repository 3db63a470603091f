"""Models that ONNX's checker refuses and ONNX Runtime runs: they are repaired where that can mean one thing only."""

import onnx

from tests.cases.onnx_text import onnx_model, weight

NET = "(float[n, 8] x) => (float[n, 40] y) { h = MatMul (x, w) y = Relu (h) }"


def net(graph: str = NET, **opsets: int) -> onnx.ModelProto:
    return onnx_model(
        graph,
        weights={"w": weight(8, 40)},
        opsets={name.replace("_", "."): each for name, each in opsets.items()} or {"": 17},
    )
