"""Takes the scales of an axis or of blocks out of conversions of computed values.

ONNX Runtime's fusions take the first scale of such a conversion for all of them, or refuse to run. Weights keep theirs:
kernels take those. QuantizeLinear(x, s) becomes QuantizeLinear(x / s, 1), and DequantizeLinear(q, s) becomes
DequantizeLinear(q, 1) * s, which are the same numbers.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from packager.graph import traversal
from packager.graph.constants import constant_tensors
from packager.graph.names import all_names, free_name
from packager.models.shapes import infer_shapes
from packager.models.zero_points import DEQUANTIZE, DOMAINS, QUANTIZE

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

Sizes = tuple[int, ...]
"""of a shape; 0 for one that is unknown"""


def flatten_scales(proto: "ModelProto") -> None:
    """Gives conversions of computed values one scale, in branches and loop bodies, too. Those with computed scales, or
    with several zero points, stay as they are."""
    conversions = [node for node in traversal.all_nodes(proto) if _is_conversion(node)]
    if any(node.attribute for node in conversions):  # an axis
        _Writer(proto).graph(proto.graph, infer_shapes(proto).graph, {}, {}, frozenset())


def _is_conversion(node: "NodeProto") -> bool:
    return node.op_type in (QUANTIZE, DEQUANTIZE) and node.domain in DOMAINS


class _Writer:
    def __init__(self, proto: "ModelProto") -> None:
        self.proto = proto
        self.taken = all_names(proto)

    def graph(
        self,
        graph: "GraphProto",
        inferred: "GraphProto",
        tensors: "Mapping[str, TensorProto]",
        shapes: Mapping[str, Sizes],
        fixed: frozenset[str],
    ) -> None:
        """`inferred` is `graph` with the shapes that follow; the others are those of the graphs around it. `fixed` are
        the values that come of constants alone."""
        tensors = {**tensors, **constant_tensors(graph)}
        shapes = {**shapes, **_shapes(inferred)}
        fixed = fixed | set(tensors)
        written: list[NodeProto] = []
        for node, same in zip(graph.node, inferred.node, strict=True):
            for inner, described in zip(traversal.subgraphs(node), traversal.subgraphs(same), strict=True):
                self.graph(inner, described, tensors, shapes, fixed)
            if node.input and all(name in fixed for name in node.input if name):
                fixed = fixed.union(node.output)
            spread = None
            if _is_conversion(node) and node.input[0] not in fixed:
                spread = _spread(node, tensors, shapes.get(node.input[0], shapes.get(node.output[0], ())))
            written += self._split(node, *spread) if spread else (node,)
        del graph.node[:]
        graph.node.extend(written)

    def _split(self, node: "NodeProto", scales: Any, zero: Any) -> "Iterator[NodeProto]":
        """The conversion by one scale, and the product of its float values with `scales`."""
        import numpy
        from onnx import helper

        output = node.output[0]
        inner = self._name(f"{output}/scaled")
        by, one = self._constant(scales, f"{output}/scales"), self._constant(numpy.float32(1), f"{output}/one")
        operands = [one, *([] if zero is None else [self._constant(zero, f"{output}/zero")])]
        kept = [each for each in node.attribute if each.name not in ("axis", "block_size")]
        del node.attribute[:]
        node.attribute.extend(kept)
        is_quantizing = node.op_type == QUANTIZE
        operator = "Div" if is_quantizing else "Mul"
        ends = (node.input[0], inner) if is_quantizing else (inner, output)
        scaling = helper.make_node(operator, [ends[0], by], [ends[1]], name=self._name(f"{output}/{operator}"))
        node.input[:] = [inner if is_quantizing else node.input[0], *operands]
        node.output[:] = [output if is_quantizing else inner]
        yield from (scaling, node) if is_quantizing else (node, scaling)

    def _name(self, text: str) -> str:
        found = free_name(text, self.taken)
        self.taken.add(found)
        return found

    def _constant(self, values: Any, text: str) -> str:
        from onnx import numpy_helper

        name = self._name(text)
        self.proto.graph.initializer.append(numpy_helper.from_array(values, name))
        return name


def _shapes(graph: "GraphProto") -> dict[str, Sizes]:
    values = (*graph.input, *graph.value_info, *graph.output)
    return {value.name: tuple(size.dim_value for size in value.type.tensor_type.shape.dim) for value in values}


def _spread(node: "NodeProto", tensors: "Mapping[str, TensorProto]", sizes: Sizes) -> tuple[Any, Any] | None:
    """The scales of `node` in a shape that multiplies a value of `sizes`, and its one zero point, None without; None if
    it has one scale, or cannot have one."""
    import numpy
    from onnx import helper, numpy_helper

    found = [tensors.get(name) for name in node.input[1:] if name]
    if any(each is None or each.external_data for each in found):
        return None
    scales, *zeros = (numpy_helper.to_array(each) for each in found if each is not None)
    zero = zeros[0].flatten()[:1] if zeros else None
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    axis, block = attributes.get("axis", 1), attributes.get("block_size", 0)
    if scales.size < 2 or scales.dtype != numpy.float32 or not -len(sizes) <= axis < len(sizes):
        return None
    if zero is not None and (zeros[0] != zero).any():
        return None
    if scales.ndim == 1 and not block:
        scales = scales.reshape([-1 if place == axis % len(sizes) else 1 for place in range(len(sizes))])
    elif scales.ndim != len(sizes) or not block or not sizes[axis]:
        return None
    else:
        scales = numpy.repeat(scales, block, axis).take(range(sizes[axis]), axis)
    return scales, None if zero is None else zero.reshape(())
