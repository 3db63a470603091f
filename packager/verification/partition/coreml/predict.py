"""Applies the rules to every node, then groups the supported ones into partitions."""

from collections.abc import Iterator, Mapping
from functools import cache

from packager.graph.view import Graph, Node, Value
from packager.verification.partition import groups
from packager.verification.partition.coreml.candidate import Candidate, shown
from packager.verification.partition.coreml.operators import OPERATORS, Operator
from packager.verification.partition.rules import Prediction

FORMATS = ("MLProgram", "NeuralNetwork")
RUNTIME = "1.29"

NEWEST_OPSET = 27
"""BaseOpBuilder::GetMaxSupportedOpSet in builders/impl/base_op_builder.h."""
MAX_RANK = 5
"""IsInputSupported in builders/helper.cc, after https://github.com/apple/coremltools/issues/832"""


def predict(
    graph: Graph,
    *,
    model_format: str = "MLProgram",
    requires_static_shapes: bool = False,
    enable_on_subgraphs: bool = False,
) -> Prediction:
    """Predicts which nodes of `graph` CoreML on iOS 17 or later would take, with the provider's options of the same
    names.

    Nodes of a subgraph are listed only with `enable_on_subgraphs`, as `node that owns it/node`. Raises ValueError for a
    `model_format` that the provider does not have.
    """
    if model_format not in FORMATS:
        raise ValueError(f"unknown model format '{model_format}': it is one of {', '.join(FORMATS)}")
    left = _left(graph, is_mlprogram=model_format == "MLProgram", needs_static=requires_static_shapes)
    partitions = groups.partitions(graph, {node.name for node in graph.nodes} - left.keys(), keeps=_is_worth_having)
    taken = {name for names in partitions for name in names}
    why = {node.name: left.get(node.name) or _too_little(node) for node in graph.nodes if node.name not in taken}
    if enable_on_subgraphs:
        for owner, subgraph in graph.inside():
            inner = predict(
                subgraph,
                model_format=model_format,
                requires_static_shapes=requires_static_shapes,
                enable_on_subgraphs=True,
            )
            partitions += tuple(tuple(f"{owner.name}/{name}" for name in names) for names in inner.partitions)
            why |= {f"{owner.name}/{name}": reason for name, reason in inner.left.items()}
    return Prediction(partitions=partitions, left=why, by=f"CoreML provider ({model_format}) of ONNX Runtime {RUNTIME}")


def _left(graph: Graph, *, is_mlprogram: bool, needs_static: bool) -> Mapping[str, str]:
    """Node -> why the provider cannot take it."""

    @cache
    def reason(name: str) -> str:
        candidate = Candidate(graph=graph, node=nodes[name], is_mlprogram=is_mlprogram, is_supported=is_supported)
        against = next(_against(candidate, needs_static=needs_static), "")
        return against and f"{nodes[name].operator}: {against}"

    def is_supported(node: Node) -> bool:
        return not reason(node.name)

    nodes = {node.name: node for node in graph.nodes}
    return {name: reason(name) for name in nodes if reason(name)}


def _against(candidate: Candidate, *, needs_static: bool) -> Iterator[str]:
    """BaseOpBuilder::IsOpSupported in builders/impl/base_op_builder.cc; GetOpBuilder does not look at the domain."""
    operator = OPERATORS.get(candidate.op)
    if operator is None:
        yield _unknown(candidate)
        return
    if candidate.is_mlprogram and not operator.is_in_mlprogram:
        yield "supported in the NeuralNetwork format only"
    if not candidate.is_mlprogram and not operator.is_in_neural_network:
        yield "supported in the MLProgram format only"
    if not operator.since <= candidate.version <= NEWEST_OPSET:
        yield f"opset {candidate.version} of operator not supported, only {operator.since} to {NEWEST_OPSET}"
    for name in candidate.node.inputs:
        if name:
            yield from _against_input(candidate.graph.value(name), operator, needs_static=needs_static)
    yield from operator.elements(candidate)
    yield from operator.rule(candidate)


def _against_input(value: Value, operator: Operator, *, needs_static: bool) -> Iterator[str]:
    """IsInputSupported in builders/helper.cc."""
    if value.shape is None:
        yield f"the shape of '{value.name}' is unknown"
        return
    if needs_static and value.sizes is None:
        yield f"'{value.name}' must have a static shape: {shown(value)}"
    if 0 in value.shape and not operator.takes_empty:
        yield f"'{value.name}' must not be empty: {shown(value)}"
    if len(value.shape) > MAX_RANK:
        yield f"'{value.name}' has rank {len(value.shape)}; CoreML supports up to {MAX_RANK}"


def _unknown(candidate: Candidate) -> str:
    inside = sum(1 for graph in candidate.node.subgraphs for _ in graph.all_nodes())
    if inside:
        return f"control flow is not supported; EnableOnSubgraphs applies to the {inside} nodes inside"
    return "operator not supported"


def _is_worth_having(nodes: tuple[Node, ...]) -> bool:
    """GetCapability in coreml_execution_provider.cc drops partitions in which IsTrivial holds for every node."""
    return any(not OPERATORS[node.op].is_trivial for node in nodes)


def _too_little(node: Node) -> str:
    return f"{node.operator}: its partition would only reshape, cast or copy, which is faster on the CPU"
