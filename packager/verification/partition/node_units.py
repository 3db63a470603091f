"""Groups DequantizeLinear -> operator -> QuantizeLinear into units, as ONNX Runtime's providers see a quantized graph.

A unit is either a node by itself or an operator with the DequantizeLinear nodes before and the QuantizeLinear nodes
after it. Written from core/framework/node_unit.cc and qdq_selectors.cc and shared/utils.cc in
core/optimizer/qdq_transformer/selectors_actions/ of ONNX Runtime 1.21, and compared with the behaviour of 1.29.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from packager.graph.view import Graph, Node, Value

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
DOMAINS = ("", "com.ms.internal.nhwc", "com.microsoft")
"""Domains of operators in the middle of a group."""
RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
LARGEST = 3.4028234663852886e38
"""std::numeric_limits<float>::max(): the default of Clip's bounds."""


@dataclass(frozen=True, kw_only=True)
class Quantization:
    """The quantization of a value: names of its constants."""

    scale: str
    zero_point: str = ""
    """empty if there is none, which means 0"""


@dataclass(frozen=True, kw_only=True)
class Port:
    """An input or output of a unit: the value outside of it, before DequantizeLinear or after QuantizeLinear."""

    value: str
    """empty for an omitted optional input"""
    quantization: Quantization | None = None


@dataclass(frozen=True, kw_only=True)
class NodeUnit:
    target: Node
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    dequantizers: tuple[Node, ...] = ()
    quantizers: tuple[Node, ...] = ()
    clip: Node | None = None
    """a Relu or Clip between target and QuantizeLinear, made redundant by its rounding"""

    @property
    def is_group(self) -> bool:
        """Whether DequantizeLinear or QuantizeLinear nodes belong to it."""
        return bool(self.dequantizers or self.quantizers)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Its nodes in execution order."""
        return (*self.dequantizers, self.target, *((self.clip,) if self.clip else ()), *self.quantizers)


@dataclass(frozen=True)
class Edge:
    """One use of one output."""

    producer: Node
    output: int
    consumer: Node
    input: int


@dataclass(frozen=True)
class Edges:
    """The edges of a graph; a node that takes a value twice has two edges."""

    graph: Graph

    @cached_property
    def into(self) -> Mapping[str, tuple[Edge, ...]]:
        """Node -> the edges that end in it; those of values that its subgraphs take come last."""
        return {node.name: tuple(self._edges_into(node)) for node in self.graph.nodes}

    @cached_property
    def out_of(self) -> Mapping[str, tuple[Edge, ...]]:
        """Node -> the edges that start in it."""
        found: dict[str, list[Edge]] = {node.name: [] for node in self.graph.nodes}
        for node in self.graph.nodes:
            for edge in self.into[node.name]:
                found[edge.producer.name].append(edge)
        return {name: tuple(edges) for name, edges in found.items()}

    def gives_output(self, node: Node) -> bool:
        """Whether `node` computes an output of the graph."""
        return any(name in self.graph.outputs for name in node.outputs)

    def _edges_into(self, node: Node) -> list[Edge]:
        inner = {name for graph in node.subgraphs for each in graph.all_nodes() for name in each.inputs}
        taken = [*node.inputs, *sorted(inner - {*node.inputs})]
        producers = self.graph.producers
        return [
            Edge(producers[name], producers[name].outputs.index(name), node, index)
            for index, name in enumerate(taken)
            if name in producers
        ]


def node_units(graph: Graph, edges: Edges | None = None) -> tuple[NodeUnit, ...]:
    """The units of `graph`, each node in exactly one, in the order of their targets."""
    edges = edges or Edges(graph)
    groups = {node.name: group for node in graph.nodes if (group := _group(node, edges))}
    grouped = {node.name for group in groups.values() for node in group.nodes}
    return tuple(
        groups.get(node.name) or _single(node)
        for node in graph.nodes
        if node.name in groups or node.name not in grouped
    )


def _single(node: Node) -> NodeUnit:
    inputs, outputs = _ports(node)
    return NodeUnit(target=node, inputs=inputs, outputs=outputs)


def _ports(node: Node) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Inputs and outputs of a node by itself; quantized operators have their scales among the inputs."""

    def port(value: int, scale: int, *, name: str = "") -> Port:
        given = [*node.inputs, "", "", ""]
        return Port(
            value=name or given[value], quantization=Quantization(scale=given[scale], zero_point=given[scale + 1])
        )

    plain = tuple(Port(value=name) for name in node.outputs)
    match node.op:
        case "DequantizeLinear":
            return (port(0, 1),), plain
        case "QuantizeLinear":
            return (Port(value=node.inputs[0]),), (port(0, 1, name=node.outputs[0]),)
        case "QLinearSigmoid" | "QLinearAveragePool" | "QLinearGlobalAveragePool" | "QLinearLeakyRelu":
            return (port(0, 1),), (port(0, 3, name=node.outputs[0]),)
        case "QLinearConv" | "QLinearMatMul" | "QLinearAdd" | "QLinearMul":
            bias = tuple(Port(value=name) for name in node.inputs[8:9])
            return (port(0, 1), port(3, 4), *bias), (port(0, 6, name=node.outputs[0]),)
    return tuple(Port(value=name) for name in node.inputs), plain


