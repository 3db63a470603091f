"""Finds the layers of a graph, which have weights: their inputs, weights and outputs."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.core.contract import ADDED
from packager.graph import traversal
from packager.graph.rewriting.draft import Draft

if TYPE_CHECKING:
    from onnx import NodeProto

WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
LIMITING = ("Relu", "Clip")
"""Activations that the limits of a quantized value can replace."""
EXCLUDED = "excluded by the configuration"


@dataclass(frozen=True, kw_only=True)
class WeightedLayer:
    """A node that multiplies a computed value with a constant weight."""

    name: str
    node: "NodeProto"
    value: str
    """its computed input"""
    weight: str
    axis: int | None
    """of the weight, along its output channels; None if no single axis holds them"""
    bias: str = ""
    limit: "NodeProto | None" = None
    """the Relu or Clip that is the only consumer of its output"""

    @property
    def output(self) -> str:
        """The output of the layer, after its limit."""
        return str((self.limit or self.node).output[0])


@dataclass(frozen=True, kw_only=True)
class Unfit:
    """A node of a kind that has weights, and why it must stay unchanged."""

    name: str
    node: "NodeProto"
    reason: str


def name_of(node: "NodeProto") -> str:
    """Name of a node, or of its first output: exporters omit names."""
    return node.name or next((name for name in node.output if name), "")


def layers(draft: Draft, operators: Collection[str] = WEIGHTED) -> Iterator[WeightedLayer | Unfit]:
    """The layers of the main graph, in its order, each with a unique name."""
    seen: set[str] = set()
    for node in draft.graph.node:
        if node.op_type in operators and node.domain in ("", "ai.onnx") and not is_added(node):
            name = name_of(node) if name_of(node) not in seen else str(node.output[0])
            seen.add(name)
            yield _layer(draft, node, name)


def fit_layers(
    draft: Draft, exclude: Collection[str], operators: Collection[str] = WEIGHTED, *, leaves_inner: bool = True
) -> list[WeightedLayer]:
    """The layers of the main graph that can be quantized and are not in `exclude`; records the others, including those
    in functions and, with `leaves_inner`, in subgraphs, in `draft.left`.

    Raises ConfigError for a name in `exclude` that no node has.
    """
    draft.refuse_unknown(exclude)
    fit = [layer for each in layers(draft, operators) if (layer := _fit(draft, each, exclude))]
    leave_inner(draft, operators, in_functions_only=not leaves_inner)
    return fit


def inner_layer(
    draft: Draft, node: "NodeProto", exclude: Collection[str], operators: Collection[str]
) -> WeightedLayer | None:
    """The layer that `node` of a branch or loop is, with a weight of the main graph; None if it is none. Records in
    `draft.left` why one stays as it is."""
    if node.op_type not in operators or node.domain not in ("", "ai.onnx") or is_added(node):
        return None
    return _fit(draft, _layer(draft, node, name_of(node)), exclude)


def _fit(draft: Draft, layer: WeightedLayer | Unfit, exclude: Collection[str]) -> WeightedLayer | None:
    if isinstance(layer, Unfit):
        draft.leave(layer.node, layer.reason, layer.name)
    elif layer.name in exclude or layer.node.output[0] in exclude:
        draft.leave(layer.node, EXCLUDED, layer.name)
    else:
        return layer
    return None


def leave_inner(draft: Draft, operators: Collection[str], *, in_functions_only: bool = False) -> None:
    """Records the nodes of `operators` in branches, loops and functions, which stay unchanged."""
    for node in () if in_functions_only else draft.graph.node:
        for graph in traversal.subgraphs(node):
            _leave_all(draft, graph.node, operators, f"it is inside {node.op_type} '{name_of(node)}'")
    for function in draft.proto.functions:
        _leave_all(draft, function.node, operators, f"it is inside function '{function.name}'")


def _leave_all(draft: Draft, nodes: "Iterable[NodeProto]", operators: Collection[str], reason: str) -> None:
    for node in nodes:
        if node.op_type in operators and node.domain in ("", "ai.onnx"):
            draft.leave(node, reason)
        for graph in traversal.subgraphs(node):
            _leave_all(draft, graph.node, operators, reason)


def is_excluded(node: "NodeProto", exclude: Collection[str]) -> bool:
    """Whether `exclude` has its name, or that of one of its outputs. Nodes that a contract added are always
    excluded."""
    return is_added(node) or is_named(node, exclude)


def is_named(node: "NodeProto", names: Collection[str]) -> bool:
    """Whether `names` has its name, or that of one of its outputs."""
    return any(name in names for name in (node.name, *node.output) if name)


def is_added(node: "NodeProto") -> bool:
    """Whether it belongs to the contract and not to the model: pixels, rates and boxes need full precision."""
    return bool(node.name.startswith(ADDED))


def has_foldable_weights(draft: Draft) -> bool:
    """Whether a layer's weights are computed from constants only: after constant folding it can be quantized."""
    known = set(draft.constants) | {""}
    for node in draft.graph.node:
        is_layer = node.op_type in (*WEIGHTED, "LSTM") and node.domain in ("", "ai.onnx")
        if is_layer and any(name not in draft.constants and name in known for name in node.input[1:3] if name):
            return True
        if not node.op_type.startswith("Random") and all(name in known for name in traversal.taken_by(node)):
            known.update(node.output)
    return False


