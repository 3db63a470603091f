"""Determines the traits of a graph from its operators and element types: once, when a model or a variant is made."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.quantized import FloatLayer
from packager.core.values import Model, Precision, Traits, Variant
from packager.graph import traversal
from packager.models import shapes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

QUANTIZED_OPERATORS = ("QLinear", "QGemm", "ConvInteger", "MatMulInteger", "DynamicQuantize", "QAttention")
"""Prefixes of operators that compute with quantized activations (ONNX and com.microsoft)."""
WEIGHT_ONLY_OPERATORS = ("MatMulNBits", "MatMulBnb4", "GatherBlockQuantized")
CONVERSIONS = ("Cast", "QuantizeLinear", "DequantizeLinear")


def derived(
    model: Model,
    *,
    name: str,
    graph: bytes,
    quantizer: str,
    weights: Path | None = None,
    left: tuple[FloatLayer, ...] = (),
) -> Variant:
    """The variant `name` of `model` whose `graph` was made from the model's."""
    found = traits_of(model, graph)
    return Variant(model=model, name=name, graph=graph, quantizer=quantizer, traits=found, weights=weights, left=left)


def traits_of(model: Model, graph: bytes) -> Traits:
    """The traits of `graph`, which was made from the graph of `model` and has its inputs."""
    import onnx

    found = traits(shapes.infer_shapes(onnx.ModelProto.FromString(graph)))
    return replace(found, has_dynamic_shapes=model.traits.has_dynamic_shapes)


def traits(proto: "ModelProto") -> Traits:
    """The traits of a graph whose types are inferred. Quantized activations take precedence over float16, float16 over
    quantized weights."""
    nodes = tuple(_nodes(proto.graph, {}))
    return Traits(
        precision=_precision(nodes),
        activations=_names(each.element for each in nodes if each.op == "QuantizeLinear"),
        # Biases are int32 and do not identify the scheme.
        weights=_names(each.weights for each in nodes if each.weights != _types()["INT32"]),
        has_dynamic_shapes=_has_dynamic_shapes(proto.graph),
    )


@dataclass(frozen=True, slots=True)
class Computed:
    """A kind of node: its operator, and the element types that decide what the graph computes with."""

    op: str
    element: int
    """of its first result, or of any that is float16; 0 if unknown"""
    weights: int = 0
    """of the constant that it dequantizes; 0 for other nodes"""


def _nodes(graph: "GraphProto", around: Mapping[str, int]) -> Iterator[Computed]:
    """The kinds of nodes in `graph` and in its subgraphs. `around` are the constants of the enclosing graphs, with
    their types."""
    elements = {each.name: each.type.tensor_type.elem_type for each in (*graph.output, *graph.value_info)}
    constants = {**around, **{tensor.name: tensor.data_type for tensor in graph.initializer}}
    constants |= {node.output[0]: _type_of(node, elements) for node in graph.node if _is_constant(node)}
    found: dict[Computed, None] = {}
    for node in graph.node:
        if not _is_constant(node):
            found[_computed(node, elements, constants)] = None
    yield from found
    for node in graph.node:
        for subgraph in traversal.subgraphs(node) if node.attribute else ():
            yield from _nodes(subgraph, constants)


def _computed(node: "NodeProto", elements: Mapping[str, int], constants: Mapping[str, int]) -> Computed:
    made = [elements.get(name, 0) for name in node.output]
    half = _types()["FLOAT16"]
    element = half if half in made else next(iter(made), 0)
    weights = constants.get(node.input[0], 0) if node.op_type == "DequantizeLinear" else 0
    return Computed(node.op_type, element, weights)


def _is_constant(node: "NodeProto") -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")


def _type_of(constant: "NodeProto", elements: Mapping[str, int]) -> int:
    """The element type of a Constant node."""
    tensors = [each.t.data_type for each in constant.attribute if each.name == "value"]
    return tensors[0] if tensors else elements.get(constant.output[0], 0)


def _precision(nodes: tuple[Computed, ...]) -> Precision:
    operators = {each.op for each in nodes}
    if any(op.startswith(QUANTIZED_OPERATORS) for op in operators):
        return Precision.QUANTIZED_OPERATORS
    if "QuantizeLinear" in operators:
        return Precision.QDQ
    if not operators.isdisjoint(WEIGHT_ONLY_OPERATORS) or any(each.weights for each in nodes):
        return Precision.WEIGHT_ONLY
    if any(each.element == _types()["FLOAT16"] for each in nodes if each.op not in CONVERSIONS):
        return Precision.FLOAT16
    return Precision.FLOAT32


def _has_dynamic_shapes(graph: "GraphProto") -> bool:
    """Whether an input has a size that only the run decides."""
    initializers = {tensor.name for tensor in graph.initializer}
    return not all(_is_static(each) for each in graph.input if each.name not in initializers)


def _is_static(value: "ValueInfoProto") -> bool:
    tensor = value.type.tensor_type
    return tensor.HasField("shape") and all(each.HasField("dim_value") for each in tensor.shape.dim)


def _names(elements: Iterable[int]) -> str:
    names = {number: name.lower() for name, number in _types().items()}
    return "+".join(sorted({names.get(each, f"type {each}") for each in elements if each}))


@cache
def _types() -> Mapping[str, int]:
    """ONNX's numbers of the element types."""
    from onnx import TensorProto

    return dict(TensorProto.DataType.items())
