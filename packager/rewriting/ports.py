"""Takes the conversions off the inputs and outputs of a quantized graph, for callers that have integers themselves."""

import json
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.rewriting.draft import Draft

if TYPE_CHECKING:
    from onnx import NodeProto, ValueInfoProto

METADATA = "quantization."
"""What the keys begin with under which a model says what its integers stand for: `quantization.x`."""


def make_integer(draft: Draft) -> tuple[str, ...]:
    """Makes integers of the inputs that are quantized before anything else takes them, and of the outputs that are
    dequantized last. Returns their names.

    What they stand for is in the metadata of the model, as JSON: (q - zero-point) * scale.
    """
    made = [value for value in draft.graph.input if _take_off_first(draft, value)]
    made += [value for value in draft.graph.output if _take_off_last(draft, value)]
    return tuple(value.name for value in made)


def _take_off_first(draft: Draft, value: "ValueInfoProto") -> bool:
    """Input `value` as integers, where one QuantizeLinear is all that takes it."""
    takers = draft.takers.get(value.name, [])
    if len(takers) != 1 or takers[0].op_type != "QuantizeLinear" or value.name in draft.outputs:
        return False
    (node,) = takers
    _describe(draft, value, node)
    _rename_taken(draft, node.output[0], value.name)
    _drop(draft, node)
    return True


def _take_off_last(draft: Draft, value: "ValueInfoProto") -> bool:
    """Output `value` as integers, where a DequantizeLinear gives it and nothing else takes it."""
    node = draft.producers.get(value.name)
    if node is None or node.op_type != "DequantizeLinear" or value.name in draft.takers:
        return False
    maker = draft.producers.get(node.input[0])
    if maker is None:  # a constant, or an input
        return False
    _describe(draft, value, node)
    quantized = node.input[0]
    node.output[0] = draft.unique(f"{value.name}_gone")  # the name is the maker's from now on
    maker.output[:] = [value.name if name == quantized else name for name in maker.output]
    _rename_taken(draft, quantized, value.name)
    _drop(draft, node)
    return True


def _describe(draft: Draft, value: "ValueInfoProto", node: "NodeProto") -> None:
    """Gives `value` the type that `node` converts to or from, and notes what its integers stand for."""
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