def _group(node: Node, edges: Edges) -> NodeUnit | None:
    check = SELECTORS.get(node.op)
    if check is None or node.domain not in DOMAINS:
        return None
    if node.op == "MaxPool" and node.since_version != 12:
        return None
    dequantizers = tuple(edge.producer for edge in edges.into[node.name] if edge.producer.op == DEQUANTIZE)
    clip = _clip_behind(node, edges)
    last = clip or node
    behind = sorted(edges.out_of[last.name], key=lambda edge: edge.output)
    quantizers = tuple(edge.consumer for edge in behind if edge.consumer.op == QUANTIZE)
    if clip and (len(quantizers) != 1 or not _is_redundant(clip, quantizers[0], edges.graph)):
        return None
    candidate = NodeUnit(
        target=node,
        inputs=(),
        outputs=(),
        dequantizers=dequantizers,
        quantizers=quantizers,
        clip=clip,
    )
    if not candidate.is_group or not check(candidate, edges):
        return None
    return NodeUnit(
        target=node,
        inputs=tuple(_outer_input(name, dequantizers) for name in node.inputs),
        outputs=tuple(_outer_output(name, quantizers) for name in last.outputs),
        dequantizers=dequantizers,
        quantizers=quantizers,
        clip=clip,
    )


def _outer_input(name: str, dequantizers: tuple[Node, ...]) -> Port:
    for node in dequantizers:
        if node.outputs[0] == name:
            return Port(value=node.inputs[0], quantization=_quantization(node))
    return Port(value=name)


def _outer_output(name: str, quantizers: tuple[Node, ...]) -> Port:
    for node in quantizers:
        if node.inputs[0] == name:
            return Port(value=node.outputs[0], quantization=_quantization(node))
    return Port(value=name)


def _quantization(node: Node) -> Quantization:
    return Quantization(scale=node.inputs[1], zero_point=node.inputs[2] if len(node.inputs) > 2 else "")


def _clip_behind(node: Node, edges: Edges) -> Node | None:
    """The Relu or Clip that is the only consumer of `node`, if its own output has only one consumer."""
    behind = edges.out_of[node.name]
    if len(behind) != 1 or behind[0].consumer.op not in ("Relu", "Clip"):
        return None
    clip = behind[0].consumer
    return clip if len(edges.out_of[clip.name]) == 1 and not edges.gives_output(clip) else None


def _is_redundant(clip: Node, quantizer: Node, graph: Graph) -> bool:
    """Whether rounding to the quantized range cuts off everything that `clip` would (qdq_util.cc,
    IsClipMadeRedundantByQ)."""
    scale = number(graph.value(quantizer.inputs[1]))
    has_zero_point = len(quantizer.inputs) > 2 and quantizer.inputs[2]
    zero = graph.value(quantizer.inputs[2]) if has_zero_point else Value(name="", element="uint8", shape=())
    zero_point = number(zero) if has_zero_point else 0
    limits = RANGES.get(zero.element)
    if scale is None or zero_point is None or limits is None or graph.value(quantizer.inputs[1]).rank != 0:
        return False
    if clip.op == "Relu":
        return zero_point == limits[0]
    bounds = clip_bounds(clip, graph)
    if bounds is None or scale == 0:
        return False
    lowest, highest = (_rounded(bound / scale) + int(zero_point) for bound in bounds)
    return lowest <= limits[0] and highest >= limits[1]


def _rounded(number: float) -> int:
    # In C++ a float beyond int32 becomes the lowest int32.
    return round(number) if math.isfinite(number) and abs(number) < 2**31 else -(2**31)


def clip_bounds(clip: Node, graph: Graph) -> tuple[float, float] | None:
    """Lower and upper bound of a Clip; None if one of them is not constant or not read."""
    bounds = [-LARGEST, LARGEST]
    for position, name in enumerate(("min", "max")):
        given = clip.attributes.get(name)
        if clip.since_version < 11 and isinstance(given, float):
            bounds[position] = given
        if clip.since_version >= 11 and len(clip.inputs) > position + 1 and clip.inputs[position + 1]:
            bound = number(graph.value(clip.inputs[position + 1]))
            if bound is None:
                return None
            bounds[position] = bound
    return bounds[0], bounds[1]


