"""Reads the graph of an ORT-format file through a memory map: types and shapes as the runtime sees them.

Schema: onnxruntime/core/flatbuffers/schema/ort.fbs.
"""

import mmap
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from packager.compile.canonical import flatbuffer_classes
from packager.core.signature import Dimension
from packager.graph.connections import numbered
from packager.graph.view import SMALL_BYTES, Attribute, Graph, Node, Value
from packager.graph.weights.places import BITS

FLOAT, INT, STRING, GRAPH, FLOATS, INTS, STRINGS, GRAPHS = 1, 2, 3, 5, 6, 7, 8, 10
"""AttributeType of ort.fbs."""
TENSOR_TYPE = 1
"""TypeInfoValue of ort.fbs."""
LAST_ELEMENT = 20
"""The last TensorDataType of ort.fbs, FLOAT8E5M2FNUZ: ONNX added the types with fewer bits later."""
DIMENSION_VALUE, DIMENSION_PARAM = 1, 2
"""DimensionValueType of ort.fbs."""


def read_graph(path: Path) -> Graph:
    """The graph in the ORT-format file `path`. Its weights are not touched."""
    fbs = flatbuffer_classes()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        model = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0).Model()
        opsets = [model.OpsetImport(i) for i in range(model.OpsetImportLength())]
        graph = _graph(model.Graph(), {_text(entry.Domain()): entry.Version() for entry in opsets})
        del model, opsets  # they keep views of the map
        return graph


def unheld(path: Path) -> str:
    """Content of the file at `path` that its format has no types for, in words: `4-bit weights`; empty if there is
    none."""
    fbs = flatbuffer_classes()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        model = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0).Model()
        is_suspect = any(element > LAST_ELEMENT for element in _elements(model.Graph()))
        del model  # it keeps views of the map
    found = sorted(_unheld(read_graph(path))) if is_suspect else []
    return next((what for what in found if what.endswith("weights")), found[0] if found else "")


def _elements(graph: Any) -> Iterator[int]:
    """The element type of every tensor in a graph, including those of subgraphs."""
    for i in range(graph.InitializersLength()):
        yield graph.Initializers(i).DataType()
    for i in range(graph.NodeArgsLength()):
        tensor = _tensor_type(graph.NodeArgs(i).Type())
        if tensor is not None:
            yield tensor.ElemType()
    for i in range(graph.NodesLength()):
        node = graph.Nodes(i)
        for k in range(node.AttributesLength()):
            attribute = node.Attributes(k)
            if attribute.Type() == GRAPH:
                yield from _elements(attribute.G())


def _unheld(graph: Graph) -> Iterator[str]:
    from onnx import TensorProto

    numbers = {name.lower(): number for name, number in TensorProto.DataType.items()}
    used = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)}
    for value in graph.values.values():
        if (value.is_constant or value.name in used) and numbers.get(value.element, 0) > LAST_ELEMENT:
            bits = BITS.get(value.element.upper())
            what = "weights" if value.is_constant and value.shape else "values"
            yield f"{bits}-bit {what}" if bits else f"{value.element} {what}"
    for node in graph.nodes:
        for subgraph in node.subgraphs:
            yield from _unheld(subgraph)


def _graph(table: Any, opsets: dict[str, int]) -> Graph:
    constants = {each.name: each for each in map(_constant, map(table.Initializers, range(table.InitializersLength())))}
    values = {}
    for i in range(table.NodeArgsLength()):
        name = _text(table.NodeArgs(i).Name())
        values[name] = constants.get(name) or _value(table.NodeArgs(i))
    values |= constants
    nodes = [table.Nodes(i) for i in range(table.NodesLength())]
    inputs = [_text(table.Inputs(i)) for i in range(table.InputsLength())]
    return Graph(
        nodes=_in_running_order([_node(node, opsets) for node in sorted(nodes, key=lambda node: int(node.Index()))]),
        values=values,
        inputs=tuple(name for name in inputs if name not in values or not values[name].is_constant),
        outputs=tuple(_text(table.Outputs(i)) for i in range(table.OutputsLength())),
        opsets=opsets,
    )


