"""Selects the values of a graph to fetch, so that every requested tensor is observed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.core.errors import ModelError, nearest
from packager.graph import traversal
from packager.graph.constants import fed_inputs
from packager.graph.rewriting.stretches import DRAWN

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

MOVES = frozenset(
    {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "DepthToSpace", "SpaceToDepth"}
)
"""Operators whose output has the elements of their first input, each once, in any order: the same range."""


@dataclass(frozen=True, kw_only=True)
class Taps:
    graph: bytes
    """serialized ModelProto whose outputs are `fetched`, and nothing else if there are any"""
    inputs: tuple[str, ...]
    """graph inputs that are observed as they are fed"""
    fetched: tuple[str, ...]
    """in the order of the graph, so that the first bad value is where the problem starts"""
    sources: Mapping[str, str]
    """requested tensor -> the input or fetched value with the same elements"""
    outputs: tuple[str, ...]
    """outputs of the graph; empty if it draws random numbers, or if one is an input, a constant or no tensor"""

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.inputs, *self.fetched)


def tap(graph: bytes, tensors: Iterable[str]) -> Taps:
    """`graph` with outputs that determine the ranges of all `tensors`. Raises ModelError for a tensor that it lacks."""
    import onnx

    proto = onnx.ModelProto.FromString(graph)
    weights = {tensor.name for tensor in proto.graph.initializer}
    inputs = [each.name for each in fed_inputs(proto.graph)]
    values = [*inputs, *(name for node in proto.graph.node for name in node.output if name)]
    asked = list(dict.fromkeys(tensors))
    for name in sorted(set(asked) - set(values)):
        raise _missing(name, values, weights, proto)
    origins = _origins(proto.graph, set(values))
    sources = {name: origins.get(name, name) for name in asked}
    needed = set(sources.values())
    fetched = tuple(name for name in values[len(inputs) :] if name in needed)
    outputs = _outputs(proto)
    if fetched:
        del proto.graph.output[:]
        proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in fetched)
    return Taps(
        graph=proto.SerializeToString(deterministic=True),
        inputs=tuple(name for name in inputs if name in needed),
        fetched=fetched,
        sources=sources,
        outputs=outputs,
    )


def _outputs(proto: "ModelProto") -> tuple[str, ...]:
    """The outputs of the graph, if a second run gives the same ones and nodes compute them all."""
    names = tuple(value.name for value in proto.graph.output)
    made = {name for node in proto.graph.node for name in node.output}
    has_others = any(value.type.WhichOneof("value") not in (None, "tensor_type") for value in proto.graph.output)
    is_random = any(node.op_type in DRAWN for node in traversal.all_nodes(proto))
    return () if is_random or has_others or not made.issuperset(names) else names


def _origins(graph: "GraphProto", values: set[str]) -> dict[str, str]:
    """Output of a node that only moves elements -> the value that they come from."""
    origins: dict[str, str] = {}
    for node in graph.node:  # sorted, as ONNX requires
        if node.op_type in MOVES and node.domain in ("", "ai.onnx") and node.input[0] in values:
            origins[node.output[0]] = origins.get(node.input[0], node.input[0])
    return origins


def _missing(name: str, values: list[str], weights: set[str], proto: "ModelProto") -> ModelError:
    if name in weights:
        return ModelError(f"tensor '{name}' is a weight: it has no samples", hint="remove it from the tensors")
    if any(name in node.output for node in traversal.all_nodes(proto)):
        return ModelError(
            f"tensor '{name}' is inside a branch or loop body, which may not run",
            hint="only values of the main graph can be calibrated: remove it",
        )
    return ModelError(f"the graph has no tensor '{name}'", hint=nearest(name, values))