def number(value: Value) -> float | None:
    """The first number of a constant; None if it is not a constant or was not read."""
    if value.constant is None or not value.constant.size:
        return None
    return float(value.constant.reshape(-1)[0])


# --- which operators form a group, and when (qdq_selectors.cc) ---

Check = Callable[[NodeUnit, Edges], bool]


def _elements(unit: NodeUnit, edges: Edges) -> tuple[list[str], list[str]]:
    """Types of the dequantized inputs and of the quantized outputs."""
    graph = edges.graph
    return (
        [graph.value(node.inputs[0]).element for node in unit.dequantizers],
        [graph.value(node.outputs[0]).element for node in unit.quantizers],
    )


def _is_whole(unit: NodeUnit, edges: Edges, *, dequantized: int | None = None, may_end_in_float: bool = False) -> bool:
    """Whether all inputs come from DequantizeLinear and all outputs go to QuantizeLinear (CheckQDQNodes)."""
    expected = sum(1 for name in unit.target.inputs if name) if dequantized is None else dequantized
    if len(unit.dequantizers) != expected or not _can_be_made(unit, edges):
        return False
    if not unit.quantizers:
        return may_end_in_float
    outputs = sum(1 for name in unit.target.outputs if name)
    behind = edges.out_of[unit.target.name]
    return outputs == len(unit.quantizers) == len(behind) and not edges.gives_output(unit.target)


def _can_be_made(unit: NodeUnit, edges: Edges) -> bool:
    """Whether no node outside uses an inner value (node_unit.cc, CanCreateNodeGroup)."""
    for node in unit.dequantizers:
        if edges.gives_output(node) or len(edges.out_of[node.name]) != 1:
            return False
    if unit.clip:
        return not edges.gives_output(unit.target) and len(edges.out_of[unit.target.name]) == 1
    consumers: dict[int, set[bool]] = {}
    for edge in edges.out_of[unit.target.name]:
        consumers.setdefault(edge.output, set()).add(edge.consumer.op == QUANTIZE)
    return all(
        len(kinds) == 1 and not (True in kinds and unit.target.outputs[output] in edges.graph.outputs)
        for output, kinds in consumers.items()
    )


def _keeps_numbers(unit: NodeUnit, edges: Edges) -> bool:
    """Operators that only move numbers: scale and zero point are the same before and after."""
    if unit.clip or not _is_whole(unit, edges, dequantized=1):
        return False
    taken, given = _elements(unit, edges)
    return taken[0] == given[0] and _is_pair(unit.dequantizers[0], unit.quantizers[0], edges.graph)


def _is_pair(dequantizer: Node, quantizer: Node, graph: Graph) -> bool:
    """The same constant scalar scale and zero point in both (qdq_util.cc, IsQDQPairSupported)."""
    if len(dequantizer.inputs) != 3 or len(quantizer.inputs) != 3:
        return False
    for before, behind in zip(dequantizer.inputs[1:], quantizer.inputs[1:], strict=True):
        one, other = graph.value(before), graph.value(behind)
        if one.shape not in ((), (1,)) or other.shape not in ((), (1,)):
            return False
        if number(one) is None or number(one) != number(other) or one.element != other.element:
            return False
    return True


def _index_of_quantized(unit: NodeUnit, edges: Edges) -> bool:
    """ArgMax and ArgMin: their outputs are not quantized."""
    if unit.clip or len(unit.dequantizers) != 1 or not _can_be_made(unit, edges):
        return False
    constants = unit.dequantizers[0].inputs[1:]
    values = [edges.graph.value(name) for name in constants]
    return len(constants) == 2 and all(value.is_constant and value.shape in ((), (1,)) for value in values)


def _one_input(unit: NodeUnit, edges: Edges) -> bool:
    if not _is_whole(unit, edges, dequantized=1):
        return False
    taken, given = _elements(unit, edges)
    return taken[0] == given[0]


def _same_types(unit: NodeUnit, edges: Edges) -> bool:
    if not _is_whole(unit, edges):
        return False
    taken, given = _elements(unit, edges)
    return len({*taken, *given}) == 1


def _split(unit: NodeUnit, edges: Edges) -> bool:
    if unit.clip or not _is_whole(unit, edges, dequantized=1):
        return False
    taken, given = _elements(unit, edges)
    return len({*taken, *given}) == 1


