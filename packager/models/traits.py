"""What a graph computes with, read off its operators and element types."""

from collections.abc import Iterable

from packager.graph import Graph, Node
from packager.values import Numbers, Traits

QUANTIZED_OPERATORS = ("QLinear", "QGemm", "ConvInteger", "MatMulInteger", "DynamicQuantize", "QAttention")
"""How the names of operators begin that compute with quantized activations (ONNX and com.microsoft)."""
WEIGHT_ONLY_OPERATORS = ("MatMulNBits", "MatMulBnb4", "GatherBlockQuantized")
CONVERSIONS = ("Cast", "QuantizeLinear", "DequantizeLinear")


def traits(graph: Graph) -> Traits:
    """The traits of `graph`. Quantized activations count before float16, float16 before weights alone."""
    nodes = tuple(graph.all_nodes())
    quantize = [node for node in nodes if node.op == "QuantizeLinear"]
    dequantize = [node for node in nodes if node.op == "DequantizeLinear" and graph.value(node.inputs[0]).is_constant]
    return Traits(
        numbers=_numbers(graph, nodes, has_activations=bool(quantize), has_weights=bool(dequantize)),
        activations=_elements(graph.value(node.outputs[0]).element for node in quantize),
        weights=_elements(graph.value(node.inputs[0]).element for node in dequantize if _is_weight(graph, node)),
        has_dynamic_shapes=any(graph.value(name).sizes is None for name in graph.inputs),
    )


def _numbers(graph: Graph, nodes: tuple[Node, ...], *, has_activations: bool, has_weights: bool) -> Numbers:
    if any(node.op.startswith(QUANTIZED_OPERATORS) for node in nodes):
        return Numbers.QUANTIZED_OPERATORS
    if has_activations:
        return Numbers.QDQ
    if any(node.op in WEIGHT_ONLY_OPERATORS for node in nodes) or has_weights:
        return Numbers.WEIGHT_ONLY
    computing = [node for node in nodes if node.op not in CONVERSIONS]
    if any(graph.value(name).element == "float16" for node in computing for name in node.outputs):
        return Numbers.FLOAT16
    return Numbers.FLOAT32


def _elements(elements: Iterable[str]) -> str:
    return "+".join(sorted({element for element in elements if element}))


def _is_weight(graph: Graph, node: Node) -> bool:
    """Biases are int32 and say nothing of the scheme."""
    return graph.value(node.inputs[0]).element != "int32"
