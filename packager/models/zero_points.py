"""Writes out the zero points that a model leaves to its reader, so that every later step sees the type of integers.

QuantizeLinear without one gives the type of its attribute `output_dtype`, or uint8; DequantizeLinear takes that of its
input. ONNX Runtime computes both, but its rewriting takes the first for uint8 whatever the attribute says.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.constants import constant_tensors
from packager.graph.names import all_names, free_name
from packager.graph.rewriting.finishing import free_initializers
from packager.models.shapes import infer_shapes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

DOMAINS = ("", "ai.onnx", "com.microsoft")
QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
TYPE = "output_dtype"
Shape = tuple[int, ...]
Known = dict[str, tuple[int, Shape | None]]
"""element type and shape by name; 0 and None if unknown"""
UNKNOWN = (0, None)


def write_zero_points(proto: "ModelProto") -> None:
    """Gives QuantizeLinear and DequantizeLinear their zero points, in branches, loop bodies and functions, which become
    part of the graph for that. Those whose scales have a shape that is unknown stay as they are."""
    import onnx.inliner

    if any(_is_missing(node) for node in traversal.all_nodes(proto)):
        free_initializers(proto)
        if any(_is_missing(node) for function in proto.functions for node in traversal.nodes_in(function.node)):
            proto.CopyFrom(onnx.inliner.inline_local_functions(proto))
        _Writer(proto).graph(proto.graph, infer_shapes(proto).graph, {})


def _is_missing(node: "NodeProto") -> bool:
    is_conversion = node.op_type in (QUANTIZE, DEQUANTIZE) and node.domain in DOMAINS
    return is_conversion and (len(node.input) < 3 or not node.input[2])


def _known(graph: "GraphProto") -> Known:
    """Element type and shape of constants and values by name, as far as they are known."""
    found: Known = {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        shape = tuple(size.dim_value for size in tensor.shape.dim if size.HasField("dim_value"))
        is_known = tensor.HasField("shape") and len(shape) == len(tensor.shape.dim)
        found[value.name] = (tensor.elem_type, shape if is_known else None)
    constants = constant_tensors(graph)
    return found | {name: (each.data_type, tuple(each.dims)) for name, each in constants.items()}


@dataclass(frozen=True)
class _Writer:
    proto: "ModelProto"
    made: dict[tuple[int, Shape], str] = field(default_factory=dict)
    """zero points by type and shape"""

    def graph(self, graph: "GraphProto", inferred: "GraphProto", around: Known) -> None:
        """`inferred` is `graph` with the shapes that follow; `around` are the values of the graphs around it."""
        known = {**around, **_known(inferred)}
        for node, same in zip(graph.node, inferred.node, strict=True):
            for inner, described in zip(traversal.subgraphs(node), traversal.subgraphs(same), strict=True):
                self.graph(inner, described, known)
            if _is_missing(node):
                self._write(node, known)

    def _write(self, node: "NodeProto", known: Known) -> None:
        shape = known.get(node.input[1], UNKNOWN)[1]
        element = _element(node, known)
        if element and shape is not None:
            del node.input[2:]
            node.input.append(self._zero(element, shape))
            kept = [each for each in node.attribute if each.name != TYPE or node.op_type == DEQUANTIZE]
            del node.attribute[:]
            node.attribute.extend(kept)
        if node.op_type == QUANTIZE:
            known[node.output[0]] = (element, None)

    def _zero(self, element: int, shape: Shape) -> str:
        """The constant of zeros, made the first time."""
        import numpy
        from onnx import TensorProto, helper, numpy_helper

        if (element, shape) not in self.made:
            kind = TensorProto.DataType.Name(element).lower()
            name = free_name("_".join(["zero_point", kind, *map(str, shape)]), all_names(self.proto))
            zeros = numpy.zeros(shape, helper.tensor_dtype_to_np_dtype(element))
            self.proto.graph.initializer.append(numpy_helper.from_array(zeros, name))
            self.made[element, shape] = name
        return self.made[element, shape]


def _element(node: "NodeProto", known: Known) -> int:
    """The type of the integers; 0 if it is unknown, or one that takes no zero point."""
    from onnx import TensorProto

    if node.op_type == QUANTIZE:
        return next((each.i for each in node.attribute if each.name == TYPE and each.i), int(TensorProto.UINT8))
    element = known.get(node.input[0], UNKNOWN)[0]
    return element if element != TensorProto.INT32 else 0
