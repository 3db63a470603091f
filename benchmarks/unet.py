"""U2NetP (arXiv:2005.09007, figure 5 with 16 and 64 channels): a segmentation net for phones."""

from typing import Any

from benchmarks.graph import Graph, convolution

SIDE = 320
"""Pixels of the square picture."""
INNER, WIDE = 16, 64
"""Channels inside a block and at its end."""
DEPTHS = (7, 6, 5, 4, 0, 0)
"""Depths of blocks on the way down: 7 is RSU-7; 0 is RSU-4F, which dilates instead of making the picture smaller."""


def u2netp() -> Any:
    """U2NetP for 320x320 with BatchNorm folded into Conv: 1.1 M parameters, 4.5 MB, seven masks."""
    from onnx import TensorProto, helper

    graph = Graph(seed=8_000_000)
    value, channels = "input", 3
    stages: list[str] = []
    for number, depth in enumerate(DEPTHS, 1):
        value = _block(graph, f"stage{number}", value, channels, depth)
        stages.append(value)
        value, channels = _smaller(graph, value) if number < len(DEPTHS) else value, WIDE
    decoded = [stages.pop()]
    for number in range(len(stages), 0, -1):
        joined = graph.add("Concat", [_larger(graph, decoded[-1]), stages[number - 1]], axis=1)
        decoded.append(_block(graph, f"stage{number}d", joined, 2 * WIDE, DEPTHS[number - 1]))
    _masks(graph, decoded[::-1])
    mask = [1, 1, SIDE, SIDE]
    return graph.model(
        "u2netp",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
        [helper.make_tensor_value_info(f"mask{number}", TensorProto.FLOAT, mask) for number in range(7)],
    )


def _masks(graph: Graph, decoded: list[str]) -> None:
    """One mask of every depth, and one of them all, in the size of the picture."""
    sides = []
    for number, value in enumerate(decoded):
        side = convolution(graph, f"side{number + 1}", value, WIDE, 1, [], kernel=3)
        for _ in range(number):
            side = _larger(graph, side)
        sides.append(side)
    together = convolution(graph, "outconv", graph.add("Concat", sides, axis=1), len(sides), 1, [])
    for number, side in enumerate([together, *sides]):
        graph.add("Sigmoid", [side], f"mask{number}")


def _block(graph: Graph, name: str, value: str, channels: int, depth: int) -> str:
    """A residual U-block: a small U-Net whose result is added to what it began with."""
    start = _layer(graph, f"{name}.in", value, channels, WIDE)
    dilations = [1] * (depth - 1) + [2] if depth else [1, 2, 4, 8]
    down = [_layer(graph, f"{name}.1", start, WIDE, INNER)]
    for number, dilation in enumerate(dilations[1:], 2):
        is_smaller = depth and number < depth
        source = _smaller(graph, down[-1]) if is_smaller else down[-1]
        down.append(_layer(graph, f"{name}.{number}", source, INNER, INNER, dilation))
    up = down.pop()
    for number in range(len(down), 0, -1):
        joined = graph.add("Concat", [up, down[number - 1]], axis=1)
        dilation = 1 if depth else dilations[number - 1]
        wide = INNER if number > 1 else WIDE
        up = _layer(graph, f"{name}.{number}d", joined, 2 * INNER, wide, dilation)
        if depth and number > 1:
            up = _larger(graph, up)
    return graph.add("Add", [up, start])


def _layer(graph: Graph, name: str, value: str, channels: int, wide: int, dilation: int = 1) -> str:
    return graph.add("Relu", [convolution(graph, name, value, channels, wide, [], kernel=3, dilation=dilation)])


def _smaller(graph: Graph, value: str) -> str:
    return graph.add("MaxPool", [value], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)


def _larger(graph: Graph, value: str) -> str:
    """Twice as high and wide."""
    import numpy as np

    if all(each.name != "twice" for each in graph.initializers):
        graph.constant("twice", np.asarray([1, 1, 2, 2], np.float32))
    return graph.add(
        "Resize", [value, "", "twice"], mode="linear", coordinate_transformation_mode="half_pixel", nearest_mode="floor"
    )