def names_of(layers: Iterable[WeightedLayer]) -> list[str]:
    return [layer.name for layer in layers]


def attribute(node: "NodeProto", name: str, default: float) -> float:
    """The value of attribute `name`, or `default`."""
    for each in node.attribute:
        if each.name == name:
            return float(each.f if each.type == each.FLOAT else each.i)
    return default


def limit_behind(draft: Draft, output: str) -> "NodeProto | None":
    """The Relu or Clip with constant limits that is the only consumer of `output`."""
    consumers = draft.consumers.get(output, [])
    if len(consumers) != 1 or output in draft.outputs or consumers[0].op_type not in LIMITING:
        return None
    (node,) = consumers
    is_constant = all(name in draft.constants for name in node.input[1:] if name)
    return node if node.input[0] == output and is_constant else None


def _layer(draft: Draft, node: "NodeProto", name: str) -> WeightedLayer | Unfit:
    value, weight, *rest = node.input
    bias = rest[0] if rest else ""
    if reason := _unfit(draft, node, weight, bias):
        return Unfit(name=name, node=node, reason=reason)
    return WeightedLayer(
        name=name,
        node=node,
        value=value,
        weight=weight,
        axis=_axis(draft, node, weight),
        bias=bias,
        limit=limit_behind(draft, node.output[0]),
    )


def _unfit(draft: Draft, node: "NodeProto", weight: str, bias: str) -> str:
    from onnx import TensorProto

    constants = draft.constants
    if weight not in constants:
        if node.input[0] in constants:
            return "its weights are the first operand"
        if any(weight == tensor.name for tensor in draft.graph.initializer):
            return "its weights are also an input, and only its default"
        return "multiplies two computed values" if node.op_type == "MatMul" else "its weights are computed"
    if node.input[0] in constants:
        return "multiplies constants"
    if constants[weight].data_type != TensorProto.FLOAT:
        return "its weights are not float32"
    if 0 in constants[weight].dims:
        return "its weights are empty"
    if len(constants[weight].dims) < 2:
        return "its weights are a vector"
    if bias and bias not in constants:
        return "its bias is computed"
    if node.op_type == "Gemm" and (attribute(node, "alpha", 1.0), attribute(node, "beta", 1.0)) != (1.0, 1.0):
        return "alpha or beta is not 1"
    if node.op_type == "Gemm" and bias and not _is_by_column(draft, node, weight, bias):
        return "its bias is not one number per column"
    return ""


def _is_by_column(draft: Draft, node: "NodeProto", weight: str, bias: str) -> bool:
    """Whether the bias has the shape (columns) or (1, columns), as an Add that was merged into a Gemm leaves it."""
    *rows, columns = draft.constants[bias].dims or [0]
    return columns == _columns(draft, node, weight) and all(each == 1 for each in rows)


def _columns(draft: Draft, node: "NodeProto", weight: str) -> int:
    return int(draft.constants[weight].dims[0 if attribute(node, "transB", 0) else 1])


def _axis(draft: Draft, node: "NodeProto", weight: str) -> int | None:
    match node.op_type:
        case "Conv":
            return 0
        case "ConvTranspose":  # its weight is (in, out / group, ...)
            return 1 if attribute(node, "group", 1) == 1 else None
        case "Gemm":
            return 0 if attribute(node, "transB", 0) else 1
    return 1 if len(draft.constants[weight].dims) == 2 else None
