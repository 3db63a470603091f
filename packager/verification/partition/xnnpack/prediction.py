"""Predicts which nodes the XNNPACK provider takes, why it leaves the others, and whether it may have the graph at all.

Written from GetCapability in core/providers/xnnpack/xnnpack_execution_provider.cc of ONNX Runtime.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from packager.graph.view import Graph, Node
from packager.verification.partition.groups import partitions
from packager.verification.partition.node_units import node_units
from packager.verification.partition.rules import Prediction
from packager.verification.partition.unit import DEQUANTIZE, QUANTIZE, NodeUnit
from packager.verification.partition.xnnpack import faults, quantized
from packager.verification.partition.xnnpack.operators import FUSING, RULES, is_fusible
from packager.verification.partition.xnnpack.view import View

BY = "XNNPACK provider of ONNX Runtime 1.29"
NEWEST = 27
"""The newest opset whose layout is changed for a provider (kMaxSupportedOpset)."""


def predict(graph: Graph, *, open_around: Set[str] | None = None) -> Prediction:
    """Predicts which nodes of `graph` XNNPACK takes.

    `graph` is one that ONNX Runtime saved after its basic rewrites: what these would still change is left to the CPU.
    `open_around` has, for a graph that a node contains, the values around it whose sizes an open input decides.
    """
    units = node_units(graph)
    folded = computed_ahead(graph)
    views = [View(unit=unit, graph=graph, folded=folded) for unit in units]
    left = {view.unit.target.name: f"{view.kind}: {reason}" for view in views if (reason := why_not(view))}
    taken = [view for view in views if view.unit.target.name not in left]
    names = {name for view in taken for name in _nodes(view.unit)}
    fusions = _fusions(taken, graph)
    names |= {fused.name for fused in fusions.values()}
    found = partitions(graph, names)
    names |= _ahead(graph, names, folded)
    return Prediction(
        partitions=tuple((*each, *_ahead(graph, set(each), folded)) for each in found),
        left={
            node.name: left.get(view.unit.target.name, f"{node.op}: it stays beside {view.op}")
            for view in views
            for node in view.unit.nodes
            if node.name not in names
        },
        by=BY,
        refusal=_refusal(graph, views, taken, open_around),
        fused=next((view.unit.target.name for view in taken if view.unit.is_group), next(iter(fusions), "")),
    )


def why_not(view: View) -> str:
    """Why the provider leaves a unit, in words; empty if it takes it."""
    rule = RULES.get(view.op)
    if rule is None or view.unit.target.domain:
        return "no kernel for it"
    if view.graph.opsets.get("", 0) > NEWEST:
        return f"opset {view.graph.opsets['']} of the model is newer than {NEWEST}"
    return (quantized.why_not(view) if view.unit.is_group else "") or rule(view)


def _nodes(unit: NodeUnit) -> tuple[str, ...]:
    """Nodes that are taken with a target. A Resize moves between its conversions to other values, so that they stay."""
    return (unit.target.name,) if unit.target.op == "Resize" else tuple(node.name for node in unit.nodes)


def _fusions(taken: Sequence[View], graph: Graph) -> Mapping[str, Node]:
    """Name of a taken node -> the activation that it computes, too (ClipReluChecker in
    detail/node_support_checker.cc)."""
    found = {}
    for view in taken:
        node = view.unit.target
        behind = graph.successors[node.name]
        if node.op not in FUSING or view.unit.is_group or len(behind) != 1 or graph.gives_output(node):
            continue
        if behind[0].inputs[:1] == node.outputs[:1] and is_fusible(behind[0], view):
            found[node.name] = behind[0]
    return found


def computed_ahead(graph: Graph) -> frozenset[str]:
    """Values that depend on constants alone: ONNX Runtime computes them when it loads a graph, except conversions of
    quantized weights."""
    found: set[str] = set()
    for node in graph.nodes:
        is_fixed = all(graph.value(name).is_constant or name in found for name in node.consumed if name)
        if is_fixed and node.inputs and node.op not in (QUANTIZE, DEQUANTIZE):
            found.update(node.outputs)
    return frozenset(found)


def _ahead(graph: Graph, taken: Set[str], folded: Set[str]) -> frozenset[str]:
    """Nodes that only serve those in `taken`, and are computed before a provider is asked."""
    return frozenset(
        node.name
        for node in graph.nodes
        if node.outputs[0] in folded
        and graph.successors[node.name]
        and all(each.name in taken for each in graph.successors[node.name])
        and not graph.gives_output(node)
    )


def _refusal(graph: Graph, views: Sequence[View], taken: Sequence[View], open_around: Set[str] | None) -> str:
    """A fault in `graph`, or in one that a node of it contains; empty if there is none."""
    opened = _open(graph, open_around or frozenset())
    names = {view.unit.target.name for view in taken}
    possible = [*taken, *_possible([view for view in views if view.unit.target.name not in names], opened)]
    fusions = _fusions(possible, graph)
    found = faults.found(graph, views, possible, fusions, is_inside=open_around is not None)
    refusals = (predict(subgraph, open_around=opened).refusal for _, subgraph in graph.inside())
    return next(found, "") or next((refusal for refusal in refusals if refusal), "")


def _open(graph: Graph, around: Set[str]) -> frozenset[str]:
    """Values whose sizes an open input may decide: ONNX Runtime knows no more of them than the file says."""
    found = set(around) | {name for name in graph.inputs if graph.value(name).sizes is None}
    for node in graph.nodes:
        if not found.isdisjoint(node.consumed):
            found.update(node.outputs)
    return frozenset(found)


def _possible(left: Sequence[View], opened: Set[str]) -> Iterator[View]:
    """Nodes that XNNPACK takes if ONNX Runtime finds out the sizes that the file lacks. It computes shapes ahead that
    follow from the sizes of inputs."""
    for view in left:
        generous = replace(view, is_generous=True)
        if view.input(0).name not in opened and not why_not(generous):
            yield generous
