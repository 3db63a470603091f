"""Quantizes the weights of LSTM nodes, as com.microsoft's DynamicQuantizeLSTM."""

from typing import TYPE_CHECKING

from packager.graph.rewriting.draft import MICROSOFT, Draft
from packager.graph.rewriting.layers import attribute
from packager.graph.weights.groups import Groups, per_channel
from packager.graph.weights.quantizing import quantized, weight_parameters
from packager.graph.weights.reading import Weight

if TYPE_CHECKING:
    from onnx import NodeProto


def quantized_lstm(draft: Draft, node: "NodeProto") -> "NodeProto | None":
    """The LSTM `node` with int8 weights and a scale per gate and unit; None, with a record, if it must stay.

    Both weights, (directions, 4 units, inputs), become (directions, inputs, 4 units) (DynamicQuantizeLSTM in
    docs/ContribOperators.md of ONNX Runtime).
    """
    from onnx import helper

    if reason := _unfit(draft, node):
        draft.leave(node, reason)
        return None
    draft.changed += 1
    inputs = [*node.input, *[""] * (8 - len(node.input))]
    parameters: list[str] = []
    for index in (1, 2):
        inputs[index], *names = _weight(draft, inputs[index])
        parameters += names
    kept = {each.name: helper.get_attribute_value(each) for each in node.attribute if each.name != "layout"}
    return helper.make_node(
        "DynamicQuantizeLSTM", [*inputs, *parameters], list(node.output), node.name, domain=MICROSOFT, **kept
    )


def _unfit(draft: Draft, node: "NodeProto") -> str:
    for name in node.input[1:3]:
        tensor = draft.constants.get(name)
        if tensor is None:
            return "its weights are computed"
        if tensor.data_type != tensor.FLOAT or len(tensor.dims) != 3 or 0 in tensor.dims:
            return "its weights are not float32 of three dimensions"
    return "its layout is batch first" if attribute(node, "layout", 0) else ""


def _weight(draft: Draft, name: str) -> tuple[str, str, str]:
    """Names of the integers, the scales and the zero points."""
    import numpy

    weight = draft.weight(name)
    directions, gates, inputs = weight.shape
    groups = _by_gate(weight)
    own = weight_parameters(weight, groups, "int8", is_symmetric=True, threads=draft.threads)
    parameters = draft.scales.settled(f"weight of gates:{name}", own)
    content = b"".join(quantized(weight, groups, parameters, threads=draft.threads))
    integers = numpy.frombuffer(content, numpy.int8).reshape(directions, gates, inputs).transpose(0, 2, 1)
    shape = (directions, gates)
    return (
        draft.add_large(f"{name}_quantized", numpy.ascontiguousarray(integers)),
        draft.add(f"{name}_scale", parameters.scale.reshape(shape)),
        draft.add(f"{name}_zero_point", parameters.zero_point.reshape(shape)),
    )


def _by_gate(weight: Weight) -> Groups:
    directions, gates, inputs = weight.shape
    return per_channel((directions * gates, inputs), 0)
