"""Groups DequantizeLinear -> operator -> QuantizeLinear into units, as ONNX Runtime's providers see a quantized graph.

A unit is either a node by itself or an operator with the DequantizeLinear nodes before and the QuantizeLinear nodes
after it. Written from core/framework/node_unit.cc and shared/utils.cc in
core/optimizer/qdq_transformer/selectors_actions/ of ONNX Runtime 1.21, and compared with the behaviour of 1.29.
"""

from packager.graph.view import Graph, Node
from packager.verification.partition.clips import is_redundant
from packager.verification.partition.selectors import SELECTORS
from packager.verification.partition.unit import DEQUANTIZE, QUANTIZE, NodeUnit, Quantization, UnitPort

DOMAINS = ("", "com.ms.internal.nhwc", "com.microsoft")
"""Domains of operators in the middle of a group."""


def node_units(graph: Graph) -> tuple[NodeUnit, ...]:
    """The units of `graph`, each node in exactly one, in the order of their targets."""
    groups = {node.name: group for node in graph.nodes if (group := _group(node, graph))}
    grouped = {node.name for group in groups.values() for node in group.nodes}
    return tuple(
        groups.get(node.name) or _single(node)
        for node in graph.nodes
        if node.name in groups or node.name not in grouped
    )


def _single(node: Node) -> NodeUnit:
    inputs, outputs = _ports(node)
    return NodeUnit(target=node, inputs=inputs, outputs=outputs)


def _ports(node: Node) -> tuple[tuple[UnitPort, ...], tuple[UnitPort, ...]]:
    """Inputs and outputs of a node by itself; quantized operators have their scales among the inputs."""

    def port(value: int, scale: int, *, name: str = "") -> UnitPort:
        given = [*node.inputs, "", "", ""]
        return UnitPort(
            value=name or given[value], quantization=Quantization(scale=given[scale], zero_point=given[scale + 1])
        )

    plain = tuple(UnitPort(value=name) for name in node.outputs)
    match node.op:
        case "DequantizeLinear":
            return (port(0, 1),), plain
        case "QuantizeLinear":
            return (UnitPort(value=node.inputs[0]),), (port(0, 1, name=node.outputs[0]),)
        case "QLinearSigmoid" | "QLinearAveragePool" | "QLinearGlobalAveragePool" | "QLinearLeakyRelu":
            return (port(0, 1),), (port(0, 3, name=node.outputs[0]),)
        case "QLinearConv" | "QLinearMatMul" | "QLinearAdd" | "QLinearMul":
            bias = tuple(UnitPort(value=name) for name in node.inputs[8:9])
            return (port(0, 1), port(3, 4), *bias), (port(0, 6, name=node.outputs[0]),)
    return tuple(UnitPort(value=name) for name in node.inputs), plain


def _group(node: Node, graph: Graph) -> NodeUnit | None:
    check = SELECTORS.get(node.op)
    if check is None or node.domain not in DOMAINS:
        return None
    if node.op == "MaxPool" and node.since_version != 12:
        return None
    dequantizers = tuple(each for each in graph.connections.sources(node) if each.op == DEQUANTIZE)
    clip = _clip_behind(node, graph)
    last = clip or node
    behind = [consumer for name in last.outputs for consumer in graph.consumers.get(name, ())]
    quantizers = tuple(consumer for consumer in behind if consumer.op == QUANTIZE)
    if clip and (len(quantizers) != 1 or not is_redundant(clip, quantizers[0], graph)):
        return None
    candidate = NodeUnit(
        target=node,
        inputs=(),
        outputs=(),
        dequantizers=dequantizers,
        quantizers=quantizers,
        clip=clip,
    )
    if not candidate.is_group or not check(candidate, graph):
        return None
    return NodeUnit(
        target=node,
        inputs=tuple(_outer_input(name, dequantizers) for name in node.inputs),
        outputs=tuple(_outer_output(name, quantizers) for name in last.outputs),
        dequantizers=dequantizers,
        quantizers=quantizers,
        clip=clip,
    )


def _outer_input(name: str, dequantizers: tuple[Node, ...]) -> UnitPort:
    for node in dequantizers:
        if node.outputs[0] == name:
            return UnitPort(value=node.inputs[0], quantization=_quantization(node))
    return UnitPort(value=name)


def _outer_output(name: str, quantizers: tuple[Node, ...]) -> UnitPort:
    for node in quantizers:
        if node.inputs[0] == name:
            return UnitPort(value=node.outputs[0], quantization=_quantization(node))
    return UnitPort(value=name)


def _quantization(node: Node) -> Quantization:
    return Quantization(scale=node.inputs[1], zero_point=node.inputs[2] if len(node.inputs) > 2 else "")


def _clip_behind(node: Node, graph: Graph) -> Node | None:
    """The Relu or Clip that is the only consumer of `node`, if its own output has only one consumer."""
    behind = graph.successors[node.name]
    if len(behind) != 1 or behind[0].op not in ("Relu", "Clip"):
        return None
    (clip,) = behind
    return clip if len(graph.successors[clip.name]) == 1 and not graph.gives_output(clip) else None