def _clip(unit: NodeUnit, edges: Edges) -> bool:
    """Clip: its bounds may be quantized as well, or not."""
    if not 1 <= len(unit.dequantizers) <= 3 or not _is_whole(unit, edges, dequantized=len(unit.dequantizers)):
        return False
    taken, given = _elements(unit, edges)
    return taken[0] == given[0]


def _pad(unit: NodeUnit, edges: Edges) -> bool:
    """Pad: the fill value may be quantized as well, or not."""
    if not 1 <= len(unit.dequantizers) <= 2 or not _is_whole(unit, edges, dequantized=len(unit.dequantizers)):
        return False
    taken, given = _elements(unit, edges)
    return len({*taken, given[0]}) == 1


def _convolution(unit: NodeUnit, edges: Edges) -> bool:
    if not _is_whole(unit, edges):
        return False
    taken, given = _elements(unit, edges)
    if taken[0] != given[0] or (taken[0] == "int8" and taken[1] != "int8"):
        return False
    return len(taken) < 3 or taken[2] == "int32"


def _matmul(unit: NodeUnit, edges: Edges) -> bool:
    if not unit.quantizers or len(unit.dequantizers) != 2 or not _is_whole(unit, edges):
        return False
    taken, given = _elements(unit, edges)
    return taken[0] == given[0] and not (taken[0] == "int8" and taken[1] != "int8")


def _gemm(unit: NodeUnit, edges: Edges) -> bool:
    """Gemm: its output may stay float."""
    if not _is_whole(unit, edges, may_end_in_float=True):
        return False
    taken, given = _elements(unit, edges)
    if (taken[0] == "int8" and taken[1] != "int8") or (given and taken[0] != given[0]):
        return False
    return len(taken) < 3 or (unit.target.attributes.get("beta", 1.0) == 1.0 and taken[2] == "int32")


def _normalization(unit: NodeUnit, edges: Edges) -> bool:
    if not unit.quantizers or not _is_whole(unit, edges):
        return False
    taken, given = _elements(unit, edges)
    return taken[0] == given[0] and (len(taken) < 3 or taken[2] == "int32")


def _batch_normalization(unit: NodeUnit, edges: Edges) -> bool:
    if not _is_whole(unit, edges, dequantized=3):
        return False
    taken, given = _elements(unit, edges)
    return taken[0] == given[0] and not (taken[0] == "int8" and taken[1] != "int8")


def _comparison(unit: NodeUnit, edges: Edges) -> bool:
    if not _is_whole(unit, edges, may_end_in_float=True):
        return False
    taken, _ = _elements(unit, edges)
    return taken[0] == taken[1]


def _where(unit: NodeUnit, edges: Edges) -> bool:
    if not _is_whole(unit, edges, dequantized=2):
        return False
    taken, given = _elements(unit, edges)
    return len({*taken, *given}) == 1


def _top_k(unit: NodeUnit, edges: Edges) -> bool:
    if unit.clip or len(unit.dequantizers) != 1 or len(unit.quantizers) != 1 or not _can_be_made(unit, edges):
        return False
    taken, given = _elements(unit, edges)
    return taken[0] == given[0] and _is_pair(unit.dequantizers[0], unit.quantizers[0], edges.graph)


_BY_CHECK: Mapping[Check, str] = {
    _keeps_numbers: "Gather GatherElements Reshape Expand Flatten Transpose MaxPool Resize Squeeze Unsqueeze Tile",
    _index_of_quantized: "ArgMax ArgMin",
    _one_input: "AveragePool GlobalAveragePool GlobalMaxPool LeakyRelu ReduceMean ReduceMin ReduceMax ReduceProd "
    "ReduceSum Relu Gelu Elu HardSigmoid HardSwish Sigmoid Slice LogSoftmax Softmax Sqrt Atan Asin Sin Cos Sign Tanh "
    "Exp Log LRN Ceil Floor Round Abs Neg DepthToSpace SpaceToDepth LpNormalization",
    _same_types: "Add Div Mul Pow Sub PRelu GridSample Concat Max Min",
    _split: "Split",
    _clip: "Clip",
    _pad: "Pad",
    _convolution: "Conv ConvTranspose",
    _matmul: "MatMul",
    _gemm: "Gemm",
    _normalization: "InstanceNormalization LayerNormalization",
    _batch_normalization: "BatchNormalization",
    _comparison: "Equal Greater GreaterOrEqual Less LessOrEqual",
    _where: "Where",
    _top_k: "TopK",
}
SELECTORS: Mapping[str, Check] = {op: check for check, ops in _BY_CHECK.items() for op in ops.split()}
"""Operator -> the condition under which the nodes around it form a group with it."""
