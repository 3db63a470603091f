"""Renames inputs, outputs and dimensions of a model: generated code takes its names from them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, nearest
from packager.graph.traversal import all_graphs, nodes_in, subgraphs

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, ValueInfoProto
    from onnx.onnx_ml_pb2 import TensorShapeProto


def rename(proto: "ModelProto", wanted: Mapping[str, str], where: str) -> None:
    """Renames in place. A key is an input or an output, a named dimension, or `TENSOR.AXIS` for a dimension of an input
    or output that has no name.

    `where` names the table in messages. Raises ConfigError for a key that the model does not have, and for a name that
    is empty or taken.
    """
    graph = proto.graph
    tensors = {value.name for value in (*graph.input, *graph.output)}
    places = dict(_unnamed(graph))
    symbols = set(_symbols(graph))
    for key, name in wanted.items():
        if key not in tensors | symbols | places.keys():
            known = sorted(tensors | symbols | places.keys())
            raise ConfigError(f"{where}: the model has no input, output or dimension '{key}'", hint=nearest(key, known))
        if not name or name.isspace():
            raise ConfigError(f"{where}: '{key}' gets an empty name", hint="remove the line, or give a name")
    of_tensors = {key: name for key, name in wanted.items() if key in tensors}
    _refuse_taken(proto, of_tensors, where)
    for key, name in wanted.items():
        if key in places and key not in tensors | symbols:
            places[key].dim_param = name
    _rename_symbols(graph, {key: name for key, name in wanted.items() if key in symbols and key not in tensors})
    _rename_tensors(proto, of_tensors)


def _dimensions(*values: "ValueInfoProto") -> "Iterator[tuple[str, TensorShapeProto.Dimension]]":
    for value in values:
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            yield f"{value.name}.{axis}", dimension


def _unnamed(graph: "GraphProto") -> "Iterator[tuple[str, TensorShapeProto.Dimension]]":
    """Dimensions of inputs and outputs without a size and a name, by `TENSOR.AXIS`."""
    for place, dimension in _dimensions(*graph.input, *graph.output):
        if not dimension.HasField("dim_value") and not dimension.dim_param:
            yield place, dimension


def _symbols(graph: "GraphProto") -> Iterator[str]:
    for _, dimension in _dimensions(*graph.input, *graph.output):
        if dimension.dim_param:
            yield dimension.dim_param


def _refuse_taken(proto: "ModelProto", wanted: Mapping[str, str], where: str) -> None:
    if not wanted:
        return
    used = {name for graph in all_graphs(proto) for name in _names(graph)} - wanted.keys()
    for name, count in Counter(wanted.values()).items():
        if name in used or count > 1:
            raise ConfigError(f"{where}: the model already has a tensor '{name}'", hint="choose another name")


def _names(graph: "GraphProto") -> Iterator[str]:
    for node in graph.node:
        yield from (*node.input, *node.output)
    yield from (value.name for value in (*graph.input, *graph.output, *graph.initializer))


def _rename_symbols(graph: "GraphProto", names: Mapping[str, str]) -> None:
    for _, dimension in _dimensions(*graph.input, *graph.output, *graph.value_info):
        if dimension.dim_param in names:
            dimension.dim_param = names[dimension.dim_param]


def _rename_tensors(proto: "ModelProto", names: Mapping[str, str]) -> None:
    """Names are unique in a graph and its subgraphs; functions have names of their own."""
    if not names:
        return
    graphs = [proto.graph, *_subgraphs(proto)]
    for graph in graphs:
        for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            value.name = names.get(value.name, value.name)
        for node in graph.node:
            for values in (node.input, node.output):
                values[:] = [names.get(value, value) for value in values]
        for annotation in graph.quantization_annotation:
            annotation.tensor_name = names.get(annotation.tensor_name, annotation.tensor_name)


def _subgraphs(proto: "ModelProto") -> "Iterator[GraphProto]":
    for node in nodes_in(proto.graph.node):
        yield from subgraphs(node)
