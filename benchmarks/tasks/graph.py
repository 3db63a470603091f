"""Writes ONNX graphs of transformers, for trained weights that packages carry in other forms."""

from collections.abc import Sequence
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.tasks.task import Array

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
OPSET, IR_VERSION = 18, 9
FAR = -1e9
"""added to the scores of tokens that attention must not see"""
Port = tuple[str, int, Sequence[object]]
"""name, element type and shape of an input or output: numbers, and names of open sizes"""


class Graph:
    """Nodes and weights. Values are names; numbers and arrays in their place become constants."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}
        self.count = 0

    def op(self, kind: str, *inputs: object, out: str = "", **attributes: Any) -> str:
        self.count += 1
        made = out or f"{kind}_{self.count}"
        given = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.nodes.append(helper.make_node(kind, given, [made], name=f"{made}/node", **attributes))
        return made

    def choice(
        self, condition: str, then: "tuple[Graph, list[str]]", other: "tuple[Graph, list[str]]", out: list[str]
    ) -> None:
        """Outputs called `out`, of `then` where `condition` is true; both branches have this graph's weights."""
        branches = {
            key: helper.make_graph(
                graph.nodes, key, [], [helper.make_tensor_value_info(each, FLOAT, None) for each in results]
            )
            for key, (graph, results) in (("then_branch", then), ("else_branch", other))
        }
        self.nodes.append(helper.make_node("If", [condition], out, name="choice", **branches))

    def branch(self) -> "Graph":
        """An empty graph with the same weights and other names."""
        made = Graph()
        made.weights, made.count = self.weights, self.count + 100_000 * (1 + len(self.nodes))
        return made

    def constant(self, value: object) -> str:
        """Floats become float32, integers int64."""
        array = numpy.asarray(value)
        return self.weight(
            f"c_{len(self.weights)}", array.astype(numpy.float32 if array.dtype.kind == "f" else numpy.int64)
        )

    def weight(self, name: str, array: Array) -> str:
        if name not in self.weights:
            self.weights[name] = numpy_helper.from_array(numpy.ascontiguousarray(array), name)
        return name

    def linear(self, value: str, name: str, weight: Array, bias: Array | None = None) -> str:
        """`weight` is [outputs, inputs]."""
        made = self.op("MatMul", value, self.weight(f"{name}.weight", weight.T))
        return made if bias is None else self.op("Add", made, self.weight(f"{name}.bias", bias))

    def split_heads(self, value: str, count: int, size: int) -> str:
        """[1, tokens, count * size] -> [1, count, tokens, size]"""
        return self.op("Transpose", self.op("Reshape", value, [1, -1, count, size]), perm=[0, 2, 1, 3])

    def join_heads(self, value: str, width: int) -> str:
        return self.op("Reshape", self.op("Transpose", value, perm=[0, 2, 1, 3]), [1, -1, width])

    def mixed(self, query: str, key: str, value: str, size: int, bias: str = "") -> str:
        """Attention over heads of `size` numbers."""
        scores = self.op("MatMul", self.op("Mul", query, size**-0.5), self.op("Transpose", key, perm=[0, 1, 3, 2]))
        shares = self.op("Softmax", self.op("Add", scores, bias) if bias else scores, axis=-1)
        return self.op("MatMul", shares, value)

    def causal(self, new: str, total: str) -> str:
        """Bias of scores, [new, total]: of `total` tokens, the last `new` ones (int64 [1]) see none after them."""
        first = self.op("Sub", total, new)
        rows = self.op("Range", self.op("Squeeze", first, [0]), self.op("Squeeze", total, [0]), numpy.int64(1))
        columns = self.op("Range", numpy.int64(0), self.op("Squeeze", total, [0]), numpy.int64(1))
        is_after = self.op("Less", self.op("Unsqueeze", rows, [1]), self.op("Unsqueeze", columns, [0]))
        return self.op("Where", is_after, FAR, 0.0)

    def length(self, value: str, axis: int) -> str:
        """int64 [1]"""
        return self.op("Shape", value, start=axis, end=axis + 1)

    def model(self, inputs: Sequence[Port], outputs: Sequence[Port]) -> onnx.ModelProto:
        taken, given = ([_port(*each) for each in side] for side in (inputs, outputs))
        graph = helper.make_graph(self.nodes, "graph", taken, given, [*self.weights.values()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def _port(name: str, element: int, shape: Sequence[Any]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, list(shape))