def _in_running_order(nodes: list[Node]) -> tuple[Node, ...]:
    """`nodes` in execution order: the file has them in order of creation, with fused nodes after their consumers."""
    order = numbered([node.consumed for node in nodes], [node.outputs for node in nodes]).execution_order()
    return tuple(nodes[index] for index in order)


def _node(table: Any, opsets: dict[str, int]) -> Node:
    outputs = tuple(_text(table.Outputs(i)) for i in range(table.OutputsLength()))
    attributes: dict[str, Attribute] = {}
    subgraphs = []
    for i in range(table.AttributesLength()):
        attribute = table.Attributes(i)
        if attribute.Type() == GRAPH:
            subgraphs.append(_graph(attribute.G(), opsets))
        elif attribute.Type() == GRAPHS:
            subgraphs += [_graph(attribute.Graphs(g), opsets) for g in range(attribute.GraphsLength())]
        elif (value := _attribute(attribute)) is not None:
            attributes[_text(attribute.Name())] = value
    return Node(
        name=_text(table.Name()) or next((name for name in outputs if name), ""),
        op=_text(table.OpType()),
        domain=_text(table.Domain()),
        since_version=table.SinceVersion(),
        inputs=tuple(_text(table.Inputs(i)) for i in range(table.InputsLength())),
        outputs=outputs,
        attributes=attributes,
        subgraphs=tuple(subgraphs),
    )


def _attribute(table: Any) -> Attribute | None:
    kind = table.Type()
    if kind == FLOAT:
        return float(table.F())
    if kind == INT:
        return int(table.I())
    if kind == STRING:
        return _text(table.S())
    if kind == FLOATS:
        return tuple(float(table.Floats(i)) for i in range(table.FloatsLength()))
    if kind == INTS:
        return tuple(int(table.Ints(i)) for i in range(table.IntsLength()))
    if kind == STRINGS:
        return tuple(_text(table.Strings(i)) for i in range(table.StringsLength()))
    return None


def _value(table: Any) -> Value:
    name, tensor = _text(table.Name()), _tensor_type(table.Type())
    if tensor is None:
        return Value(name=name)
    shape = tensor.Shape()
    dimensions = None if shape is None else tuple(_dimension(shape.Dim(i)) for i in range(shape.DimLength()))
    return Value(name=name, element=_element(tensor.ElemType()), shape=dimensions)


def _tensor_type(kind: Any) -> Any:
    """The TensorTypeAndShape of a TypeInfo; None if it is not a tensor."""
    if kind is None or kind.ValueType() != TENSOR_TYPE:
        return None
    tensor, held = flatbuffer_classes().TensorTypeAndShape.TensorTypeAndShape(), kind.Value()
    tensor.Init(held.Bytes, held.Pos)
    return tensor


def _dimension(table: Any) -> Dimension:
    value = table.Value()
    if value is None:
        return None
    if value.DimType() == DIMENSION_VALUE:
        return int(value.DimValue())
    return _text(value.DimParam()) or None if value.DimType() == DIMENSION_PARAM else None


def _constant(table: Any) -> Value:
    import numpy
    from onnx import TensorProto, helper

    shape = tuple(int(table.Dims(i)) for i in range(table.DimsLength()))
    element = table.DataType()
    array = None
    if element != TensorProto.STRING and 0 < table.RawDataLength() <= SMALL_BYTES:
        dtype = helper.tensor_dtype_to_np_dtype(element)
        raw = table.RawDataAsNumpy().tobytes()
        if dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64)) == len(raw):  # not for elements under a byte
            array = numpy.frombuffer(raw, dtype).reshape(shape)
    return Value(name=_text(table.Name()), element=_element(element), shape=shape, is_constant=True, constant=array)


def _element(number: int) -> str:
    """Name of a TensorDataType of ort.fbs."""
    return _elements_by_number().get(number, f"type {number}") if number else ""


@cache
def _elements_by_number() -> Mapping[int, str]:
    """Those of onnx.TensorProto, whose numbers ort.fbs has taken over."""
    from onnx import TensorProto

    return {value: name.lower() for name, value in TensorProto.DataType.items()}


def _text(raw: bytes | None) -> str:
    return raw.decode() if raw else ""
