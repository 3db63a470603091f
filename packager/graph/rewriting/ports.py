"""Removes the conversions at the inputs and outputs of a quantized graph, for callers that use integers themselves."""

import json
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.rewriting.draft import Draft

if TYPE_CHECKING:
    from onnx import NodeProto, ValueInfoProto

METADATA = "quantization."
"""Prefix of the metadata keys that describe the integers: `quantization.x`."""


def make_integer(draft: Draft) -> tuple[str, ...]:
    """Makes inputs integers if they are quantized before anything else takes them, and outputs if they are dequantized
    last. Returns their names.

    The metadata of the model describe the integers, as JSON: (q - zero-point) * scale.
    """
    made = [value for value in draft.graph.input if _take_off_first(draft, value)]
    made += [value for value in draft.graph.output if _take_off_last(draft, value)]
    return tuple(value.name for value in made)


def _take_off_first(draft: Draft, value: "ValueInfoProto") -> bool:
    """Makes input `value` integer if a single QuantizeLinear is its only consumer."""
    consumers = draft.consumers.get(value.name, [])
    if len(consumers) != 1 or consumers[0].op_type != "QuantizeLinear" or value.name in draft.outputs:
        return False
    (node,) = consumers
    _describe(draft, value, node)
    _rename_taken(draft, node.output[0], value.name)
    _drop(draft, node)
    return True


def _take_off_last(draft: Draft, value: "ValueInfoProto") -> bool:
    """Makes output `value` integer if it comes from a DequantizeLinear and nothing else takes it."""
    node = draft.producers.get(value.name)
    if node is None or node.op_type != "DequantizeLinear" or value.name in draft.consumers:
        return False
    maker = draft.producers.get(node.input[0])
    if maker is None:  # a constant, or an input
        return False
    _describe(draft, value, node)
    quantized = node.input[0]
    node.output[0] = draft.unique(f"{value.name}_gone")  # its name now belongs to its producer
    maker.output[:] = [value.name if name == quantized else name for name in maker.output]
    _rename_taken(draft, quantized, value.name)
    _drop(draft, node)
    return True


def _describe(draft: Draft, value: "ValueInfoProto", node: "NodeProto") -> None:
    """Gives `value` the integer type of `node`, and records how to interpret its integers."""
    scale, zero = (draft.weight(name).array() for name in node.input[1:3])
    value.type.tensor_type.elem_type = draft.constants[node.input[2]].data_type
    said = {"scale": float(scale), "zero-point": int(zero), "element": zero.dtype.name}
    draft.proto.metadata_props.add(key=f"{METADATA}{value.name}", value=json.dumps(said))


def _rename_taken(draft: Draft, old: str, new: str) -> None:
    for node in draft.graph.node:
        if old in traversal.taken_by(node):
            node.input[:] = [new if name == old else name for name in node.input]


def _drop(draft: Draft, gone: "NodeProto") -> None:
    name = gone.output[0]
    draft.replace_nodes([node for node in draft.graph.node if not node.output or node.output[0] != name])
