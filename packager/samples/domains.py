"""Domains of inputs: the numbers for which the operators that they reach are defined.

Numbers are followed from the inputs through operators that move, scale, shift, join or average them, up to operators
that are undefined for some: the logarithm of a negative number is NaN, and 1 / 0 is infinite.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packager.core.values import ElementType, Model
from packager.graph.constants import constant_tensors

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

Interval = tuple[float, float]
"""from the first number to the second"""

MARGIN = 1 / 16
"""distance from the border of a domain: functions are steep there"""
POSITIVE: Interval = (MARGIN, math.inf)
DEFAULT: Interval = (-1.0, 1.0)
UNSCALED: Interval = (1.0, 1.0)
"""scales of every dimension: other ones would have to know which dimension is the batch, and which the channels"""
SPAN = 1.0
"""width of an interval, in numbers of the operator, if the default one is too far away"""
DOMAINS: Mapping[str, Mapping[int, Interval]] = {
    "Log": {0: POSITIVE},
    "Sqrt": {0: POSITIVE},
    "Reciprocal": {0: POSITIVE},
    "Div": {1: POSITIVE},
    "Mod": {1: POSITIVE},
    "Pow": {0: POSITIVE},
    "ReduceLogSum": {0: POSITIVE},
    "Acos": {0: DEFAULT},
    "Asin": {0: DEFAULT},
    "Atanh": {0: (MARGIN - 1, 1 - MARGIN)},
    "Acosh": {0: (1 + MARGIN, math.inf)},
    "Resize": {2: UNSCALED},
    "Upsample": {1: UNSCALED},
}
"""Operator -> its inputs that must be in an interval, by place."""
FIRST_RESIZE: Mapping[int, Interval] = {1: UNSCALED}
"""DOMAINS of Resize in opset 10, which has two inputs"""
PASSING = frozenset(
    """Abs AveragePool Cast CastLike CenterCropPad Compress DepthToSpace DequantizeLinear Dropout Expand Flatten Gather
    GatherElements GatherND GlobalAveragePool GlobalMaxPool Identity LeakyRelu MaxPool PRelu QuantizeLinear ReduceL1
    ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Slice SpaceToDepth Split
    Squeeze Tile TopK Transpose Unsqueeze""".split()
)
"""Operators whose results are numbers of their first input, or positive if those are."""
JOINING = {"Concat": 0, "Max": 0, "Min": 0, "Where": 1}
"""Operators whose results are numbers of several inputs -> the first of these."""
LIMITING = ("Clip", "Max")
"""Operators with a constant that may keep numbers positive."""


@dataclass(frozen=True, kw_only=True)
class _Value:
    """A number as a sum: of inputs, each times a factor, and of a constant in `offset`."""

    terms: Mapping[str, float] = field(default_factory=dict)
    offset: Interval = (0.0, 0.0)

    def needs(self, interval: Interval) -> Iterator[tuple[str, Interval]]:
        """The interval of each input for which the sum is in `interval`."""
        low, high = (interval[0] - self.offset[0], interval[1] - self.offset[1])
        for name, factor in self.terms.items():
            ends = (low / len(self.terms) / factor, high / len(self.terms) / factor)
            yield name, (min(ends), max(ends))

    def scaled(self, factor: float) -> "_Value":
        ends = (self.offset[0] * factor, self.offset[1] * factor)
        terms = {name: each * factor for name, each in self.terms.items()}
        return _Value(terms=terms, offset=(min(ends), max(ends)))

    def shifted(self, low: float, high: float) -> "_Value":
        return replace(self, offset=(self.offset[0] + low, self.offset[1] + high))


def domains_of(model: Model) -> dict[str, Interval]:
    """Like `domains_in`, for a model."""
    from onnx import ModelProto

    graph = ModelProto.FromString(model.graph).graph
    return domains_in(graph, {spec.name: spec.element for spec in model.signature.inputs})


def domains_in(graph: "GraphProto", elements: Mapping[str, ElementType]) -> dict[str, Interval]:
    """Input -> the interval for its random numbers, if that is not the default one: from -1 to 1, or what integers
    are. `elements` are the types of the inputs."""
    search = _Search(
        constants=constant_tensors(graph),
        values={name: _Value(terms={name: 1.0}) for name in elements},
    )
    for node in graph.node:
        search.visit(node)
    found = {name: _drawn(needed, elements[name]) for name, needed in search.needed.items()}
    return {name: interval for name, interval in found.items() if interval}


def _drawn(needed: Interval, element: ElementType) -> Interval | None:
    """Where to draw from for `needed`; None for the default, or if there is nothing to draw from."""
    low, high = needed
    if element in (ElementType.BOOL, ElementType.STRING) or low > high:
        return None
    if element not in (ElementType.FLOAT, ElementType.DOUBLE, ElementType.FLOAT16):
        return (math.ceil(low), math.floor(high) if math.isfinite(high) else math.inf) if low > 0 else None
    if low <= DEFAULT[0] and high >= DEFAULT[1]:
        return None
    inner = (max(low, DEFAULT[0]), min(high, DEFAULT[1]))
    if inner[1] - inner[0] >= (DEFAULT[1] - DEFAULT[0]) / 8:
        return inner
    if math.isinf(low):
        return high - SPAN, high
    return low, min(high, low + SPAN * max(1.0, abs(low)))


@dataclass(frozen=True, kw_only=True)
class _Search:
    """The pass through the main graph, in execution order."""

    constants: "Mapping[str, TensorProto]"
    values: dict[str, _Value]
    """those that are sums of inputs"""
    needed: dict[str, Interval] = field(default_factory=dict)
    """input -> where it must be"""

    def visit(self, node: "NodeProto") -> None:
        is_first = node.op_type == "Resize" and len(node.input) == 2
        domains = FIRST_RESIZE if is_first else DOMAINS.get(node.op_type, {})
        for place, interval in domains.items():
            if len(node.input) > place and not self._is_defined(node):
                self._need(node.input[place], interval)
        found = self._result(node)
        if found and len(found.terms) <= 8:
            self.values.update(dict.fromkeys(filter(None, node.output), found))

    def _need(self, name: str, interval: Interval) -> None:
        for each, (low, high) in self.values.get(name, _Value()).needs(interval):
            before = self.needed.get(each, (-math.inf, math.inf))
            self.needed[each] = max(low, before[0]), min(high, before[1])

    def _is_defined(self, node: "NodeProto") -> bool:
        """Whether it is a power with a whole, positive exponent: those of all numbers are defined."""
        if node.op_type != "Pow":
            return False
        ends = self._ends(node.input[1])
        return ends is not None and ends[0] == ends[1] and ends[0] >= 0 and float(ends[0]).is_integer()

    def _result(self, node: "NodeProto") -> _Value | None:
        """Facts about the outputs of `node`; None if nothing is known."""
        known = [self.values.get(name) for name in node.input]
        if node.op_type == "Neg" and known[0]:
            return known[0].scaled(-1)
        if node.op_type in ("Add", "Sub"):
            return self._sum(node, known)
        if node.op_type in ("Mul", "Div"):
            return self._product(node, known)
        if node.op_type in LIMITING and any(self._keeps_positive(name) for name in node.input[-2:]):
            return None
        if node.op_type in JOINING:
            return _joined(known[JOINING[node.op_type] :])
        if node.op_type in (*PASSING, "Pow", "Clip", "Mean", "Sum"):
            return _joined(known) if node.op_type in ("Mean", "Sum") else known[0] if known else None
        return None

    def _sum(self, node: "NodeProto", known: list[_Value | None]) -> _Value | None:
        sign = 1 if node.op_type == "Add" else -1
        one, other = known
        if one and other:
            second = other.scaled(sign)
            terms = {name: one.terms.get(name, 0) + second.terms.get(name, 0) for name in {**one.terms, **second.terms}}
            left = {name: factor for name, factor in terms.items() if factor}
            return replace(one, terms=left).shifted(*second.offset) if left else None
        ends = self._ends(node.input[1 if one else 0])
        if ends is None:
            return None
        if one:
            return one.shifted(min(sign * ends[0], sign * ends[1]), max(sign * ends[0], sign * ends[1]))
        return other.scaled(sign).shifted(*ends) if other else None

    def _product(self, node: "NodeProto", known: list[_Value | None]) -> _Value | None:
        """A product of inputs is positive if all of them are."""
        one, other = known
        if one and other:
            return _joined(known)
        ends = self._ends(node.input[1 if one else 0])
        if ends is None or ends[0] * ends[1] <= 0:
            return None
        factor = ends[0] if ends[0] > 0 else ends[1]
        if one:
            return one.scaled(factor if node.op_type == "Mul" else 1 / factor)
        return other.scaled(factor) if other and node.op_type == "Mul" else None

    def _keeps_positive(self, name: str) -> bool:
        ends = self._ends(name)
        return ends is not None and ends[0] > 0

    def _ends(self, name: str) -> Interval | None:
        """The smallest and the largest number of a constant; None for other values, and for weights in files."""
        from onnx import numpy_helper

        tensor = self.constants.get(name)
        if tensor is None or tensor.external_data:
            return None
        array = numpy_helper.to_array(tensor)
        if not array.size or array.dtype.kind not in "fiu":
            return None
        low, high = float(array.min()), float(array.max())
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _joined(values: "Iterable[_Value | None]") -> _Value | None:
    """Numbers of several values: each input with the factor of the first that has it."""
    found = [each for each in values if each]
    if not found:
        return None
    terms = {name: factor for each in reversed(found) for name, factor in each.terms.items()}
    low, high = min(each.offset[0] for each in found), max(each.offset[1] for each in found)
    return _Value(terms=terms, offset=(low, high))
