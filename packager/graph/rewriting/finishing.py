"""Finishes a rewritten model: constants in one place, nothing unused, matching operator sets."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.constants import fed_inputs

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

FIRST_WITH_OWN_INITIALIZERS = 4
"""First IR version in which an initializer need not also be an input (ONNX IR, section Graphs)."""


def drop_unused(proto: "ModelProto") -> None:
    """Drops unused constants, and types of removed values. Defaults of inputs stay."""
    graph = proto.graph
    free_initializers(proto)
    taken = {name for node in graph.node for name in traversal.taken_by(node)}
    taken |= {value.name for value in (*graph.output, *graph.input)}
    kept = [tensor for tensor in graph.initializer if tensor.name in taken]
    if len(kept) < len(graph.initializer):
        del graph.initializer[:]
        graph.initializer.extend(kept)
    alive = taken | {name for node in graph.node for name in node.output}
    described = [value for value in graph.value_info if value.name in alive]
    del graph.value_info[:]
    graph.value_info.extend(described)


def free_initializers(proto: "ModelProto") -> None:
    """Removes constants from the inputs of an old model: new ones are not among the inputs, and no app feeds the old
    ones."""
    if proto.ir_version >= FIRST_WITH_OWN_INITIALIZERS:
        return
    graph = proto.graph
    inputs = fed_inputs(graph)
    del graph.input[:]
    graph.input.extend(inputs)
    proto.ir_version = FIRST_WITH_OWN_INITIALIZERS


def external_tensors(proto: "ModelProto") -> "Iterator[tuple[TensorProto, bool]]":
    """Every tensor whose data lie in a file, and whether it is a constant of the main graph."""
    for tensor in proto.graph.initializer:
        if tensor.data_location == tensor.EXTERNAL:
            yield tensor, True
    for node in traversal.all_nodes(proto):
        for each in node.attribute or ():
            inner = [each.t] if each.HasField("t") else []
            for graph in (*([each.g] if each.HasField("g") else []), *each.graphs):
                inner += graph.initializer
            yield from ((tensor, False) for tensor in inner if tensor.data_location == tensor.EXTERNAL)


def sort_opsets(proto: "ModelProto") -> None:
    """Sorts the operator sets, without domains that no node uses; ONNX Runtime writes all that it knows."""
    used = {node.domain if node.domain != "ai.onnx" else "" for node in traversal.all_nodes(proto)}
    used |= {function.domain for function in proto.functions}
    entries = {("" if each.domain == "ai.onnx" else each.domain): each.version for each in proto.opset_import}
    del proto.opset_import[:]
    for domain in sorted(entries):
        if domain in used or domain == "":
            proto.opset_import.add(domain=domain, version=entries[domain])


def constant_of(node: "NodeProto") -> "TensorProto | None":
    """The tensor of a Constant node; None for strings and sparse tensors."""
    import numpy
    from onnx import numpy_helper

    (attribute,) = node.attribute
    match attribute.name:
        case "value":
            tensor: TensorProto = attribute.t
            return tensor
        case "value_float" | "value_floats":
            number = attribute.f if attribute.name == "value_float" else list(attribute.floats)
            return numpy_helper.from_array(numpy.array(number, numpy.float32))
        case "value_int" | "value_ints":
            number = attribute.i if attribute.name == "value_int" else list(attribute.ints)
            return numpy_helper.from_array(numpy.array(number, numpy.int64))
    return None
