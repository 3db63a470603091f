"""Predicts which nodes the NNAPI provider would take, in which partitions, and why it leaves the others.

Written from nnapi_execution_provider.cc, builders/helper.cc and builders/impl/base_op_builder.cc of ONNX Runtime in
core/providers/nnapi/nnapi_builtin/.
"""

from collections.abc import Mapping, Sequence, Set

from packager.graph.view import Graph, Node
from packager.verification.partition.groups import partitions
from packager.verification.partition.nnapi import quantized
from packager.verification.partition.nnapi.operators import RULES, Rule, level_of
from packager.verification.partition.nnapi.view import LEVEL_1, View
from packager.verification.partition.node_units import node_units
from packager.verification.partition.rules import Prediction
from packager.verification.partition.unit import NodeUnit

BY = "NNAPI provider of ONNX Runtime 1.29"
NEWEST = 28
"""The newest form of an operator that is taken (GetMaxSupportedOpSet); ONNX Runtime 1.29 itself ends at 26."""
STOPS = frozenset(("NonMaxSuppression",))
"""Nothing after these is taken (kDefaultPartitioningStopOps)."""
JUST_COPIES = frozenset(("Reshape", "Flatten", "Identity"))
"""Not worth a partition of their own (IsValidSupportedNodeGroup)."""
ONLY_INSIDE = frozenset(("Transpose", "Resize", "Concat", "MaxPool"))
"""Taken for uint8 numbers only after nodes of the same partition, which provide scale and zero point."""


def predict(graph: Graph, *, feature_level: int = 31, use_nchw: bool = False) -> Prediction:
    """Predicts which nodes of `graph` NNAPI takes on a device of `feature_level`: 27 (Android 8.1) to 31 (Android 12
    and later).

    `graph` is one that ONNX Runtime saved after its basic rewrites, because these give each operator DequantizeLinear
    nodes of its own. USE_FP16, CPU_DISABLED and CPU_ONLY make no difference. Without `use_nchw` ONNX Runtime rewrites
    the taken nodes to NHWC and asks again; pairs of Transposes that this removes can join partitions that are two here.
    """
    units = node_units(graph)
    refused = _refused(units, graph, feature_level=feature_level, use_nchw=use_nchw)
    supported = {unit.target.name for unit in units} - set(refused)
    cut = partitions(graph, supported, units=units, joins=lambda unit, made: not _outside(unit, made, graph))
    nodes = {node.name: node for node in graph.nodes}
    dropped = {
        name: f"{nodes[name].op}: {reason}"
        for names in cut
        if (reason := _not_worth_it([nodes[name] for name in names], graph))
        for name in names
    }
    kept = tuple(names for names in cut if names[0] not in dropped)
    taken = {name for names in kept for name in names}
    left = {
        node.name: dropped.get(node.name) or refused.get(unit.target.name) or _kept_out(unit, graph)
        for unit in units
        for node in unit.nodes
        if node.name not in taken
    }
    return Prediction(partitions=kept, left=left, by=BY)


def _refused(units: Sequence[NodeUnit], graph: Graph, *, feature_level: int, use_nchw: bool) -> Mapping[str, str]:
    """Target of a unit that is left in any surroundings -> why."""
    behind_stop = _behind_stops(graph)
    found: dict[str, str] = {}
    for unit in units:
        view = View(unit=unit, graph=graph, feature_level=feature_level, use_nchw=use_nchw)
        stop = behind_stop.get(unit.target.name)
        if reason := f"no node from {stop} on is supported" if stop else why_not(view):
            found[unit.target.name] = f"{view.kind}: {reason}"
    return found


def why_not(view: View) -> str:
    """Why the provider would not take a unit, or empty."""
    rule = RULES.get(view.op)
    if view.feature_level < LEVEL_1:
        return f"feature level {view.feature_level} is below {LEVEL_1}, the first with NNAPI"
    if rule is None:
        return "operator not supported"
    if level_of(rule, view) > view.feature_level:
        return f"requires feature level {level_of(rule, view)}, the device has {view.feature_level}"
    if view.unit.is_group and view.op not in quantized.GROUPS:
        return "not supported between DequantizeLinear and QuantizeLinear"
    return _shapes(view) or rule.types(view) or _form(rule, view) or _details(rule, view)


def _shapes(view: View) -> str:
    """HasSupportedInputOutputs in base_op_builder.cc; it does not check the shapes of outputs."""
    for index, port in enumerate(view.unit.inputs):
        if not port.value:
            continue
        quantization = port.quantization
        about = (quantization.scale, quantization.zero_point) if quantization else ()
        for value in map(view.graph.value, (port.value, *filter(None, about))):
            if value.shape is None:
                return f"input {index} has an unknown shape"
            if value.sizes is None:
                return f"input {index} must have a static shape"
    return ""


def _form(rule: Rule, view: View) -> str:
    if 0 < view.since < rule.since:  # 0 if the file does not say
        return f"opset {view.since} of the operator is older than {rule.since}"
    return f"opset {view.since} of the operator is newer than {NEWEST}" if view.since > NEWEST else ""


def _details(rule: Rule, view: View) -> str:
    lowest, highest = rule.ranks
    if not lowest <= view.rank() <= highest:
        wanted = str(lowest) if lowest == highest else f"{lowest} to {highest}"
        return f"input 0 has {view.rank()} dimensions, not {wanted}"
    return rule.check(view)


def _behind_stops(graph: Graph) -> Mapping[str, str]:
    """Node -> the operator at or before it from which on nothing is taken."""
    found: dict[str, str] = {}
    for node in graph.nodes:
        before = [found[each.name] for each in graph.connections.sources(node) if each.name in found]
        if node.op in STOPS or before:
            found[node.name] = before[0] if before else node.op
    return found


def _outside(unit: NodeUnit, made: Set[str], graph: Graph) -> str:
    """The uint8 input that keeps `unit` out of a partition that computes `made`, or empty."""
    node = unit.target
    if unit.is_group or node.op not in ONLY_INSIDE or graph.value(node.inputs[0]).element != "uint8":
        return ""
    asked = node.inputs if node.op == "Concat" else node.inputs[:1]
    return next((name for name in asked if name not in made), "")


def _kept_out(unit: NodeUnit, graph: Graph) -> str:
    return f"{unit.target.op}: uint8 input {_outside(unit, set(), graph)} comes from elsewhere without its scale"


def _not_worth_it(nodes: list[Node], graph: Graph) -> str:
    """Why the provider drops a partition, or empty."""
    if len(nodes) == 1 and nodes[0].op in JUST_COPIES:
        return "its partition would only copy"
    made = {name for node in nodes for name in node.outputs}
    taken = {name for node in nodes for name in node.inputs if name} - made
    return (
        "" if any(not graph.value(name).is_constant for name in taken) else "all inputs of its partition are constant"
    )
