"""Decides which operators form a unit with the DequantizeLinear and QuantizeLinear nodes around them.

Written from qdq_selectors.cc in core/optimizer/qdq_transformer/selectors_actions/ of ONNX Runtime 1.21, and compared
with the behaviour of 1.29.
"""

from collections.abc import Callable, Mapping

from packager.graph.view import Graph, Node
from packager.verification.partition.unit import QUANTIZE, NodeUnit, number

Check = Callable[[NodeUnit, Graph], bool]


def _elements(unit: NodeUnit, graph: Graph) -> tuple[list[str], list[str]]:
    """Types of the dequantized inputs and of the quantized outputs."""
    return (
        [graph.value(node.inputs[0]).element for node in unit.dequantizers],
        [graph.value(node.outputs[0]).element for node in unit.quantizers],
    )


def _is_whole(unit: NodeUnit, graph: Graph, *, dequantized: int | None = None, may_end_in_float: bool = False) -> bool:
    """Whether all inputs come from DequantizeLinear and all outputs go to QuantizeLinear (CheckQDQNodes)."""
    expected = sum(1 for name in unit.target.inputs if name) if dequantized is None else dequantized
    if len(unit.dequantizers) != expected or not _can_be_made(unit, graph):
        return False
    if not unit.quantizers:
        return may_end_in_float
    outputs = sum(1 for name in unit.target.outputs if name)
    behind = graph.successors[unit.target.name]
    return outputs == len(unit.quantizers) == len(behind) and not graph.gives_output(unit.target)


def _can_be_made(unit: NodeUnit, graph: Graph) -> bool:
    """Whether no node outside uses an inner value (node_unit.cc, CanCreateNodeGroup)."""
    for node in unit.dequantizers:
        if graph.gives_output(node) or len(graph.successors[node.name]) != 1:
            return False
    if unit.clip:
        return not graph.gives_output(unit.target) and len(graph.successors[unit.target.name]) == 1
    kinds = {name: {node.op == QUANTIZE for node in graph.consumers.get(name, ())} for name in unit.target.outputs}
    return all(len(found) < 2 and not (True in found and name in graph.outputs) for name, found in kinds.items())


def _keeps_numbers(unit: NodeUnit, graph: Graph) -> bool:
    """Operators that only move numbers: scale and zero point are the same before and after."""
    if unit.clip or not _is_whole(unit, graph, dequantized=1):
        return False
    taken, given = _elements(unit, graph)
    return taken[0] == given[0] and _is_pair(unit.dequantizers[0], unit.quantizers[0], graph)


def _is_pair(dequantizer: Node, quantizer: Node, graph: Graph) -> bool:
    """The same constant scalar scale and zero point in both (qdq_util.cc, IsQDQPairSupported)."""
    if len(dequantizer.inputs) != 3 or len(quantizer.inputs) != 3:
        return False
    for before, behind in zip(dequantizer.inputs[1:], quantizer.inputs[1:], strict=True):
        one, other = graph.value(before), graph.value(behind)
        if one.shape not in ((), (1,)) or other.shape not in ((), (1,)):
            return False
        if number(one) is None or number(one) != number(other) or one.element != other.element:
            return False
    return True


def _index_of_quantized(unit: NodeUnit, graph: Graph) -> bool:
    """ArgMax and ArgMin: their outputs are not quantized."""
    if unit.clip or len(unit.dequantizers) != 1 or not _can_be_made(unit, graph):
        return False
    constants = unit.dequantizers[0].inputs[1:]
    values = [graph.value(name) for name in constants]
    return len(constants) == 2 and all(value.is_constant and value.shape in ((), (1,)) for value in values)


def _one_input(unit: NodeUnit, graph: Graph) -> bool:
    if not _is_whole(unit, graph, dequantized=1):
        return False
    taken, given = _elements(unit, graph)
    return taken[0] == given[0]


def _same_types(unit: NodeUnit, graph: Graph) -> bool:
    if not _is_whole(unit, graph):
        return False
    taken, given = _elements(unit, graph)
    return len({*taken, *given}) == 1


def _split(unit: NodeUnit, graph: Graph) -> bool:
    if unit.clip or not _is_whole(unit, graph, dequantized=1):
        return False
    taken, given = _elements(unit, graph)
    return len({*taken, *given}) == 1


def _clip(unit: NodeUnit, graph: Graph) -> bool:
    """Clip: its bounds may be quantized as well, or not."""
    if not 1 <= len(unit.dequantizers) <= 3 or not _is_whole(unit, graph, dequantized=len(unit.dequantizers)):
        return False
    taken, given = _elements(unit, graph)
    return taken[0] == given[0]


