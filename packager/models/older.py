"""Rules for operators of older opsets that ONNX's converter of versions converts wrongly, or not at all.

Most rewrite a node within its own opset, before the converter runs, as operators whose meaning has not changed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from packager.graph import traversal
from packager.graph.constants import constant_tensors
from packager.graph.names import all_names, free_name

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

STANDARD = ("", "ai.onnx")
FLOAT = 1
"""the number of float32 in ONNX"""
TO_THE_END = 2**31 - 1
"""end of a Slice that takes all"""
WITH_WHERE = 9
"""First opset with Where."""
BOOLEAN_MASK = 10
"""First opset in which the mask of Dropout is boolean."""


class Nodes:
    """Makes nodes for a model, with names that it does not have."""

    def __init__(self, proto: "ModelProto") -> None:
        self._taken = all_names(proto)

    def name(self, text: str) -> str:
        found = free_name(text, self._taken)
        self._taken.add(found)
        return found

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> "NodeProto":
        from onnx import helper

        return helper.make_node(operator, inputs, [output], name=self.name(f"{output}/{operator}"), **attributes)

    def constant(self, values: object, output: str) -> "NodeProto":
        """A Constant of float32."""
        import numpy
        from onnx import numpy_helper

        return self.node("Constant", [], output, value=numpy_helper.from_array(numpy.array(values, numpy.float32)))

    def chain(self, node: "NodeProto", *steps: tuple[Any, ...]) -> "Iterator[NodeProto]":
        """Nodes that compute the output of `node` from its first input, one after the other. A step is an operator,
        and the name or the numbers of its second operand if it has one."""
        value, output = node.input[0], node.output[0]
        for index, (operator, *operands) in enumerate(steps):
            taken = [value]
            for operand in operands:
                taken.append(operand if isinstance(operand, str) else self.name(f"{output}/constant"))
                if not isinstance(operand, str):
                    yield self.constant(operand, taken[-1])
            value = output if index == len(steps) - 1 else self.name(f"{output}/{operator}_value")
            yield self.node(operator, taken, value)


Rule = Callable[[Nodes, "NodeProto", int], "Iterator[NodeProto]"]


def rewrite(graph: "GraphProto", nodes: Nodes, opset: int) -> None:
    """Replaces the nodes of `graph`, which is in `opset`, and of the graphs in it that have a rule."""
    written: list[NodeProto] = []
    for node in graph.node:
        for inner in traversal.subgraphs(node):
            rewrite(inner, nodes, opset)
        last, rule = RULES.get(node.op_type, (0, _hardmax))
        written += rule(nodes, node, opset) if node.domain in STANDARD and opset <= last else (node,)
    del graph.node[:]
    graph.node.extend(written)


def _hardmax(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    """Replaces a Hardmax of old opsets, for which all dimensions from the axis on were one."""
    value, output = node.input[0], node.output[0]
    shape, flat, chosen = (nodes.name(f"{output}/{each}") for each in ("shape", "flat", "chosen"))
    yield nodes.node("Shape", [value], shape)
    yield nodes.node("Flatten", [value], flat, axis=int(_attribute(node, "axis", 1)))
    yield nodes.node("Hardmax", [flat], chosen, axis=1)
    yield nodes.node("Reshape", [chosen, shape], output)


def _pad(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    """The converter leaves the attribute `value` where there is no constant to pad with."""
    if _attribute(node, "mode", b"constant") != b"constant":
        kept = [each for each in node.attribute if each.name != "value"]
        del node.attribute[:]
        node.attribute.extend(kept)
    yield node


def _dropout(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    """ONNX Runtime's mask of what is dropped: nothing. Since opset 12 it is of what is kept."""
    masks = [name for name in node.output[1:] if name]
    del node.output[1:]
    yield node
    for mask in masks:
        value = node.input[0]
        yield nodes.node("Greater" if opset >= BOOLEAN_MASK else "Sub", [value, value], mask)


