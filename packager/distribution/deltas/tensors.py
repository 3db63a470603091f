"""Finds the values of the tensors in model files: where they lie, and how wide they are."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from packager.compile.canonical import flatbuffer_classes
from packager.graph.weights.whole import LENGTH_DELIMITED
from packager.models.skeleton import Field, TruncatedError, fields, read_varint

SMALLEST_BYTES = 256
"""Shorter tensors are found as any other bytes are."""
ELEMENT_BYTES = {1: 4, 4: 2, 5: 2, 6: 4, 7: 8, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}
"""Element type of onnx.TensorProto, which ort.fbs has, too -> bytes of a value; all others are taken as bytes."""

# Field numbers of onnx.proto.
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER = 1, 5
NODE_OUTPUT, NODE_ATTRIBUTE = 2, 5
ATTRIBUTE_NAME, ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH = 1, 5, 6
TENSOR_TYPE, TENSOR_FLOATS, TENSOR_NAME, TENSOR_RAW = 2, 4, 8, 9

UNREADABLE = (TruncatedError, struct.error, LookupError, AttributeError, TypeError, ValueError, OverflowError)
"""Exceptions of reading a file that is not a model, or a damaged one."""


@dataclass(frozen=True)
class TensorBytes:
    """Bytes of a file that are values of `width` bytes each."""

    name: str
    start: int
    length: int
    width: int


def tensors_of(content: bytes) -> list[TensorBytes]:
    """The tensors in a file of the formats ORT or ONNX that have SMALLEST_BYTES, in their order in the file and without
    overlaps; none for other files."""
    try:
        found = list(_ort_tensors(content) if content[4:8] == b"ORTM" else _onnx_tensors(content))
    except UNREADABLE:
        return []
    result: list[TensorBytes] = []
    for tensor in sorted(found, key=lambda each: (each.start, each.name)):
        end = result[-1].start + result[-1].length if result else 0
        if tensor.length >= SMALLEST_BYTES and tensor.start >= end:
            result.append(tensor)
    return result


def _ort_tensors(content: bytes) -> Iterator[TensorBytes]:
    import numpy

    first = int(numpy.frombuffer(content, numpy.uint8).__array_interface__["data"][0])
    session = flatbuffer_classes().InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0)
    graph = session.Model().Graph()
    held = [(str(i), graph.Initializers(i)) for i in range(graph.InitializersLength())]
    for node in (graph.Nodes(i) for i in range(graph.NodesLength())):
        for attribute in (node.Attributes(i) for i in range(node.AttributesLength())):
            if attribute.T() is not None:
                held.append((f"{_text(node.Name())}/{_text(attribute.Name())}", attribute.T()))
    for other_name, tensor in held:
        if tensor.RawDataLength():
            start = int(tensor.RawDataAsNumpy().__array_interface__["data"][0]) - first
            yield _tensor(_text(tensor.Name()) or other_name, start, tensor.RawDataLength(), tensor.DataType())


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")


def _tensor(name: str, start: int, length: int, element: int) -> TensorBytes:
    width = ELEMENT_BYTES.get(element, 1)
    return TensorBytes(name, start, length // width * width, width)


def _onnx_tensors(content: bytes) -> Iterator[TensorBytes]:
    for field in _messages(content, 0, len(content), MODEL_GRAPH):
        yield from _graph_tensors(content, field)


def _graph_tensors(content: bytes, graph: Field) -> Iterator[TensorBytes]:
    for field in fields(_view(content), graph.value, graph.end):
        if field.number == GRAPH_INITIALIZER and field.wire_type == LENGTH_DELIMITED:
            yield from _onnx_tensor(content, field, "")
        elif field.number == GRAPH_NODE and field.wire_type == LENGTH_DELIMITED:
            yield from _node_tensors(content, field)


def _node_tensors(content: bytes, node: Field) -> Iterator[TensorBytes]:
    """The values of `Constant`, and of nodes that keep tensors as attributes."""
    if node.end - node.value < SMALLEST_BYTES:
        return
    outputs = [content[each.value : each.end] for each in _messages(content, node.value, node.end, NODE_OUTPUT)]
    for attribute in _messages(content, node.value, node.end, NODE_ATTRIBUTE):
        for tensor in _messages(content, attribute.value, attribute.end, ATTRIBUTE_TENSOR):
            yield from _onnx_tensor(content, tensor, _text(outputs[0] if outputs else b""))
        for graph in _messages(content, attribute.value, attribute.end, ATTRIBUTE_GRAPH):
            yield from _graph_tensors(content, graph)


def _onnx_tensor(content: bytes, tensor: Field, other_name: str) -> Iterator[TensorBytes]:
    element, name = 0, other_name
    values: Field | None = None
    for field in fields(_view(content), tensor.value, tensor.end):
        if field.number == TENSOR_TYPE:
            element = read_varint(_view(content), field.value, field.end)[0]
        elif field.number == TENSOR_NAME and not other_name:
            name = _text(content[field.value : field.end])
        elif field.number in (TENSOR_FLOATS, TENSOR_RAW) and field.wire_type == LENGTH_DELIMITED:
            values = field
    if values is not None:
        yield _tensor(name, values.value, values.end - values.value, element)


def _messages(content: bytes, start: int, end: int, number: int) -> list[Field]:
    found = fields(_view(content), start, end)
    return [each for each in found if each.number == number and each.wire_type == LENGTH_DELIMITED]


def _view(content: bytes) -> Any:
    """`content` for functions that are declared to read a memory map, and only index it."""
    return content


def paired(old: Sequence[TensorBytes], new: Sequence[TensorBytes]) -> list[tuple[TensorBytes, TensorBytes]]:
    """Tensors of the same values in two versions, in the order of `new`: those with one name, and of the others those
    with one length and width, in their order. Two tensors of a pair have one width; their lengths may differ."""
    by_name = {(each.name, each.width): each for each in old}
    if len(by_name) < len(old):
        return _paired_by_length(old, new)
    named = [(by_name[each.name, each.width], each) for each in new if (each.name, each.width) in by_name]
    taken = {id(each) for pair in named for each in pair}
    rest = [[each for each in side if id(each) not in taken] for side in (old, new)]
    return sorted([*named, *_paired_by_length(*rest)], key=lambda pair: pair[1].start)


def _paired_by_length(old: Sequence[TensorBytes], new: Sequence[TensorBytes]) -> list[tuple[TensorBytes, TensorBytes]]:
    waiting: dict[tuple[int, int], list[TensorBytes]] = {}
    for tensor in reversed(old):
        waiting.setdefault((tensor.length, tensor.width), []).append(tensor)
    found = []
    for tensor in new:
        same = waiting.get((tensor.length, tensor.width))
        if same:
            found.append((same.pop(), tensor))
    return found
