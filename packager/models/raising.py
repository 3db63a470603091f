"""Raises a model to a newer operator set: ONNX's converter of versions, between rules for what it converts wrongly.

The converter gives Resize before opset 11 the coordinates of today, keeps the axis of Hardmax, which flattened before
opset 13, and writes files that do not open. The rules hold in branches and loop bodies, too. Whoever raises a model
compares the result with the original.
"""

import re
from typing import TYPE_CHECKING

from packager.core.errors import ModelError
from packager.graph import traversal
from packager.models.older import STANDARD, Nodes, place_resized, rewrite
from packager.models.shapes import infer_shapes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

RESIZE_WITH_COORDINATES = 11
"""First opset whose Resize says how it computes coordinates."""
WITHOUT_EQUIVALENT = {"Scan": (8, "its first version has an axis for the batch")}
"""Operator -> last opset in which it means something that no newer one does, and what."""

UNADAPTED = re.compile(r"No Adapter From Version \$?\d+ for")


def opset_of(proto: "ModelProto") -> int:
    """The version of ONNX's own operators; 0 without any."""
    return max((each.version for each in proto.opset_import if each.domain in STANDARD), default=0)


def raised(proto: "ModelProto", opset: int) -> "ModelProto":
    """A copy of `proto` in `opset`, which is 13 or later, with the same inputs and outputs; `proto` itself if it is not
    older.

    Raises ModelError with the reason, and the name of the operator, for a model that cannot be converted.
    """
    declared = opset_of(proto)
    if declared >= opset:
        return proto
    made = _without_functions(proto)
    try:
        _refuse_others(made, declared)
        rewrite(made.graph, Nodes(made), declared)
        graph = _converted(made, opset)
    except ValueError as error:
        raise ModelError(
            f"the model cannot be converted from opset {declared} to {opset}: {error}",
            hint=f"export it with opset_version={opset} or later",
        ) from error
    _replace(made, graph, opset)
    if declared < RESIZE_WITH_COORDINATES:
        place_resized(made.graph, Nodes(made), {})
    return infer_shapes(made)


def _without_functions(proto: "ModelProto") -> "ModelProto":
    """A copy with the nodes of functions in the graph: the converter drops functions."""
    import onnx.inliner

    if proto.functions:
        return onnx.inliner.inline_local_functions(proto)
    made = type(proto)()
    made.CopyFrom(proto)
    return made


def _refuse_others(proto: "ModelProto", opset: int) -> None:
    if proto.functions:
        raise ValueError("it has functions in another opset")
    for node in traversal.all_nodes(proto):
        last, difference = WITHOUT_EQUIVALENT.get(node.op_type, (0, ""))
        if node.domain in STANDARD and opset <= last:
            raise ValueError(f"operator {node.op_type} of opset {opset} has no equivalent: {difference}")


def _converted(proto: "ModelProto", opset: int) -> "GraphProto":
    """The graph that ONNX's converter makes. Raises ValueError with the reason if it cannot."""
    from onnx import defs, shape_inference, version_converter

    try:
        return version_converter.convert_version(proto, opset).graph
    except (
        RuntimeError,
        ValueError,
        IndexError,
        version_converter.ConvertError,
        shape_inference.InferenceError,
    ) as error:
        used = {node.op_type for node in traversal.all_nodes(proto) if node.domain in STANDARD}
        unknown = ", ".join(sorted(name for name in used if not defs.has(name)))
        reason = UNADAPTED.sub("ONNX's converter cannot convert operator", str(error).strip().partition("\n")[0])
        raise ValueError(
            f"ONNX knows no operator {unknown}" if unknown else reason.rpartition(" failed: ")[2]
        ) from error


def _replace(proto: "ModelProto", graph: "GraphProto", opset: int) -> None:
    """Makes `graph` that of `proto`, without changing how it is called. Types of values may have changed, and are
    dropped."""
    for converted, own in ((graph.input, proto.graph.input), (graph.output, proto.graph.output)):
        del converted[:]
        converted.extend(own)
    proto.graph.CopyFrom(graph)
    for each in traversal.all_graphs(proto):
        del each.value_info[:]
    for entry in proto.opset_import:
        if entry.domain in STANDARD:
            entry.version = opset
