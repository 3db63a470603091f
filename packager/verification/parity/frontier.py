"""Perturbs floats within a model: those that it quantizes, and the first floats it computes from integers and strings.

A change in the last bits of the inputs is lost where those become integers; but a computation in another order differs
in the last bits before every QuantizeLinear.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.constants import fed_inputs
from packager.models.shapes import infer_shapes

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

ULPS = "mobpack_ulps"
"""Name of the input with the perturbation in units in the last place."""
FLOAT, FLOAT16, DOUBLE = 1, 10, 11
"""TensorProto.DataType of the floats."""
QUANTIZING = "QuantizeLinear"
LAST_PLACE = {FLOAT: 2.0**-23, FLOAT16: 2.0**-13, DOUBLE: 2.0**-52}
"""Element type -> the distance between 1 and the next number; an eighth of it for 16 bits, which are coarse."""


def shaken(model: "ModelProto") -> "ModelProto | None":
    """`model` with an additional input, `ULPS`, which perturbs values that are quantized, and its first floats; None if
    it has none of these."""
    from onnx import TensorProto, ValueInfoProto, helper

    first = first_floats(model)
    quantized = quantized_floats(model)
    if not first and not quantized:
        return None
    made = type(model)()
    made.CopyFrom(model)
    nodes: list[NodeProto] = []
    for element in sorted({*first.values(), *quantized.values()}):
        nodes += _factor(element)
    for node in made.graph.node:
        if node.op_type == QUANTIZING and node.input[0] in quantized:
            name, moved = node.input[0], f"{ULPS}_{node.output[0]}"
            nodes.append(helper.make_node("Mul", [name, f"{ULPS}_{quantized[name]}"], [moved]))
            node.input[0] = moved
        nodes.append(node)
        for place, name in enumerate(node.output):
            if name in first:
                node.output[place] = f"{ULPS}_{name}"
                nodes.append(helper.make_node("Mul", [f"{ULPS}_{name}", f"{ULPS}_{first[name]}"], [name]))
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del made.graph.node[:]
    made.graph.node.extend(copies)
    scalar: ValueInfoProto = helper.make_tensor_value_info(ULPS, TensorProto.FLOAT, [])
    made.graph.input.append(scalar)
    return made


def _factor(element: int) -> "Iterator[NodeProto]":
    """1 + ULPS * the last place, as `{ULPS}_{element}`."""
    from onnx import helper

    last, one, cast, product = (f"{ULPS}_{element}_{part}" for part in ("last", "one", "cast", "product"))
    yield helper.make_node("Cast", [ULPS], [cast], to=element)
    for name, value in ((last, LAST_PLACE[element]), (one, 1.0)):
        yield helper.make_node("Constant", [], [name], value=helper.make_tensor(name, element, [], [value]))
    yield helper.make_node("Mul", [cast, last], [product])
    yield helper.make_node("Add", [product, one], [f"{ULPS}_{element}"])


def quantized_floats(model: "ModelProto") -> dict[str, int]:
    """Inputs of QuantizeLinear in the main graph -> their element type."""
    taken = {node.input[0] for node in model.graph.node if node.op_type == QUANTIZING}
    if not taken:
        return {}
    graph = infer_shapes(model).graph
    values = (*graph.input, *graph.value_info, *graph.output)
    kinds = {each.name: each.type.tensor_type.elem_type for each in values if each.name in taken}
    return {name: kind for name, kind in kinds.items() if kind in LAST_PLACE}


def first_floats(model: "ModelProto") -> dict[str, int]:
    """Floats that are computed from inputs and from no other float -> their element type.

    A Cast is the same in any order of computation: (1 - mask) * -3e38 of BERT would make another number of each last
    bit. The floats computed from it count instead.
    """
    given = {value.name: value.type.tensor_type.elem_type for value in fed_inputs(model.graph)}
    behind = {name for name, kind in given.items() if kind in LAST_PLACE}
    varying = given.keys() - behind
    if not varying:
        return {}
    graph = infer_shapes(model).graph
    kinds = {each.name: each.type.tensor_type.elem_type for each in (*graph.value_info, *graph.output)}
    found: dict[str, int] = {}
    for node in model.graph.node:
        taken = traversal.taken_by(node)
        if taken & behind:
            behind.update(node.output)
        elif taken & varying:
            varying.update(node.output)
            if node.op_type == "Cast":
                continue
            floats = {name: kinds[name] for name in node.output if kinds.get(name) in LAST_PLACE}
            behind.update(floats)
            found |= floats
    return found
