"""Takes the quantization out of a model again: float weights, and no rounding between operators.

For providers that know no QuantizeLinear (CoreML): they run the float graph whole and the quantized one in pieces.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import numpy
    from onnx import GraphProto, NodeProto, TensorProto

ConstantReader = Callable[[str], "numpy.ndarray"]


@dataclass(frozen=True, kw_only=True)
class Dequantized:
    NAME: ClassVar[str] = "dequantized"

    def quantize(self, graph: bytes, data_folder: Path) -> bytes:
        import onnx

        proto = onnx.ModelProto.FromString(graph)
        _dequantize(proto.graph, data_folder)
        return bytes(proto.SerializeToString(deterministic=True))


def _dequantize(graph: "GraphProto", data_folder: Path) -> None:
    """Replaces DequantizeLinear of constants by float constants, and every QuantizeLinear -> DequantizeLinear by
    nothing. What is left without a user is dropped."""
    from onnx import numpy_helper

    constants = {tensor.name: tensor for tensor in graph.initializer}
    producers = {name: node for node in graph.node for name in node.output}
    outputs = {value.name for value in graph.output}
    renamed: dict[str, str] = {}
    gone: set[int] = set()

    def read(name: str) -> "numpy.ndarray":
        array: numpy.ndarray = numpy_helper.to_array(constants[name], str(data_folder))
        return array

    for node in graph.node:
        if node.op_type != "DequantizeLinear":
            continue
        source = producers.get(node.input[0])
        if node.input[0] in constants and all(name in constants for name in node.input if name):
            graph.initializer.append(numpy_helper.from_array(_dequantized(node, read), node.output[0]))
            gone.add(id(node))
        elif source is not None and source.op_type == "QuantizeLinear" and node.output[0] not in outputs:
            renamed[node.output[0]] = source.input[0]
            gone.add(id(node))
    _rename(graph, renamed)
    kept = [node for node in graph.node if id(node) not in gone]
    del graph.node[:]
    graph.node.extend(_used(kept, outputs))
    _drop_unused_constants(graph)


def _dequantized(node: "NodeProto", read: ConstantReader) -> "numpy.ndarray":
    """y = (x - zero_point) * scale, per tensor, per axis or per block (ONNX operator DequantizeLinear)."""
    import numpy

    attributes = {each.name: each.i for each in node.attribute}
    x, scale = read(node.input[0]), read(node.input[1])
    zero = read(node.input[2]) if len(node.input) > 2 and node.input[2] else numpy.zeros((), numpy.float32)
    axis = attributes.get("axis", 1)
    block = attributes.get("block_size", 0)

    def fitted(array: "numpy.ndarray") -> "numpy.ndarray":
        if array.size == 1 and array.ndim <= 1:
            return array.reshape(())
        if block:
            return numpy.repeat(array, block, axis=axis).take(range(x.shape[axis]), axis=axis)
        return array.reshape([-1 if dimension == axis % x.ndim else 1 for dimension in range(x.ndim)])

    y = (x.astype(numpy.float32) - fitted(zero).astype(numpy.float32)) * fitted(scale).astype(numpy.float32)
    return y.astype(scale.dtype)


def _rename(graph: "GraphProto", names: dict[str, str]) -> None:
    def final(name: str) -> str:
        while name in names:
            name = names[name]
        return name

    for node in graph.node:
        node.input[:] = [final(name) for name in node.input]
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs:
                _rename(subgraph, names)


def _used(nodes: "list[NodeProto]", outputs: set[str]) -> "list[NodeProto]":
    """Without the QuantizeLinear nodes that nobody takes from any more."""
    taken = {name for node in nodes for name in node.input} | outputs
    return [node for node in nodes if node.op_type != "QuantizeLinear" or node.output[0] in taken]


def _drop_unused_constants(graph: "GraphProto") -> None:
    taken = _taken(graph) | {value.name for value in graph.output}
    kept: list[TensorProto] = [tensor for tensor in graph.initializer if tensor.name in taken]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _taken(graph: "GraphProto") -> set[str]:
    """Names that nodes of `graph` and of its subgraphs take."""
    names = {name for node in graph.node for name in node.input}
    for node in graph.node:
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs:
                names |= _taken(subgraph) | {value.name for value in subgraph.output}
    return names