def _pad(unit: NodeUnit, graph: Graph) -> bool:
    """Pad: the fill value may be quantized as well, or not."""
    if not 1 <= len(unit.dequantizers) <= 2 or not _is_whole(unit, graph, dequantized=len(unit.dequantizers)):
        return False
    taken, given = _elements(unit, graph)
    return len({*taken, given[0]}) == 1


def _convolution(unit: NodeUnit, graph: Graph) -> bool:
    if not _is_whole(unit, graph):
        return False
    taken, given = _elements(unit, graph)
    if taken[0] != given[0] or (taken[0] == "int8" and taken[1] != "int8"):
        return False
    return len(taken) < 3 or taken[2] == "int32"


def _matmul(unit: NodeUnit, graph: Graph) -> bool:
    if not unit.quantizers or len(unit.dequantizers) != 2 or not _is_whole(unit, graph):
        return False
    taken, given = _elements(unit, graph)
    return taken[0] == given[0] and not (taken[0] == "int8" and taken[1] != "int8")


def _gemm(unit: NodeUnit, graph: Graph) -> bool:
    """Gemm: its output may stay float."""
    if not _is_whole(unit, graph, may_end_in_float=True):
        return False
    taken, given = _elements(unit, graph)
    if (taken[0] == "int8" and taken[1] != "int8") or (given and taken[0] != given[0]):
        return False
    return len(taken) < 3 or (unit.target.attributes.get("beta", 1.0) == 1.0 and taken[2] == "int32")


def _normalization(unit: NodeUnit, graph: Graph) -> bool:
    if not unit.quantizers or not _is_whole(unit, graph):
        return False
    taken, given = _elements(unit, graph)
    return taken[0] == given[0] and (len(taken) < 3 or taken[2] == "int32")


def _batch_normalization(unit: NodeUnit, graph: Graph) -> bool:
    if not _is_whole(unit, graph, dequantized=3):
        return False
    taken, given = _elements(unit, graph)
    return taken[0] == given[0] and not (taken[0] == "int8" and taken[1] != "int8")


def _comparison(unit: NodeUnit, graph: Graph) -> bool:
    if not _is_whole(unit, graph, may_end_in_float=True):
        return False
    taken, _ = _elements(unit, graph)
    return taken[0] == taken[1]


def _where(unit: NodeUnit, graph: Graph) -> bool:
    if not _is_whole(unit, graph, dequantized=2):
        return False
    taken, given = _elements(unit, graph)
    return len({*taken, *given}) == 1


def _top_k(unit: NodeUnit, graph: Graph) -> bool:
    if unit.clip or len(unit.dequantizers) != 1 or len(unit.quantizers) != 1 or not _can_be_made(unit, graph):
        return False
    taken, given = _elements(unit, graph)
    return taken[0] == given[0] and _is_pair(unit.dequantizers[0], unit.quantizers[0], graph)


_BY_CHECK: Mapping[Check, str] = {
    _keeps_numbers: "Gather GatherElements Reshape Expand Flatten Transpose MaxPool Resize Squeeze Unsqueeze Tile",
    _index_of_quantized: "ArgMax ArgMin",
    _one_input: "AveragePool GlobalAveragePool GlobalMaxPool LeakyRelu ReduceMean ReduceMin ReduceMax ReduceProd "
    "ReduceSum Relu Gelu Elu HardSigmoid HardSwish Sigmoid Slice LogSoftmax Softmax Sqrt Atan Asin Sin Cos Sign Tanh "
    "Exp Log LRN Ceil Floor Round Abs Neg DepthToSpace SpaceToDepth LpNormalization",
    _same_types: "Add Div Mul Pow Sub PRelu GridSample Concat Max Min",
    _split: "Split",
    _clip: "Clip",
    _pad: "Pad",
    _convolution: "Conv ConvTranspose",
    _matmul: "MatMul",
    _gemm: "Gemm",
    _normalization: "InstanceNormalization LayerNormalization",
    _batch_normalization: "BatchNormalization",
    _comparison: "Equal Greater GreaterOrEqual Less LessOrEqual",
    _where: "Where",
    _top_k: "TopK",
}
SELECTORS: Mapping[str, Check] = {op: check for check, ops in _BY_CHECK.items() for op in ops.split()}
"""Operator -> the condition under which the nodes around it form a group with it."""
