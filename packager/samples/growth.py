"""Sizes that depend on the values of inputs: nets for speech compute how long their sound is. Random values may make it
minutes long, so the sizes of a sample are computed before the net runs on it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from packager.graph.connections import indexed
from packager.graph.rewriting.finishing import drop_unused
from packager.samples.flow import SHAPES, Flow

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

SIZES: Mapping[str, tuple[int, ...]] = {
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "Loop": (0,),
    "OneHot": (1,),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "Resize": (2, 3),
    "Tile": (1,),
    "Upsample": (1,),
}
"""Operator -> its inputs that decide how large its outputs are, or how often its body runs."""
MOST_NUMBERS, MOST_STEPS, MOST_TIMES = 1 << 22, 1 << 14, 1 << 10
"""Limits of a random sample: of the numbers in a tensor, of the steps along one axis, and of repetitions."""
MOST_RESIZED = 1 << 25
"""Limit of the numbers in a picture that is resized to a given size: models for pages take 2048 x 2048 x 3."""
NARROW = (1 / 8, 1 / 64)
"""Distances from 0 up to which floats are drawn that decide sizes."""


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The nodes whose sizes depend on values of inputs, and on no such node before them."""

    nodes: "tuple[NodeProto, ...]"
    values: tuple[str, ...]
    """their inputs that decide sizes"""
    inputs: tuple[str, ...]
    """inputs of the model that these depend on"""

    def excess(self, found: "Mapping[str, Any]") -> str:
        """The `found` value that is too large, in words; empty if none is."""
        for node in self.nodes:
            given = [found.get(node.input[place]) for place in SIZES[node.op_type] if place < len(node.input)]
            numbers = [each.astype(float).ravel() for each in given if each is not None and each.dtype.kind in "fiu"]
            if not all(map(len, numbers)):
                continue
            is_size = node.op_type == "Resize" and given[-1] is not None and given[-1].dtype.kind in "iu"
            operator = "Expand" if is_size else node.op_type  # its last input has sizes, or else scales
            most = MOST_RESIZED if is_size else MOST_NUMBERS
            if text := _excess(operator, [each.tolist() for each in numbers], most):
                return f"node '{node.name or next(iter(node.output))}' ({node.op_type}) would make {text}"
        return ""

    def probe(self, proto: "ModelProto") -> "ModelProto":
        """The part of `proto` that computes the sizes."""
        return _cut(proto, self.values)


@dataclass(frozen=True, kw_only=True)
class _Search:
    flow: Flow

    @cached_property
    def growing(self) -> dict[int, tuple[str, ...]]:
        """Index of a node -> its inputs that decide sizes, if they depend on values of inputs."""
        found = {}
        for index, node in enumerate(self.flow.nodes):
            places = [place for place in SIZES.get(node.op_type, ()) if place < len(node.input)]
            names = tuple(node.input[place] for place in places if node.input[place])
            if names and self.flow.behind(names, through_shapes=False):
                found[index] = names
        return found

    def is_first(self, names: tuple[str, ...]) -> bool:
        return not self.growing.keys() & self.flow.connections.ancestors(names)


def growth_of(flow: Flow) -> Growth | None:
    """None if no size depends on values."""
    search = _Search(flow=flow)
    first = {index: names for index, names in search.growing.items() if search.is_first(names)}
    if not first:
        return None
    values = tuple(dict.fromkeys(name for names in first.values() for name in names))
    return Growth(
        nodes=tuple(flow.nodes[index] for index in first),
        values=values,
        inputs=flow.behind([name for name in values if not _is_shape(flow, name)], through_shapes=False),
    )


def _is_shape(flow: Flow, name: str) -> bool:
    index = flow.producers.get(name)
    return index is not None and flow.nodes[index].op_type in SHAPES


def _excess(operator: str, numbers: list[list[float]], most: int) -> str:
    """`most` numbers may be in a tensor."""
    last = numbers[-1]
    if operator in ("ConstantOfShape", "Expand"):
        return _over(math.prod(max(1.0, each) for each in last), most, "numbers")
    if operator == "Range":
        start, limit, step = (each[0] for each in numbers) if len(numbers) == 3 else (0.0, last[0], 1.0)
        return _over((limit - start) / step if step else math.inf, MOST_STEPS, "steps")
    if operator in ("OneHot", "Pad"):
        return _over(sum(map(abs, last)), MOST_STEPS, "steps")
    return _over(math.prod(max(1.0, each) for each in last), MOST_TIMES, "repetitions")


def _over(count: float, most: int, what: str) -> str:
    if count <= most:
        return ""
    shown = f"{count:,.0f}" if math.isfinite(count) else "endlessly many"
    return f"{shown} {what}; a random sample may have {most:,}"


def _cut(proto: "ModelProto", values: tuple[str, ...]) -> "ModelProto":
    """The nodes of `proto` that compute `values`, which become its outputs."""
    made = type(proto)()
    made.CopyFrom(proto)
    graph = made.graph
    connections = indexed(proto.graph.node)
    kept = sorted(connections.ancestors(values))
    del graph.node[:], graph.output[:]
    graph.node.extend(proto.graph.node[index] for index in kept)
    computed = [name for name in values if name in connections.producers]
    for name in computed:
        graph.output.add(name=name)
    drop_unused(made)
    return made
