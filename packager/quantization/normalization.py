"""Finds the constants with which a graph normalizes its input, and what it makes of samples with them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager import models
from packager.core.values import Model, TensorSpec
from packager.graph import traversal
from packager.graph.connections import indexed
from packager.graph.constants import constant_tensors

if TYPE_CHECKING:
    import numpy
    from onnx import GraphProto, NodeProto

ARITHMETIC = ("Add", "Sub", "Mul", "Div")
STANDARDIZING = "BatchNormalization"
PASSING = ("Cast", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""operators that move numbers and change none"""
NORMALIZED = "mobpack/normalized"
LEAST_SPREAD, MOST_OFFSET = 0.02, 20.0
"""Spread of normalized pictures, and their mean in units of it. Pictures that are normalized as the model wants have a
spread of 0.2 to 1.3, or of 20 to 70 before any division, and a mean within 5 of it. Numbers that are 255 times too
small, behind the mean and spread of pixels, have a spread of 0.004 or a mean of 400 times their spread."""
TRAINED_SPREADS, TRAINED_OFFSET = (1 / 3, 3.0), 2.0
"""Spread and mean of what a batch normalization makes of its input: 1 and 0 for pictures like those of the training."""
LEAST_GAIN = 1 / 256
"""Recordings that a model divides by more are integers."""


@dataclass(frozen=True, kw_only=True)
class Normalization:
    """The beginning of a graph: arithmetic with constants, applied to its one input."""

    model: Model
    """the beginning alone"""
    operators: tuple[str, ...]
    is_trained: bool
    """whether the constants are the mean and variance of the pictures of the training"""

    def contradiction(self, before: "numpy.ndarray", after: "numpy.ndarray", what: str) -> str:
        """Why the constants are not made for the numbers `before`, of which they make `after`; empty if they fit. The
        first dimension counts samples."""
        spread, mean = _of_channels(after)
        if what == "recordings":
            is_wrong = spread < LEAST_GAIN * float(before.std())
        elif self.is_trained:
            least, most = TRAINED_SPREADS
            is_wrong = not least <= spread <= most or mean > TRAINED_OFFSET
        else:
            is_wrong = spread < LEAST_SPREAD or mean > MOST_OFFSET * spread
        if not is_wrong or not before.std():
            return ""
        return (
            f"the model begins with {', '.join(self.operators)}, whose constants make numbers of spread {spread:.2g} "
            f"around {mean:.3g} of them: they are made for numbers of another range"
        )


def _of_channels(numbers: "numpy.ndarray") -> tuple[float, float]:
    """Spread and size of the mean of each channel, on average over the channels."""
    axis = next((each for each in (2, numbers.ndim - 1) if numbers.ndim == 5 and numbers.shape[each] <= 4), None)
    others = tuple(each for each in range(numbers.ndim) if each != axis)
    return float(numbers.std(axis=others).mean()), float(abs(numbers.mean(axis=others)).mean())


def normalization(model: Model) -> Normalization | None:
    """The arithmetic with constants at the beginning of `model`; None if there is none, or if it has several inputs."""
    import onnx

    if len(model.signature.inputs) != 1:
        return None
    (spec,) = model.signature.inputs
    proto = onnx.ModelProto.FromString(model.graph)
    chain = _chain(proto.graph, spec)
    while chain and chain[-1].op_type in PASSING:
        chain.pop()
    if not chain:
        return None
    is_trained = any(node.op_type == STANDARDIZING for node in chain)
    if is_trained:
        chain = chain[: 1 + [node.op_type for node in chain].index(STANDARDIZING)]
        if not _has_statistics(chain[-1], proto.graph, model):
            return None
    _cut(proto.graph, chain[-1])
    return Normalization(
        model=models.rebuilt(model, proto),
        operators=tuple(node.op_type for node in chain if node.op_type not in PASSING),
        is_trained=is_trained,
    )


def _chain(graph: "GraphProto", spec: TensorSpec) -> "list[NodeProto]":
    """The nodes that the input passes through one after the other, with constants alone as other inputs."""
    nodes = list(graph.node)
    connections = indexed(nodes)
    chain: list[NodeProto] = []
    value = spec.name
    outputs = {each.name for each in graph.output}
    while True:
        found = [index for index in connections.consumers.get(value, []) if nodes[index].op_type != "Shape"]
        if len(found) != 1 or value in outputs:
            return chain
        node = nodes[found[0]]
        others = [name for name in node.input if name and name != value]
        behind = connections.ancestors(others)
        depends = any(spec.name in connections.consumed(index) for index in behind) or spec.name in others
        if node.op_type not in (*ARITHMETIC, *PASSING, STANDARDIZING) or depends:
            return chain
        chain.append(node)
        value = node.output[0]


def _has_statistics(node: "NodeProto", graph: "GraphProto", model: Model) -> bool:
    """Whether the mean and variance of a batch normalization were learned: an untrained one has 0 and 1."""
    from packager.graph.weights.reading import read_weight

    known = constant_tensors(graph)
    if any(name not in known for name in node.input[1:]):
        return False
    mean, variance = (read_weight(known[name], model.data_folder).array() for name in node.input[3:5])
    return bool((mean != 0).any() or (variance != 1).any())


def _cut(graph: "GraphProto", last: "NodeProto") -> None:
    """Keeps what `last` depends on; a batch normalization loses its learned scale and offset."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper

    nodes = list(graph.node)
    wanted = indexed(nodes).ancestors([last.output[0]])
    kept = [nodes[index] for index in sorted(wanted)]
    if last.op_type == STANDARDIZING:
        size = next(each.dims[0] for each in constant_tensors(graph).values() if each.name == last.input[3])
        for place, number in ((1, 1.0), (2, 0.0)):
            last.input[place] = f"{NORMALIZED}/{place}"
            constant = numpy.full(size, number, numpy.float32)
            graph.initializer.append(numpy_helper.from_array(constant, last.input[place]))
    last.output[0] = NORMALIZED
    taken = {name for node in kept for name in traversal.taken_by(node)}
    tensors = [tensor for tensor in graph.initializer if tensor.name in taken]
    copies = [type(node).FromString(node.SerializeToString()) for node in kept]
    weights = [type(tensor).FromString(tensor.SerializeToString()) for tensor in tensors]
    for field in (graph.node, graph.initializer, graph.output, graph.value_info):
        del field[:]
    graph.node.extend(copies)
    graph.initializer.extend(weights)
    graph.output.append(helper.make_tensor_value_info(NORMALIZED, TensorProto.FLOAT, None))
