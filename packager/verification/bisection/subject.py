"""One side of a bisection as a graph that submodels can be extracted from; its weights stay in their files."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ModelError
from packager.engines.environments import CHILD, ensure
from packager.engines.environments.arm64 import Arm64
from packager.engines.runners import Runnable
from packager.engines.session.branches import restore_ends
from packager.files.processes import commands
from packager.graph import traversal
from packager.graph.connections import Connections, indexed
from packager.graph.constants import fed_inputs
from packager.graph.names import all_names, free_name
from packager.graph.rewriting.finishing import drop_unused, free_initializers, sort_opsets
from packager.graph.rewriting.order import sort_nodes
from packager.models.shapes import infer_shapes
from packager.models.skeleton import read_skeleton
from packager.verification.bisection.result import Side

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TypeProto, ValueInfoProto


MOVING = frozenset("Expand Flatten Gather Identity MaxPool Reshape Slice Split Squeeze Transpose Unsqueeze".split())
"""Operators that move or select numbers of their first input unchanged."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Region:
    """The nodes that compute one value from others."""

    nodes: tuple[int, ...]
    """indices into the graph, in its order"""
    borders: tuple[str, ...]
    """computed values and inputs of the graph that they take, sorted"""


@dataclass(frozen=True, eq=False, kw_only=True)
class BisectionSubject:
    """A side, opened."""

    side: Side
    proto: "ModelProto"
    """sorted, without its large weights"""
    data_folder: Path
    is_optimized: bool
    """False for a graph from an .ort file, which is optimized already"""

    @cached_property
    def nodes(self) -> "tuple[NodeProto, ...]":
        return tuple(self.proto.graph.node)

    @cached_property
    def connections(self) -> Connections[int]:
        """Connections of the nodes by their index."""
        return indexed(self.nodes)

    @property
    def producers(self) -> Mapping[str, int]:
        """Computed value -> the index of its node."""
        return self.connections.producers

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(all_names(self.proto))

    def free(self, name: str) -> str:
        """`name`, or a similar one that the model does not use."""
        return free_name(name, self._names)

    @cached_property
    def inputs(self) -> "Mapping[str, ValueInfoProto]":
        return {value.name: value for value in fed_inputs(self.proto.graph)}

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.proto.graph.output)

    @cached_property
    def taken(self) -> tuple[tuple[str, ...], ...]:
        """For each node, the computed values and inputs of the graph that it takes, including those of its
        subgraphs."""
        known = self.producers.keys() | self.inputs.keys()
        consumed = map(self.connections.consumed, self.connections.nodes)
        return tuple(tuple(sorted(known.intersection(names))) for names in consumed)

    @cached_property
    def varying(self) -> frozenset[str]:
        """Computed values that depend on inputs; the others are weights, however they are computed."""
        found = set(self.inputs)
        for place, node in enumerate(self.nodes):
            if any(name in found for name in self.taken[place]):
                found.update(name for name in node.output if name)
        return frozenset(found)

    @cached_property
    def quantized(self) -> frozenset[str]:
        """Computed values whose only consumers are QuantizeLinear, directly or after moving operators: a runtime may
        quantize earlier, and the value of that name is then another one."""
        found: set[str] = set()
        for name in reversed(list(self.producers)):
            behind = [] if name in self.outputs else self.connections.consumers.get(name, [])
            if behind and all(_hides(self.nodes[place], name, found) for place in behind):
                found.add(name)
        return frozenset(found)

    def region(self, values: Iterable[str], borders: Collection[str]) -> Region:
        """The nodes that compute `values` from `borders` and from inputs. Values that are borders themselves are
        computed as well, from the borders before them."""
        found = self.connections.ancestors(values, lambda name: name not in borders)
        taken = {name for place in found for name in self.taken[place]}
        reached = {name for name in taken if name in borders or name not in self.producers}
        return Region(nodes=tuple(sorted(found)), borders=tuple(sorted(reached)))

    def cut(
        self, nodes: "Sequence[NodeProto]", inputs: "Iterable[ValueInfoProto]", outputs: Iterable[str]
    ) -> "ModelProto":
        """A model of only `nodes`; the runtime infers its types."""
        from onnx import ModelProto, ValueInfoProto

        graph = self.proto.graph
        cut = ModelProto(ir_version=self.proto.ir_version, functions=self.proto.functions)
        cut.opset_import.extend(self.proto.opset_import)
        cut.graph.name = graph.name
        cut.graph.node.extend(nodes)
        cut.graph.input.extend(inputs)
        declared = {value.name: value for value in graph.output}
        cut.graph.output.extend(declared.get(name) or ValueInfoProto(name=name) for name in outputs)
        cut.graph.initializer.extend(graph.initializer)
        cut.graph.sparse_initializer.extend(graph.sparse_initializer)
        drop_unused(cut)
        return cut

    def tapped(self, values: Collection[str]) -> "ModelProto":
        """The model up to `values`, which are its outputs; it takes all inputs."""
        region = self.region(values, ())
        return self.cut([self.nodes[place] for place in region.nodes], self.inputs.values(), values)

    def runnable(self, path: Path) -> Runnable:
        """Settings to run an extracted model that was written to `path`."""
        return Runnable(
            path=path,
            data_folder=self.data_folder,
            needs_fp16=self.side.needs_fp16,
            settings=self.side.settings,
            is_optimized=self.is_optimized,
        )

    def types(self, shapes: Mapping[str, Sequence[int]]) -> "Mapping[str, TypeProto]":
        """Types of values, as far as they can be inferred for inputs of these shapes."""
        proto = type(self.proto)()
        proto.CopyFrom(self.proto)
        graph = proto.graph
        symbols: dict[str, int] = {}
        for value in graph.input:
            symbols |= _set_shape(value, shapes.get(value.name, ()))
        for value in (*graph.value_info, *graph.output):
            for dimension in value.type.tensor_type.shape.dim:
                if dimension.dim_param in symbols:
                    dimension.dim_value = symbols[dimension.dim_param]
        graph = infer_shapes(proto).graph
        return {value.name: value.type for value in (*graph.value_info, *graph.output)}


