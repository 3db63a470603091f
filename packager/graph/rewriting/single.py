"""Computes what a contract adds to a model in 32-bit floats, for runtimes without 64-bit ones.

Contracts count pixels, samples and places in integers, which stay as they are. 64 bits are for what is not whole:
samples, filters, the corners of boxes, the shares of neighbouring pixels. In 32 bits they are as exact as the model
itself, as long as a processor computes them: a graphics processor divides, and finds sines, with fewer bits. The names
of those nodes are given, so that they can be left to it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packager.core.contract import ADDED
from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import AttributeProto, ModelProto, NodeProto

OTHER_RESULTS = frozenset({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "IsNaN", "Shape", "ArgMax"})
"""operators whose results are not of the type of what they are given"""


def narrow(model: "ModelProto") -> None:
    """Replaces the 64-bit floats of all nodes and constants that a contract has added, in place."""
    import numpy
    from onnx import TensorProto, numpy_helper

    for node in traversal.all_nodes(model):
        if _widens(node):
            _target(node).i = TensorProto.FLOAT
    for graph in traversal.all_graphs(model):
        for tensor in graph.initializer:
            if _is_double(tensor.data_type) and tensor.name.startswith(ADDED):
                narrowed = numpy_helper.to_array(tensor).astype(numpy.float32)
                tensor.CopyFrom(numpy_helper.from_array(narrowed, tensor.name))
        for value in (*graph.input, *graph.output, *graph.value_info):
            described = value.type.tensor_type
            if _is_double(described.elem_type) and value.name.startswith(ADDED):
                described.elem_type = TensorProto.FLOAT


def wide_nodes(model: "ModelProto") -> Iterator[str]:
    """Names of the nodes that a contract has added and that take or make 64-bit floats, in order."""
    wide = {
        tensor.name
        for graph in traversal.all_graphs(model)
        for tensor in graph.initializer
        if _is_double(tensor.data_type) and tensor.name.startswith(ADDED)
    }
    for node in traversal.all_nodes(model):
        if not node.name.startswith(ADDED):
            continue
        takes = not wide.isdisjoint(node.input)
        if takes or _widens(node):
            yield node.name
        if _widens(node) or (takes and node.op_type not in OTHER_RESULTS and node.op_type != "Cast"):
            wide.update(node.output[:1])  # the second one of TopK are places


def _widens(node: "NodeProto") -> bool:
    """Whether it converts to 64-bit floats that the model itself does not take."""
    is_cast = node.op_type == "Cast" and node.name.startswith(ADDED)
    return is_cast and _is_double(_target(node).i) and node.output[0].startswith(ADDED)


def _target(cast: "NodeProto") -> "AttributeProto":
    found: AttributeProto = next(attribute for attribute in cast.attribute if attribute.name == "to")
    return found


def _is_double(data_type: int) -> bool:
    from onnx import TensorProto

    return data_type == TensorProto.DOUBLE
