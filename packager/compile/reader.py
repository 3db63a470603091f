"""Reads the graph of an ORT-format file through a memory map: types and shapes as the runtime sees them.

Schema: onnxruntime/core/flatbuffers/schema/ort.fbs.
"""

import mmap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from packager.compile.flat_tables import BYTE, FLOAT, INT, LONG, OFFSET, Content, FlatTable
from packager.core.signature import Dimension
from packager.graph.connections import numbered
from packager.graph.view import SMALL_BYTES, Attribute, Graph, Node, Value
from packager.graph.weights.places import BITS

Read = TypeVar("Read")


class Fields:
    """Indexes of fields in the tables of ort.fbs."""

    session_model, model_opsets, model_graph, opset_domain, opset_version = 1, 1, 7, 0, 1
    initializers, values, nodes, inputs, outputs = 0, 1, 2, 5, 6
    name, domain, since_version, index, operator, taken, made, attributes = 0, 2, 3, 4, 5, 8, 9, 10
    attribute_type, f, i, s, graph, floats, ints, strings, graphs = 2, 3, 4, 5, 7, 8, 9, 10, 12
    value_type, held_type, held = 2, 1, 2
    element, shape, dimensions, dimension = 0, 1, 0, 0
    dimension_type, dimension_value, dimension_name = 0, 1, 2
    sizes, tensor_element, raw = 2, 3, 4


class AttributeType:
    """Types of attributes in ort.fbs."""

    FLOAT, INT, STRING, GRAPH, FLOATS, INTS, STRINGS, GRAPHS = 1, 2, 3, 5, 6, 7, 8, 10


TENSOR_TYPE = 1
"""TypeInfoValue of ort.fbs."""
LAST_ELEMENT = 20
"""The last TensorDataType of ort.fbs, FLOAT8E5M2FNUZ: ONNX added the types with fewer bits later."""
DIMENSION_VALUE, DIMENSION_PARAM = 1, 2
"""DimensionValueType of ort.fbs."""


def read_graph(path: Path) -> Graph:
    """The graph in the ORT-format file `path`. Its weights are not touched."""
    return _read(path, lambda model: _graph(_required(model, Fields.model_graph), _opsets(model)))


def unheld(path: Path) -> str:
    """Content of the file at `path` that its format has no types for, in words: `4-bit weights`; empty if there is
    none."""

    def is_suspect(model: FlatTable) -> bool:
        return any(each > LAST_ELEMENT for each in _elements(_required(model, Fields.model_graph)))

    if not _read(path, is_suspect):
        return ""
    found = sorted(_unheld(read_graph(path)))
    return next((what for what in found if what.endswith("weights")), found[0] if found else "")


def constant_bytes(path: Path) -> int | None:
    """Size of the constants in the file at `path`; None if graphs inside its nodes may have others."""

    def size(model: FlatTable) -> int | None:
        graph = _required(model, Fields.model_graph)
        attributes = (each for node in graph.tables(Fields.nodes) for each in node.tables(Fields.attributes))
        if any(map(_graphs, attributes)):
            return None
        return sum(each.size(Fields.raw) for each in graph.tables(Fields.initializers))

    return _read(path, size)


