"""Data flow of a graph: the inputs that each node depends on, and the tables that integer inputs index."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packager.core.values import Model, TensorSpec
from packager.graph.connections import Connections, indexed
from packager.graph.constants import constant_tensors
from packager.models.shapes import infer_shapes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

Limit = int | str
"""number of valid indices: a number, or the size of a dynamic dimension"""

PASSING = frozenset(
    """Cast CastLike Clip Concat Expand Flatten Identity Max Min Pad Reshape Slice Split Squeeze Tile Transpose
    Unsqueeze""".split()
)
"""operators that pass integers on unchanged, or within the range of their inputs"""
SHAPES = ("Shape", "Size")
"""operators whose outputs depend on sizes of their inputs, not on values"""
TABLES = {
    "Gather": ((1, 0),),
    "GatherElements": ((1, 0),),
    "GatherND": ((1, 0),),
    "ScatterElements": ((1, 0),),
    "Scatter": ((1, 0),),
    "ScatterND": ((1, 0),),
    "GatherBlockQuantized": ((1, 0),),
    "EmbedLayerNormalization": ((0, 2), (1, 4)),
}
"""operator -> pairs of inputs: indices and table"""


def key_of(spec: TensorSpec, axis: int) -> str:
    """Key of a dynamic dimension: its name, which inputs may share, or its input and axis."""
    return spec.shape[axis] if isinstance(spec.shape[axis], str) else f"{spec.name}[{axis}]"  # type: ignore[return-value]


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The main graph of a model, traversed backwards."""

    nodes: "tuple[NodeProto, ...]"
    inputs: tuple[str, ...]
    weights: Mapping[str, tuple[int, ...]]
    """constant -> shape"""

    @cached_property
    def connections(self) -> Connections[int]:
        """Connections of the nodes by their index."""
        return indexed(self.nodes)

    @property
    def producers(self) -> Mapping[str, int]:
        """Value -> index of the node that produces it."""
        return self.connections.producers

    def constant_sizes(self, node: int | None) -> tuple[int, ...]:
        """Sizes of a node's weights, which operands may have to match."""
        taken = self.nodes[node].input if node is not None else ()
        return tuple(dict.fromkeys(size for name in taken for size in self.weights.get(name, ()) if size > 1))

    def behind(self, names: Iterable[str], *, through_shapes: bool = True) -> tuple[str, ...]:
        """The inputs that `names` depend on, in the model's order; `through_shapes` includes those used only for their
        sizes."""

        def passes(name: str) -> bool:
            index = self.producers.get(name)
            return through_shapes or index is None or self.nodes[index].op_type not in SHAPES

        found = self.connections.ancestors(filter(passes, names), passes)
        seen = set(names).union(*map(self.connections.consumed, found))
        return tuple(name for name in self.inputs if name in seen)

    def comes_before(self, first: int, second: int) -> bool:
        """Whether the node `second` depends on the node `first`."""
        return first in self.connections.ancestors(self.connections.consumed(second))


def flow_of(model: Model, graph: bytes) -> Flow:
    """The flow of `graph`, a serialized ModelProto that has the inputs of `model`."""
    import onnx

    proto = onnx.ModelProto.FromString(graph).graph
    tensors = constant_tensors(proto)
    return Flow(
        nodes=tuple(proto.node),
        inputs=tuple(spec.name for spec in model.signature.inputs),
        weights={name: tuple(tensor.dims) for name, tensor in tensors.items()},
    )


def index_limits(model: Model) -> dict[str, Limit]:
    """Input -> rows of the smallest table that it indexes: a number, or the dynamic dimension that determines the
    rows."""
    found: dict[str, list[Limit]] = {}
    specs = model.signature.inputs
    keys = {key_of(spec, axis) for spec in specs for axis, size in enumerate(spec.shape) if not isinstance(size, int)}
    indexed = _Indexed(proto=_with_keys(model), inputs=tuple(spec.name for spec in specs))
    for name, limit in indexed.limits():
        if isinstance(limit, int) or limit in keys:
            found.setdefault(name, []).append(limit)
    return {
        name: min((each for each in limits if isinstance(each, int)), default=limits[0])
        for name, limits in found.items()
    }


def scale_inputs(model: Model) -> tuple[str, ...]:
    """Float inputs that scale sizes."""
    flow = flow_of(model, model.graph)
    scales = [
        node.input[2 if len(node.input) > 2 else 1]
        for node in flow.nodes
        if node.op_type in ("Resize", "Upsample") and len(node.input) > 1
    ]
    behind = flow.behind([name for name in scales if name], through_shapes=False)
    small = {spec.name for spec in model.signature.inputs if spec.is_static and set(spec.shape) <= {1}}
    return tuple(name for name in behind if name in small)


