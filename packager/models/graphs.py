"""Reads a serialized ModelProto as the Graph that the checks see."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from packager.core.values import Dimension
from packager.graph import traversal
from packager.graph.constants import fed_inputs
from packager.graph.rewriting.finishing import constant_of
from packager.graph.view import SMALL_BYTES, Attribute, Graph, Node, Value
from packager.models import shapes

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, TypeProto


@lru_cache(maxsize=4)
def read_graph(content: bytes) -> Graph:
    """The graph of the serialized ModelProto `content`, types and shapes inferred; external weights are not read.

    Branches and bodies get copies of the small constants around them: ONNX Runtime infers shapes with them, and ONNX's
    inference does not see them. The last few results are cached: a build requests the same ones many times.
    """
    import onnx

    proto = onnx.ModelProto.FromString(content)
    _copy_constants_inside(proto.graph, {})
    proto = shapes.infer_shapes(proto)
    return _graph(proto.graph, {entry.domain: entry.version for entry in proto.opset_import}, {})


def _copy_constants_inside(graph: "GraphProto", around: "Mapping[str, TensorProto]") -> None:
    """Gives the graphs in the nodes of `graph` the small constants that they take from it and from those `around`."""
    holders = [node for node in graph.node if node.attribute and any(traversal.subgraphs(node))]
    if not holders:
        return
    given = {each.name for each in graph.input}
    own = {each.name: each for each in graph.initializer if each.name not in given}
    own |= {node.output[0]: tensor for node in graph.node if _is_constant(node) and (tensor := constant_of(node))}
    known = {**around, **{name: each for name, each in own.items() if _is_small(each)}}
    for inner in (each for node in holders for each in traversal.subgraphs(node)):
        _copy_constants_inside(inner, known)
        made = {name for node in inner.node for name in node.output}
        made.update(each.name for each in (*inner.initializer, *inner.input))
        taken = sorted({name for node in inner.node for name in node.input}.difference(made))
        for name in (each for each in taken if each in known):
            inner.initializer.add().CopyFrom(known[name])
            inner.initializer[-1].name = name


def _graph(proto: "GraphProto", opsets: dict[str, int], around: Mapping[str, Value]) -> Graph:
    """`around` are the values of the enclosing graphs: those that it takes become its own, as in ORT format."""
    values = {each.name: _value(each.name, each.type) for each in (*proto.input, *proto.output, *proto.value_info)}
    values |= {tensor.name: _constant(tensor) for tensor in proto.initializer}
    for node in proto.node:
        if _is_constant(node):
            values[node.output[0]] = _constant_node(node, values.get(node.output[0]))
    within = {**around, **values}
    nodes = [_node(node, opsets, within) for node in proto.node if not _is_constant(node)]
    values |= {name: around[name] for node in nodes for name in node.inputs if name in around and name not in values}
    return Graph(
        nodes=tuple(nodes),
        values=values,
        inputs=tuple(each.name for each in fed_inputs(proto)),
        outputs=tuple(each.name for each in proto.output),
        opsets=opsets,
    )


def _is_constant(node: "NodeProto") -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")


def _node(proto: "NodeProto", opsets: dict[str, int], around: Mapping[str, Value]) -> Node:
    attributes = {each.name: value for each in proto.attribute if (value := _attribute(each)) is not None}
    subgraphs = [each.g for each in proto.attribute if each.HasField("g")]
    subgraphs += [graph for each in proto.attribute for graph in each.graphs]
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    return Node(
        name=proto.name or next((name for name in proto.output if name), ""),
        op=proto.op_type,
        domain=domain,
        since_version=_since(proto.op_type, opsets.get(domain, 0), domain),
        inputs=tuple(proto.input),
        outputs=tuple(proto.output),
        attributes=attributes,
        subgraphs=tuple(_graph(graph, opsets, around) for graph in subgraphs),
    )


def _since(op: str, opset: int, domain: str) -> int:
    from onnx import defs

    try:
        return defs.get_schema(op, opset, domain).since_version
    except defs.SchemaError:  # an operator that ONNX does not define
        return 0


def _attribute(proto: "AttributeProto") -> Attribute | None:
    from onnx import AttributeProto

    match proto.type:
        case AttributeProto.FLOAT:
            return proto.f
        case AttributeProto.INT:
            return proto.i
        case AttributeProto.STRING:
            return proto.s.decode(errors="replace")
        case AttributeProto.FLOATS:
            return tuple(proto.floats)
        case AttributeProto.INTS:
            return tuple(proto.ints)
        case AttributeProto.STRINGS:
            return tuple(text.decode(errors="replace") for text in proto.strings)
    return None


def _value(name: str, kind: "TypeProto") -> Value:
    if not kind.HasField("tensor_type"):
        return Value(name=name)
    tensor = kind.tensor_type
    dimensions: tuple[Dimension, ...] | None = None
    if tensor.HasField("shape"):
        dimensions = tuple(
            each.dim_value if each.HasField("dim_value") else each.dim_param or None for each in tensor.shape.dim
        )
    return Value(name=name, element=_element(tensor.elem_type), shape=dimensions)


def _is_small(tensor: "TensorProto") -> bool:
    return tensor.data_location != tensor.EXTERNAL and tensor.ByteSize() <= SMALL_BYTES


def _constant(tensor: "TensorProto", name: str = "") -> Value:
    import numpy
    from onnx import numpy_helper

    array: numpy.ndarray | None = None
    if _is_small(tensor):
        array = numpy_helper.to_array(tensor)
    return Value(
        name=name or tensor.name,
        element=_element(tensor.data_type),
        shape=tuple(tensor.dims),
        is_constant=True,
        constant=array,
    )


def _constant_node(node: "NodeProto", declared: Value | None) -> Value:
    import numpy

    name = node.output[0]
    for attribute in node.attribute:
        if attribute.name == "value":
            return _constant(attribute.t, name)
        if attribute.name in ("value_int", "value_ints"):
            array = numpy.array(_attribute(attribute), numpy.int64)
            return Value(name=name, element="int64", shape=array.shape, is_constant=True, constant=array)
        if attribute.name in ("value_float", "value_floats"):
            array = numpy.array(_attribute(attribute), numpy.float32)
            return Value(name=name, element="float", shape=array.shape, is_constant=True, constant=array)
    known = declared or Value(name=name)
    return Value(name=name, element=known.element, shape=known.shape, is_constant=True)


def _element(number: int) -> str:
    from onnx import TensorProto

    names = {value: name.lower() for name, value in TensorProto.DataType.items()}
    return names.get(number, f"type {number}") if number else ""
