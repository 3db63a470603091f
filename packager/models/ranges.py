"""Finds outputs of a model whose range is known without running it: the scale of their errors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packager.graph.connections import connected

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

KNOWN = ("Sigmoid", "HardSigmoid", "Softmax", "Tanh", "QLinearSigmoid", "QLinearSoftmax")
"""Operators whose results go up to 1, or from -1 to 1. LogSoftmax is not one of them: the logarithm of the smallest of
n probabilities is never above -log(n), so its largest value is a suitable scale by itself."""
KEEPING = (
    "Cast",
    "CastLike",
    "Compress",
    "DepthToSpace",
    "DequantizeLinear",
    "Dropout",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "MaxPool",
    "QuantizeLinear",
    "ReduceMax",
    "ReduceMin",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "TopK",
    "Transpose",
    "Unsqueeze",
)
"""Operators whose results are numbers of their first input, in another shape, order, width or selection."""
JOINING = {"Concat": 0, "Max": 0, "Min": 0, "Where": 1}
"""Operators whose results are numbers of several inputs -> the first of these."""
ACTIVATED = ("FusedConv", "FusedGemm", "FusedMatMul")
"""Operators of com.microsoft with a fused activation, named by their attribute `activation`."""
DEEPEST = 16
"""Maximum nesting of functions and branches that is searched."""


@dataclass(frozen=True, kw_only=True)
class _Body:
    """A graph or a function, and the graphs around it."""

    producers: "Mapping[str, NodeProto]"
    functions: "Mapping[tuple[str, str], FunctionProto]"
    answers: dict[tuple[str, str, int], str] = field(default_factory=dict)
    """function, by domain and name, and index of its output -> the result: each is searched once"""
    depth: int = 0

    def range_of(self, value: str) -> str:
        """Name of the operator whose range `value` has; empty if unknown."""
        pending, found = [value], set()
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            node = self.producers.get(name)
            if node is None:
                return ""
            if operator := _own_range(node) or self._inner(node, list(node.output).index(name)):
                found.add(operator)
            elif taken := _passed_on(node, name):
                pending += taken
            else:
                return ""
        return min(found, default="")

    def _inner(self, node: "NodeProto", place: int) -> str:
        """The range of output number `place` of the branches of an If, or of the body of a function."""
        if self.depth == DEEPEST:
            return ""
        if (node.domain, node.op_type) in self.functions:
            return self._of_function((node.domain, node.op_type, place))
        if node.op_type != "If":
            return ""
        branches = [each.g for each in node.attribute if each.HasField("g")]
        found = {self._deeper(each.node).range_of(each.output[place].name) for each in branches}
        return min(found) if found and "" not in found else ""

    def _of_function(self, which: tuple[str, str, int]) -> str:
        if which not in self.answers:
            function = self.functions[which[:2]]
            self.answers[which] = self._deeper(function.node).range_of(function.output[which[2]])
        return self.answers[which]

    def _deeper(self, nodes: "Iterable[NodeProto]") -> "_Body":
        return replace(self, producers=connected(nodes).producers, depth=self.depth + 1)


def known_ranges(model: "ModelProto") -> Mapping[str, str]:
    """Output of the model -> the operator whose range its numbers have; without outputs of unknown range."""
    graph: GraphProto = model.graph
    functions = {(each.domain, each.name): each for each in model.functions}
    body = _Body(producers=connected(graph.node).producers, functions=functions)
    ranges = {output.name: body.range_of(output.name) for output in graph.output}
    return {name: operator for name, operator in ranges.items() if operator}


def _own_range(node: "NodeProto") -> str:
    if node.op_type in KNOWN:
        return node.op_type.removeprefix("QLinear")
    if node.op_type not in ACTIVATED:
        return ""
    named = [each.s.decode() for each in node.attribute if each.name == "activation"]
    return named[0] if named and named[0] in KNOWN else ""


def _passed_on(node: "NodeProto", name: str) -> list[str]:
    """The inputs whose numbers the output `name` consists of; empty if it has others."""
    if node.domain not in ("", "ai.onnx", "com.microsoft"):
        return []
    if node.op_type in KEEPING:
        is_first = node.output[0] == name or node.op_type == "Split"
        return [node.input[0]] if is_first else []
    if node.op_type in JOINING:
        return [each for each in node.input[JOINING[node.op_type] :] if each]
    return []