def _batch_normalization(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    """Without `spatial`, each element had statistics of its own."""
    if _attribute(node, "spatial", 1):
        yield node
        return
    _, scale, bias, mean, variance = node.input
    deviation = node.output[0] + "/deviation"
    around = nodes.name(f"{deviation}/epsilon")
    yield nodes.constant(_attribute(node, "epsilon", 1e-5), around)
    plus, root = nodes.name(f"{deviation}/variance"), nodes.name(deviation)
    yield nodes.node("Add", [variance, around], plus)
    yield nodes.node("Sqrt", [plus], root)
    yield from nodes.chain(node, ("Sub", mean), ("Div", root), ("Mul", scale), ("Add", bias))


def _affine(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    yield from nodes.chain(node, ("Mul", _attribute(node, "alpha", 1.0)), ("Add", _attribute(node, "beta", 0.0)))


def _image_scaler(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    bias = [[[each]] for each in _attribute(node, "bias", [0.0])]
    yield from nodes.chain(node, ("Mul", _attribute(node, "scale", 1.0)), ("Add", bias))


def _scaled_tanh(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    alpha, beta = _attribute(node, "alpha", 1.0), _attribute(node, "beta", 1.0)
    yield from nodes.chain(node, ("Mul", beta), ("Tanh",), ("Mul", alpha))


def _parametric_softplus(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    alpha, beta = _attribute(node, "alpha", 1.0), _attribute(node, "beta", 1.0)
    yield from nodes.chain(node, ("Mul", beta), ("Softplus",), ("Mul", alpha))


def _crop(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    """A part of pictures: without their borders, or as large as `scale` says from the upper left ones on."""
    left, top, right, bottom = _attribute(node, "border", [0, 0, 0, 0])
    sizes = _attribute(node, "scale", [])
    ends = [top + sizes[0], left + sizes[1]] if sizes else [-bottom or TO_THE_END, -right or TO_THE_END]
    yield nodes.node("Slice", [node.input[0]], node.output[0], starts=[top, left], ends=ends, axes=[2, 3])


def _thresholded_relu(nodes: Nodes, node: "NodeProto", opset: int) -> "Iterator[NodeProto]":
    """Numbers above `alpha`. Without Where, a number is multiplied by whether it is one of them, after Relu has taken
    away negative infinities: a negative `alpha` is left to the converter, which refuses it."""
    value, output, alpha = node.input[0], node.output[0], _attribute(node, "alpha", 1.0)
    if opset < WITH_WHERE and alpha < 0:
        yield node
        return
    limit, zero, above = (nodes.name(f"{output}/{each}") for each in ("limit", "zero", "above"))
    yield nodes.constant(alpha, limit)
    yield nodes.node("Greater", [value, limit], above)
    if opset >= WITH_WHERE:
        yield nodes.constant(0.0, zero)
        yield nodes.node("Where", [above, value, zero], output)
        return
    kept, positive = (nodes.name(f"{output}/{each}") for each in ("kept", "positive"))
    yield nodes.node("Cast", [above], kept, to=FLOAT)
    yield nodes.node("Relu", [value], positive)
    yield nodes.node("Mul", [positive, kept], output)


RULES: Mapping[str, tuple[int, Rule]] = {
    "Hardmax": (12, _hardmax),
    "Pad": (10, _pad),
    "Dropout": (11, _dropout),
    "BatchNormalization": (8, _batch_normalization),
    "Affine": (9, _affine),
    "ImageScaler": (9, _image_scaler),
    "ScaledTanh": (9, _scaled_tanh),
    "ParametricSoftplus": (9, _parametric_softplus),
    "Crop": (9, _crop),
    "ThresholdedRelu": (9, _thresholded_relu),
}
"""Operator -> the last opset for which the rule holds, and the rule. The last six are ONNX's experiments, which ONNX
Runtime computes."""


def place_resized(graph: "GraphProto", nodes: Nodes, around: "Mapping[str, TensorProto]") -> None:
    """Makes every Resize that the converter has made of an Upsample, or of a Resize before opset 11, take the places
    that these took: x / scale, rounded down for a larger result and up for a smaller one.

    `around` are the constants of the graphs around `graph`.
    """
    constants = {**around, **constant_tensors(graph)}
    written: list[NodeProto] = []
    for node in graph.node:
        for inner in traversal.subgraphs(node):
            place_resized(inner, nodes, constants)
        is_resize = node.op_type == "Resize" and node.domain in STANDARD
        written += _placed(nodes, node, constants.get(node.input[2])) if is_resize else (node,)
    del graph.node[:]
    graph.node.extend(written)


def _placed(nodes: Nodes, node: "NodeProto", scales: "TensorProto | None") -> "Iterator[NodeProto]":
    from onnx import helper, numpy_helper

    places = {"mode": _attribute(node, "mode", b"nearest"), "coordinate_transformation_mode": "asymmetric"}
    value, roi, name = node.input[:3]
    output = node.output[0]
    known = numpy_helper.to_array(scales) if scales is not None else None
    if places["mode"] != b"nearest" or (known is not None and ((known >= 1).all() or (known <= 1).all())):
        is_smaller = known is not None and (known < 1).any()
        rounding = {"nearest_mode": "ceil" if is_smaller else "floor"} if places["mode"] == b"nearest" else {}
        del node.attribute[:]
        node.attribute.extend(helper.make_attribute(key, each) for key, each in {**places, **rounding}.items())
        yield node
        return
    one, least, most, smaller = (nodes.name(f"{output}/{each}") for each in ("one", "least", "most", "smaller"))
    yield nodes.constant([1.0], one)
    yield nodes.node("Min", [name, one], least)
    yield nodes.node("Max", [name, one], most)
    yield nodes.node("Resize", [value, roi, least], smaller, nearest_mode="ceil", **places)
    yield nodes.node("Resize", [smaller, roi, most], output, nearest_mode="floor", **places)


def _attribute(node: "NodeProto", name: str, default: Any) -> Any:
    from onnx import helper

    return next((helper.get_attribute_value(each) for each in node.attribute if each.name == name), default)
