"""Determines the precision of a graph from its operators and element types."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packager.core.values import Precision, Traits
from packager.graph.view import Graph, Node, Value

QUANTIZED_OPERATORS = ("QLinear", "QGemm", "ConvInteger", "MatMulInteger", "DynamicQuantize", "QAttention")
"""Prefixes of operators that compute with quantized activations (ONNX and com.microsoft)."""
WEIGHT_ONLY_OPERATORS = ("MatMulNBits", "MatMulBnb4", "GatherBlockQuantized")
CONVERSIONS = ("Cast", "QuantizeLinear", "DequantizeLinear")


def traits(graph: Graph) -> Traits:
    """The traits of `graph`. Quantized activations take precedence over float16, float16 over quantized weights."""
    nodes = tuple(_with_values(graph))
    quantize = [each for each in nodes if each.node.op == "QuantizeLinear"]
    dequantize = [each for each in nodes if each.node.op == "DequantizeLinear" and each.taken[0].is_constant]
    return Traits(
        precision=_precision(nodes, has_activations=bool(quantize), has_weights=bool(dequantize)),
        activations=_elements(each.made[0].element for each in quantize),
        # Biases are int32 and do not identify the scheme.
        weights=_elements(each.taken[0].element for each in dequantize if each.taken[0].element != "int32"),
        has_dynamic_shapes=any(graph.value(name).sizes is None for name in graph.inputs),
    )


@dataclass(frozen=True, kw_only=True)
class Known:
    """A node with the graph's information about its values."""

    node: Node
    taken: tuple[Value, ...]
    made: tuple[Value, ...]


def _with_values(graph: Graph) -> Iterator[Known]:
    """The nodes of `graph` and of its subgraphs."""
    for node in graph.nodes:
        yield Known(
            node=node,
            taken=tuple(graph.value(name) for name in node.inputs),
            made=tuple(graph.value(name) for name in node.outputs),
        )
        for subgraph in node.subgraphs:
            yield from _with_values(subgraph)


def _precision(nodes: tuple[Known, ...], *, has_activations: bool, has_weights: bool) -> Precision:
    if any(each.node.op.startswith(QUANTIZED_OPERATORS) for each in nodes):
        return Precision.QUANTIZED_OPERATORS
    if has_activations:
        return Precision.QDQ
    if any(each.node.op in WEIGHT_ONLY_OPERATORS for each in nodes) or has_weights:
        return Precision.WEIGHT_ONLY
    computing = [each for each in nodes if each.node.op not in CONVERSIONS]
    if any(value.element == "float16" for each in computing for value in each.made):
        return Precision.FLOAT16
    return Precision.FLOAT32


def _elements(elements: Iterable[str]) -> str:
    return "+".join(sorted({element for element in elements if element}))
