"""Constants of a graph: initializers, Constant nodes, and the inputs that are not constants."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, TensorProto, ValueInfoProto


def constant_tensors(graph: "GraphProto") -> "dict[str, TensorProto]":
    """The initializers and the tensors of Constant nodes by name: some exporters write every constant as a node."""
    nodes = [node for node in graph.node if node.op_type == "Constant"]
    in_nodes = {node.output[0]: each.t for node in nodes for each in node.attribute if each.name == "value"}
    return {tensor.name: tensor for tensor in graph.initializer} | in_nodes


def fed_inputs(graph: "GraphProto") -> "list[ValueInfoProto]":
    """The inputs that callers feed: those without an initializer."""
    constants = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in constants]
