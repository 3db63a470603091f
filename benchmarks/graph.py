"""Builds the graphs of the benchmarks, with weights that are the same bytes on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from typing import Any

OPSET, IR_VERSION = 17, 8


@dataclass
class Graph:
    """Collects nodes and initializers; a value is known by its name."""

    seed: int
    nodes: list[Any] = field(default_factory=list)
    initializers: list[Any] = field(default_factory=list)

    def add(self, op: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = output or f"/{op}_{len(self.nodes)}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"/{op}_{len(self.nodes)}", **attributes))
        return output

    def weight(self, name: str, shape: Sequence[int], limit: float, *, centre: float = 0.0) -> str:
        """Uniform float32 numbers within `limit` of `centre`; the raw bits of PCG64 are the same in every numpy."""
        import numpy as np

        count = prod(shape)
        bits = np.random.PCG64(self.seed + len(self.initializers)).random_raw((count + 1) // 2).view(np.uint32)[:count]
        values = ((bits >> 8).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)) * np.float32(
            limit
        ) + np.float32(centre)
        return self.constant(name, values.reshape(shape))

    def constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def model(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        from onnx import helper

        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="mobpack-benchmarks",
        )


def convolution(
    graph: Graph,
    name: str,
    value: str,
    channels: int,
    wide: int,
    bounds: list[str],
    *,
    kernel: int = 1,
    stride: int = 1,
    group: int = 1,
    dilation: int = 1,
) -> str:
    """Conv, and ReLU6 as exporters write it when `bounds` names its two limits."""
    fan_in = channels // group * kernel * kernel
    weights = [
        graph.weight(f"{name}.weight", (wide, channels // group, kernel, kernel), sqrt(6 / fan_in)),
        graph.weight(f"{name}.bias", (wide,), 0.01),
    ]
    pad = kernel // 2 * dilation
    value = graph.add(
        "Conv",
        [value, *weights],
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[pad] * 4,
        dilations=[dilation, dilation],
        group=group,
    )
    return graph.add("Clip", [value, *bounds]) if bounds else value