def _read(path: Path, read: Callable[[FlatTable], Read]) -> Read:
    """The value that `read` finds in the model of the file at `path`."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return read(_required(Content(mapped).root(), Fields.session_model))


def _required(table: FlatTable, field: int) -> FlatTable:
    found = table.table(field)
    if found is None:
        raise ValueError(f"a table lacks its field {field}")
    return found


def _opsets(model: FlatTable) -> dict[str, int]:
    entries = model.tables(Fields.model_opsets)
    return {each.text(Fields.opset_domain): each.number(Fields.opset_version, LONG) for each in entries}


def _elements(graph: FlatTable) -> Iterator[int]:
    """The element type of every tensor in a graph, including those of subgraphs."""
    for each in graph.tables(Fields.initializers):
        yield each.number(Fields.tensor_element, INT)
    for each in graph.tables(Fields.values):
        if tensor := _tensor_type(each):
            yield tensor.number(Fields.element, INT)
    for node in graph.tables(Fields.nodes):
        for attribute in node.tables(Fields.attributes):
            if attribute.number(Fields.attribute_type, INT) == AttributeType.GRAPH:
                yield from _elements(_required(attribute, Fields.graph))


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


def _graph(table: FlatTable, opsets: dict[str, int]) -> Graph:
    constants = {each.name: each for each in map(_constant, table.tables(Fields.initializers))}
    values = {}
    for each in table.tables(Fields.values):
        name = each.text(Fields.name)
        values[name] = constants.get(name) or _value(each, name)
    values |= constants
    nodes = sorted(table.tables(Fields.nodes), key=lambda node: node.number(Fields.index, OFFSET))
    inputs = table.texts(Fields.inputs)
    return Graph(
        nodes=_in_running_order([_node(node, opsets) for node in nodes]),
        values=values,
        inputs=tuple(name for name in inputs if name not in values or not values[name].is_constant),
        outputs=table.texts(Fields.outputs),
        opsets=opsets,
    )


def _in_running_order(nodes: list[Node]) -> tuple[Node, ...]:
    """`nodes` in execution order: the file has them in order of creation, with fused nodes after their consumers."""
    order = numbered([node.consumed for node in nodes], [node.outputs for node in nodes]).execution_order()
    return tuple(nodes[index] for index in order)


def _node(table: FlatTable, opsets: dict[str, int]) -> Node:
    outputs = table.texts(Fields.made)
    attributes: dict[str, Attribute] = {}
    subgraphs = []
    for attribute in table.tables(Fields.attributes):
        graphs = _graphs(attribute)
        subgraphs += [_graph(each, opsets) for each in graphs]
        if not graphs and (value := _attribute(attribute)) is not None:
            attributes[attribute.text(Fields.name)] = value
    return Node(
        name=table.text(Fields.name) or next((name for name in outputs if name), ""),
        op=table.text(Fields.operator),
        domain=table.text(Fields.domain),
        since_version=table.number(Fields.since_version, INT),
        inputs=table.texts(Fields.taken),
        outputs=outputs,
        attributes=attributes,
        subgraphs=tuple(subgraphs),
    )


def _graphs(attribute: FlatTable) -> list[FlatTable]:
    """The graphs inside a node that an attribute has."""
    kind = attribute.number(Fields.attribute_type, INT)
    if kind == AttributeType.GRAPH:
        return [_required(attribute, Fields.graph)]
    return list(attribute.tables(Fields.graphs)) if kind == AttributeType.GRAPHS else []


def _attribute(table: FlatTable) -> Attribute | None:
    match table.number(Fields.attribute_type, INT):
        case AttributeType.FLOAT:
            return table.real(Fields.f)
        case AttributeType.INT:
            return table.number(Fields.i, LONG)
        case AttributeType.STRING:
            return table.text(Fields.s)
        case AttributeType.FLOATS:
            return tuple(map(float, table.numbers(Fields.floats, FLOAT)))
        case AttributeType.INTS:
            return tuple(map(int, table.numbers(Fields.ints, LONG)))
        case AttributeType.STRINGS:
            return table.texts(Fields.strings)
    return None


def _value(table: FlatTable, name: str) -> Value:
    tensor = _tensor_type(table)
    if tensor is None:
        return Value(name=name)
    shape = tensor.table(Fields.shape)
    dimensions = None if shape is None else tuple(map(_dimension, shape.tables(Fields.dimensions)))
    return Value(name=name, element=_element(tensor.number(Fields.element, INT)), shape=dimensions)


def _tensor_type(value: FlatTable) -> FlatTable | None:
    """The TensorTypeAndShape of a value; None if it is not a tensor."""
    kind = value.table(Fields.value_type)
    if kind is None or kind.number(Fields.held_type, BYTE) != TENSOR_TYPE:
        return None
    return kind.table(Fields.held)


def _dimension(table: FlatTable) -> Dimension:
    value = table.table(Fields.dimension)
    kind = value.number(Fields.dimension_type, BYTE) if value else 0
    if value and kind == DIMENSION_VALUE:
        return value.number(Fields.dimension_value, LONG)
    return value.text(Fields.dimension_name) or None if value and kind == DIMENSION_PARAM else None


def _constant(table: FlatTable) -> Value:
    import numpy
    from onnx import TensorProto, helper

    shape = tuple(map(int, table.numbers(Fields.sizes, LONG)))
    element = table.number(Fields.tensor_element, INT)
    array = None
    if element != TensorProto.STRING and 0 < table.size(Fields.raw) <= SMALL_BYTES:
        dtype = helper.tensor_dtype_to_np_dtype(element)
        raw = table.content(Fields.raw)
        if dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64)) == len(raw):  # not for elements under a byte
            array = numpy.frombuffer(raw, dtype).reshape(shape)
    name = table.text(Fields.name)
    return Value(name=name, element=_element(element), shape=shape, is_constant=True, constant=array)


def _element(number: int) -> str:
    """Name of a TensorDataType of ort.fbs."""
    return _elements_by_number().get(number, f"type {number}") if number else ""


@cache
def _elements_by_number() -> Mapping[int, str]:
    """Types of elements in onnx.TensorProto, whose numbers ort.fbs has taken over."""
    from onnx import TensorProto

    return {value: name.lower() for name, value in TensorProto.DataType.items()}
