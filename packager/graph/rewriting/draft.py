"""A model that is being rewritten: its graph in memory, its weights in the files they come from or go to."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, ModelError, nearest
from packager.core.quantized import FloatLayer, Range
from packager.graph.connections import Connections, connected
from packager.graph.names import all_names, free_name
from packager.graph.rewriting.finishing import (
    FIRST_WITH_OWN_INITIALIZERS,
    constant_of,
    drop_unused,
    external_tensors,
    sort_opsets,
)
from packager.graph.rewriting.scales import Scales
from packager.graph.traversal import nodes_in, subgraphs
from packager.graph.weights.places import refer, size_of, source_of
from packager.graph.weights.reading import Weight, read_weight
from packager.graph.weights.streaming import THREADS
from packager.graph.weights.writing import WeightFile

if TYPE_CHECKING:
    import numpy
    from _typeshed import ReadableBuffer
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

MICROSOFT = "com.microsoft"
KEEP_INLINE_BYTES = 1024
"""Smaller tensors stay in the graph: scales and zero points, which optimizers compute with."""


@dataclass
class Draft:
    """One model on its way to another precision. Quantizers edit `proto` and record in `left` what they leave in
    float."""

    proto: "ModelProto"
    data_folder: Path
    """base folder of the external data of `proto`"""
    weights: WeightFile | None = None
    """the file for all weights; without it, old ones stay where they are and new ones become part of the graph"""
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """of values, by name, if calibration measured them"""
    moments: Mapping[str, Path] = field(default_factory=dict)
    """of values, by name: files with the sum of x x^T over their rows x, if calibration measured them"""
    left: list[FloatLayer] = field(default_factory=list)
    scales: Scales = field(default_factory=Scales)
    changed: int = 0
    """number of nodes with other weights so far"""
    threads: int = THREADS
    _placed: set[str] = field(default_factory=set)
    """constants whose bytes are in `weights` already"""

    @property
    def graph(self) -> "GraphProto":
        return self.proto.graph

    @cached_property
    def opset(self) -> int:
        """Opset of the domain ai.onnx."""
        return max((entry.version for entry in self.proto.opset_import if entry.domain in ("", "ai.onnx")), default=0)

    @cached_property
    def constants(self) -> "dict[str, TensorProto]":
        """The main graph's constants by name. Initializers that are also inputs are only defaults, except in files
        older than IR version 4, where every initializer had to be an input (ONNX IR, section Graphs)."""
        is_default = self.proto.ir_version >= FIRST_WITH_OWN_INITIALIZERS
        inputs = {value.name for value in self.graph.input} if is_default else set()
        return {tensor.name: tensor for tensor in self.graph.initializer if tensor.name not in inputs}

    @cached_property
    def _elements(self) -> dict[str, int]:
        values = (*self.graph.value_info, *self.graph.input, *self.graph.output)
        return {value.name: value.type.tensor_type.elem_type for value in values}

    def is_float(self, name: str) -> bool:
        """Whether the computed value `name` is known to be float32."""
        from onnx import TensorProto

        return self._elements.get(name) == TensorProto.FLOAT

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a value; a dimension that depends on the input is 0. Empty if unknown."""
        values = (*self.graph.value_info, *self.graph.input, *self.graph.output)
        found = (value.type.tensor_type.shape.dim for value in values if value.name == name)
        return tuple(dimension.dim_value for dimension in next(found, ()))

    @cached_property
    def connections(self) -> "Connections[NodeProto]":
        """Connections of the main graph; subgraphs count with the node that contains them."""
        return connected(self.graph.node)

    @property
    def producers(self) -> "Mapping[str, NodeProto]":
        return self.connections.producers

    @property
    def consumers(self) -> "Mapping[str, Sequence[NodeProto]]":
        return self.connections.consumers

    @cached_property
    def outputs(self) -> frozenset[str]:
        return frozenset(value.name for value in self.graph.output)

    @cached_property
    def _names(self) -> set[str]:
        return all_names(self.proto)

    def unique(self, name: str) -> str:
        """`name`, or with a number appended if it is taken; reserves it."""
        free = free_name(name, self._names)
        self._names.add(free)
        return free

    def hoist_constants(self) -> None:
        """Turns Constant nodes of the main graph, where some exporters keep every weight, into initializers."""
        for index in reversed(range(len(self.graph.node))):
            node = self.graph.node[index]
            if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or node.output[0] in self.outputs:
                continue
            tensor = constant_of(node)
            if tensor is not None:
                self.graph.initializer.append(tensor)
                self.graph.initializer[-1].name = node.output[0]
                del self.graph.node[index]
        self._forget("constants", "connections")

    def hoist_inner(self) -> None:
        """Moves large constants of branches and loops to the main graph, whose constants quantizers read, if no other
        value has their name."""
        inner = self.inner_graphs()
        names = Counter(name for node in nodes_in(self.graph.node) for name in node.output)
        names.update(tensor.name for graph in (self.graph, *inner) for tensor in graph.initializer)
        given = {value.name for graph in inner for value in graph.output}
        for graph in inner:
            for node in list(graph.node):
                tensor = constant_of(node) if node.op_type == "Constant" and node.output[0] not in given else None
                if tensor is not None and names[node.output[0]] == 1 and size_of(tensor) >= KEEP_INLINE_BYTES:
                    tensor.name = node.output[0]
                    self.graph.initializer.append(tensor)
                    graph.node.remove(node)
            for tensor in list(graph.initializer):
                if names[tensor.name] == 1 and size_of(tensor) >= KEEP_INLINE_BYTES and tensor.name not in given:
                    self.graph.initializer.append(tensor)
                    graph.initializer.remove(tensor)
        self._forget("constants")

    def inner_graphs(self) -> "list[GraphProto]":
        """The branches and loop bodies of the main graph, those inside others first."""
        return [graph for node in nodes_in(self.graph.node) for graph in subgraphs(node)][::-1]

    def refuse_older(self, opset: int, quantizer: str) -> None:
        """Raises ModelError for a model of an earlier opset."""
        if self.opset < opset:
            raise ModelError(
                f"the model has opset {self.opset}; quantizer '{quantizer}' writes operators of opset {opset}",
                hint=f"export it with opset_version={opset} or later",
            )

    def refuse_unchanged(self, exclude: Collection[str] = ()) -> None:
        """Raises ModelError if no node has other weights now, unless `exclude` is the reason."""
        if self.changed or exclude:
            return
        reasons = list(dict.fromkeys(f"{each.operator}: {each.reason}" for each in self.left))
        why = f" ({'; '.join(reasons[:3])})" if reasons else ""
        raise ModelError(
            f"nothing to quantize: no node has float32 weights that can become smaller{why}",
            hint='give a float32 model, choose another quantizer, or ship it unchanged: quantizer = "none"',
        )

    def refuse_unknown(self, names: Collection[str], key: str = "exclude") -> None:
        """Raises ConfigError for the first of `names`, the value of `key`, that no node has."""
        known = {name for node in nodes_in(self.graph.node) for name in (node.name, *node.output) if name}
        for name in names:
            if name not in known:
                raise ConfigError(f"{key}: the model has no node '{name}'", hint=nearest(name, sorted(known)))

    def leave(self, node: "NodeProto", reason: str, name: str = "") -> None:
        """Records that `node` stays in float."""
        self.left.append(FloatLayer(name=name or node.name or node.output[0], operator=node.op_type, reason=reason))

    def is_inline(self, name: str) -> bool:
        """Whether the constant `name` is small enough for the graph."""
        return size_of(self.constants[name]) < KEEP_INLINE_BYTES

    def weight(self, name: str) -> Weight:
        return read_weight(self.constants[name], self.data_folder)

    def add(self, name: str, array: "numpy.ndarray") -> str:
        """Adds a constant to the graph itself, under a free name like `name`, which is returned."""
        from onnx import numpy_helper

        name = self.unique(name)
        self._append(numpy_helper.from_array(array, name))
        return name

    def add_large(self, name: str, array: "numpy.ndarray") -> str:
        """Adds a constant like `add`, but to the file of weights unless it is small."""
        from onnx import helper

        if array.nbytes < KEEP_INLINE_BYTES:
            return self.add(name, array)
        return self.add_chunks(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, [_bytes_of(array)])

    def add_chunks(self, name: str, element: int, shape: "tuple[int, ...]", chunks: "Iterable[ReadableBuffer]") -> str:
        """Adds a constant like `add`, whose bytes come in chunks; `element` is a TensorProto.DataType."""
        from onnx import TensorProto

        self._append(TensorProto(name=self.unique(name)))
        return self.fill(len(self.graph.initializer) - 1, element, shape, chunks)

    def fill(self, index: int, element: int, shape: "tuple[int, ...]", chunks: "Iterable[ReadableBuffer]") -> str:
        """Gives the constant at `index` another `element`, `shape` and bytes, in chunks; returns its name."""
        tensor = self.graph.initializer[index]
        tensor.data_type = element
        tensor.dims[:] = shape
        if self.weights:
            refer(tensor, self.weights.append(chunks))
            self._placed.add(tensor.name)
        else:
            tensor.raw_data = b"".join(chunks)
        return str(tensor.name)

    def _append(self, tensor: "TensorProto") -> None:
        self.graph.initializer.append(tensor)
        self.constants[tensor.name] = self.graph.initializer[-1]

    def replace_nodes(self, nodes: "list[NodeProto]") -> None:
        """Replaces the nodes of the main graph, and clears what was derived from the old ones."""
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        self._forget("connections")

    def _forget(self, *known: str) -> None:
        for name in known:
            self.__dict__.pop(name, None)

    def import_opset(self, domain: str, version: int = 1) -> None:
        if all(entry.domain != domain for entry in self.proto.opset_import):
            self.proto.opset_import.add(domain=domain, version=version)

    def finish(self) -> bytes:
        """The rewritten model, serialized, without unused constants.

        With a file of weights, everything external lies in it, or beside it if it is in the data folder: its folder is
        the data folder of the result.
        """
        drop_unused(self.proto)
        if self.weights and self.weights.path.parent != self.data_folder:
            for tensor, is_outer in external_tensors(self.proto):
                if not (is_outer and tensor.name in self._placed):
                    refer(tensor, self.weights.copy(source_of(tensor, self.data_folder)))
        sort_opsets(self.proto)
        return bytes(self.proto.SerializeToString(deterministic=True))


def _bytes_of(array: "numpy.ndarray") -> memoryview:
    """The bytes of a nonempty array, without a copy."""
    import numpy

    return numpy.ascontiguousarray(array).data.cast("B")


def draft_of(graph: bytes, data_folder: Path) -> Draft:
    """A draft of the serialized ModelProto `graph` that is rewritten in place: unchanged weights stay where they
    are."""
    import onnx

    return Draft(proto=onnx.ModelProto.FromString(graph), data_folder=data_folder)
