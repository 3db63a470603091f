"""Selects the nodes of a graph that compute with quantized values, and the values to quantize for them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packager.core.quantized import Range
from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.layers import LIMITING, WeightedLayer, is_excluded, limit_behind
from packager.graph.rewriting.schemes import Scheme, Scope
from packager.graph.rewriting.softmax import bounded

if TYPE_CHECKING:
    from onnx import NodeProto

JOINING = ("Add", "Mul", "AveragePool", "GlobalAveragePool", "LeakyRelu", "Sigmoid", "Concat")
"""Operators with 8-bit kernels in ONNX Runtime's CPU provider, each value with a scale of its own."""

PASSING = (
    "MaxPool",
    "Reshape",
    "Transpose",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
    "Slice",
    "Gather",
    "DepthToSpace",
    "SpaceToDepth",
    "Resize",
    "Split",
    "Expand",
    "Tile",
)
"""Operators whose outputs are input values, or between them: outputs have the scale of the input."""

MORE = (
    *(
        "Sub",
        "Div",
        "Softmax",
        "LayerNormalization",
        "HardSwish",
        "HardSigmoid",
        "Gelu",
        "Tanh",
        "Elu",
        "PRelu",
        "Relu",
    ),
    *("Clip", "MatMul", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "Where", "Pow", "Sqrt", "Min", "Max"),
    *(
        "InstanceNormalization",
        "LpNormalization",
        "Pad",
        "Abs",
        "Neg",
        "Exp",
        "Log",
        "Erf",
        "Sin",
        "Cos",
        "GlobalMaxPool",
    ),
)
"""Further operators that neural processors compute with quantized values (QNN's operator list in
onnxruntime/core/providers/qnn/builder/op_builder_factory.cc)."""

FLOAT_OUTPUT = ("MatMul",)
"""Layers whose CPU kernel returns float if no consumer is quantized: one rounding less (MatMulIntegerToFloat)."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A node with quantized inputs and outputs."""

    node: "NodeProto"
    takes: tuple[str, ...]
    """computed inputs that are quantized"""
    constants: tuple[str, ...] = ()
    """constant inputs, quantized like activations"""
    gives: tuple[str, ...] = ()
    """outputs that are quantized; empty if they are float"""
    layer: WeightedLayer | None = None
    limit: "NodeProto | None" = None


@dataclass
class Selection:
    units: list[Unit] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)
    """quantized output of a unit -> the value whose scale it has, mostly itself"""
    ranges: dict[str, Range] = field(default_factory=dict)
    """of every value whose scale a unit needs, if ranges are known"""
    refused: dict[str, str] = field(default_factory=dict)
    """name of a layer -> why it cannot be a unit, in words"""


def select(
    draft: Draft,
    layers: Sequence[WeightedLayer],
    schemes: Mapping[str, Scheme],
    scope: Scope,
    exclude: Collection[str] = (),
) -> Selection:
    """The units of `draft` if the layers named in `schemes` compute with quantized activations. Without such layers
    there are none; nodes named in `exclude` are not units either.

    Without `draft.ranges` every value counts as having one: that is how calibration finds out what to measure.
    """
    chosen = {
        layer.node.output[0]: layer
        for layer in layers
        if (scheme := schemes.get(layer.name)) and scheme.activations is not None
    }
    if any(scheme.activations in ("int8", "uint8") for scheme in schemes.values()):
        draft.ranges = bounded(draft, PASSING)
    selection = Selection()
    # A layer with quantized weights only must not become a unit as an operator.
    done = {layer.node.output[0] for layer in layers if layer.node.output[0] not in chosen}
    done |= {name for node in draft.graph.node if is_excluded(node, exclude) for name in node.output}
    for node in draft.graph.node if chosen else ():
        if layer := chosen.get(node.output[0] if node.output else ""):
            _select_layer(draft, layer, scope, selection)
        elif node.domain in ("", "ai.onnx") and node.output and node.output[0] not in done:
            _select_other(draft, node, scope, selection)
        done |= {unit.limit.output[0] for unit in selection.units[-1:] if unit.limit is not None}
    found = {name: range_of(draft, name) for name in values_to_measure(selection)}
    selection.ranges = {name: each for name, each in found.items() if each is not None}
    return selection