def _with_keys(model: Model) -> "ModelProto":
    """The graph with shapes in terms of the dynamic dimensions of its inputs."""
    import onnx

    proto = onnx.ModelProto.FromString(model.graph)
    specs = {spec.name: spec for spec in model.signature.inputs}
    for value in proto.graph.input:
        if value.name in specs:
            for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
                if not isinstance(specs[value.name].shape[axis], int):
                    dimension.dim_param = key_of(specs[value.name], axis)
    del proto.graph.value_info[:]
    for value in proto.graph.output:
        value.type.tensor_type.ClearField("shape")
    return infer_shapes(proto)


@dataclass(frozen=True, kw_only=True)
class _Indexed:
    """Follows integers from the inputs of a graph to the tables that they index."""

    proto: "ModelProto"
    inputs: tuple[str, ...]
    origins: dict[str, dict[str, int]] = field(default_factory=dict)
    """value -> input that it comes from -> offset added on the way"""

    def limits(self) -> Iterator[tuple[str, Limit]]:
        graph = self.proto.graph
        shapes = _shapes(graph)
        constants = _constants(graph)
        self.origins.update({name: {name: 0} for name in self.inputs})
        for node in graph.node:
            self._pass_on(node, constants)
            for index, table in TABLES.get(node.op_type, ()):
                if len(node.input) > max(index, table):
                    rows = _rows(node, shapes.get(node.input[table], []), shapes.get(node.input[index], []))
                    yield from self._limited(node.input[index], rows)
            if node.op_type == "OneHot" and node.input[1] in constants:
                yield from self._limited(node.input[0], constants[node.input[1]])

    def _limited(self, name: str, rows: Limit) -> Iterator[tuple[str, Limit]]:
        for origin, added in self.origins.get(name, {}).items():
            if isinstance(rows, str):
                yield origin, rows
            elif rows - added > 0:
                yield origin, rows - added

    def _pass_on(self, node: "NodeProto", constants: Mapping[str, int]) -> None:
        taken = [self.origins.get(name, {}) for name in node.input]
        added = 0
        if node.op_type == "Gather":
            taken = taken[:1]
        elif node.op_type == "Where":
            taken = taken[1:]
        elif node.op_type in ("Add", "Sub"):
            known = [constants[name] for name in node.input if name in constants]
            if len(known) != 1 or (node.op_type == "Sub" and node.input[0] in constants):
                return
            added = known[0] if node.op_type == "Add" else -known[0]
        elif node.op_type not in PASSING:
            return
        merged = {origin: before + added for each in taken for origin, before in each.items()}
        if merged:
            self.origins.update(dict.fromkeys(node.output, merged))


def _rows(node: "NodeProto", table: list[Limit], indices: list[Limit]) -> Limit:
    """Rows of a table of shape `table` that can be indexed; 0 if unknown."""
    if node.op_type in ("GatherND", "ScatterND"):
        depth = indices[-1] if indices and isinstance(indices[-1], int) else 0
        sizes = [size for size in table[:depth] if isinstance(size, int) and size]
        named = [size for size in table[:depth] if isinstance(size, str)]
        return min(sizes) if sizes else named[0] if named else 0
    name = "gather_axis" if node.op_type == "GatherBlockQuantized" else "axis"
    axis = next((attribute.i for attribute in node.attribute if attribute.name == name), 0)
    return table[axis] if -len(table) <= axis < len(table) else 0


def _shapes(graph: "GraphProto") -> dict[str, list[Limit]]:
    """Value -> its sizes: names for dynamic ones, 0 for unknown ones."""
    shapes: dict[str, list[Limit]] = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.value_info, *graph.input):
        dimensions = value.type.tensor_type.shape.dim
        shapes.setdefault(value.name, [each.dim_param or each.dim_value for each in dimensions])
    return shapes


def _constants(graph: "GraphProto") -> dict[str, int]:
    """Small integer constants with one element."""
    import onnx

    integers = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
    return {
        name: int(onnx.numpy_helper.to_array(tensor).reshape(-1)[0])
        for name, tensor in constant_tensors(graph).items()
        if tensor.data_type in integers and list(tensor.dims) in ([], [1]) and not tensor.external_data
    }