def _set_shape(value: "ValueInfoProto", sizes: Sequence[int]) -> dict[str, int]:
    """Gives `value` the shape `sizes`; returns the values of its symbols."""
    dimensions = value.type.tensor_type.shape.dim
    if len(dimensions) != len(sizes):
        return {}
    symbols = {each.dim_param: size for each, size in zip(dimensions, sizes, strict=True) if each.dim_param}
    for dimension, size in zip(dimensions, sizes, strict=True):
        dimension.dim_value = size
    return symbols


def _hides(node: "NodeProto", name: str, quantized: Collection[str]) -> bool:
    """Whether `node` takes `name` to quantize it, or moves it for a node that does."""
    if node.input[0] != name or name in node.input[1:]:
        return False
    is_moved = node.op_type in MOVING and all(each in quantized for each in node.output if each)
    return node.op_type == "QuantizeLinear" or is_moved


def opened(side: Side, folder: Path) -> BisectionSubject:
    """`side` as a graph; an .ort file becomes an ONNX file of the same nodes in `folder`.

    Raises ModelError for a file that cannot be read.
    """
    from onnx import ModelProto

    is_ort = side.path.suffix == ".ort"
    path = _exported(side, folder) if is_ort else side.path
    content = path.read_bytes() if side.data_folder and not is_ort else read_skeleton(path)
    proto = ModelProto.FromString(content)
    if is_ort:
        restore_ends(proto, side.path)
    free_initializers(proto)
    sort_opsets(proto)  # an older runtime may not know all operator sets of the exporting one
    sort_nodes(proto)
    traversal.name_graphs(proto)
    return BisectionSubject(
        side=side,
        proto=proto,
        data_folder=path.parent if is_ort else side.data_folder or path.parent,
        is_optimized=side.is_optimized and not is_ort,
    )


def _exported(side: Side, folder: Path) -> Path:
    output = folder / "exported.onnx"
    job = {"task": "export", "provider": "cpu", "model": str(side.path.absolute()), "output": str(output)}
    crash, hint = "ONNX Runtime crashed while it read the ORT-format file", "build the file again"
    if side.needs_fp16:  # other processors have no kernels for it
        core = Arm64()
        ensure(core)
        answer = commands.run_job(
            [CHILD],
            job,
            folder,
            crash=crash,
            hint=hint,
            command=core.command(),
            environment=core.variables(),
            owner=core.NAME,
        )
    else:
        answer = commands.run_job([CHILD], job, folder, crash=crash, hint=hint)
    if "error" in answer:
        raise ModelError(f"{side.path}: ONNX Runtime cannot open the ORT-format file: {answer['error']}", hint=hint)
    return output