def values_to_measure(selection: Selection) -> tuple[str, ...]:
    """The values whose ranges the units need, in order."""
    names = dict.fromkeys(selection.made.get(name, name) for unit in selection.units for name in unit.takes)
    names |= dict.fromkeys(selection.made[name] for unit in selection.units for name in unit.gives)
    return tuple(names)


def _select_layer(draft: Draft, layer: WeightedLayer, scope: Scope, selection: Selection) -> None:
    gives_float = scope == "kernels" and layer.node.op_type in FLOAT_OUTPUT
    gives = () if gives_float else (layer.output,)
    for name in (layer.value, *gives):
        if not _has_range(draft, selection.made.get(name, name)):
            selection.refused[layer.name] = (
                f"no range of '{name}' was measured" if draft.ranges else f"'{name}' may not be float32"
            )
            return
    limit = None if gives_float else layer.limit
    unit = Unit(node=layer.node, takes=(layer.value,), gives=gives, layer=layer, limit=limit)
    selection.units.append(unit)
    selection.made.update({name: name for name in gives})


def _select_other(draft: Draft, node: "NodeProto", scope: Scope, selection: Selection) -> None:
    """Adds a node without weights if it can work on quantized values."""
    if node.op_type in PASSING:
        _select_passing(draft, node, selection)
    elif node.op_type in JOINING or (scope == "all" and node.op_type in MORE):
        _select_joining(draft, node, scope, selection)


def _select_passing(draft: Draft, node: "NodeProto", selection: Selection) -> None:
    value = node.input[0]
    if value not in selection.made or (node.op_type == "MaxPool" and (draft.opset < 12 or len(node.output) > 1)):
        return
    if node.op_type == "Resize" and not _keeps_limits(node):
        return
    gives = tuple(name for name in node.output if name)
    selection.units.append(Unit(node=node, takes=(value,), gives=gives))
    selection.made.update(dict.fromkeys(gives, selection.made[value]))


def _keeps_limits(node: "NodeProto") -> bool:
    """Whether outputs stay within the input's range: cubic interpolation overshoots, and values outside may be
    arbitrary."""
    words = {each.name: each.s for each in node.attribute if each.type == each.STRING}
    is_cubic = words.get("mode") == b"cubic"
    return not is_cubic and words.get("coordinate_transformation_mode") != b"tf_crop_and_resize"


def _select_joining(draft: Draft, node: "NodeProto", scope: Scope, selection: Selection) -> None:
    operands = tuple(name for name in node.input if name)
    if node.op_type in ("LayerNormalization", "InstanceNormalization", "Clip", "Pad", "ReduceSum", "ReduceMean"):
        operands = operands[:1]  # the others are parameters
    constants = tuple(name for name in operands if name in draft.constants)
    takes = tuple(dict.fromkeys(name for name in operands if name not in draft.constants))
    if not takes or any(not _is_float_constant(draft, name) for name in constants):
        return
    is_reached = all(name in selection.made for name in takes)
    if scope == "kernels" and not is_reached:
        return
    if node.op_type == "Sigmoid" and scope == "kernels" and node.output[0] in draft.outputs:
        return  # 1/256 is coarse for a probability that an app compares with a threshold
    limit = limit_behind(draft, node.output[0]) if node.op_type not in LIMITING else None
    (output,) = (limit or node).output[:1]
    if not all(_has_range(draft, selection.made.get(name, name)) for name in (*takes, output)):
        return
    selection.units.append(Unit(node=node, takes=takes, constants=constants, gives=(output,), limit=limit))
    selection.made[output] = output


def _is_float_constant(draft: Draft, name: str) -> bool:
    tensor = draft.constants[name]
    return tensor.data_type == tensor.FLOAT and 0 not in tensor.dims


def range_of(draft: Draft, name: str) -> Range | None:
    """The range of `name`, or of the value it was passed on from, which is as wide."""
    while name not in draft.ranges:
        node = draft.producers.get(name)
        if node is None or node.op_type not in PASSING:
            return None
        name = node.input[0]
    return draft.ranges[name]


def _has_range(draft: Draft, name: str) -> bool:
    return range_of(draft, name) is not None if draft.ranges else draft.is_float(name)
