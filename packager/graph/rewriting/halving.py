"""Finds numbers that float16 cannot represent, and the nodes that must therefore keep their constants in float32."""

from typing import TYPE_CHECKING

from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.layers import WEIGHTED
from packager.graph.weights.half import OVERFLOW, VANISHING
from packager.graph.weights.reading import Weight

if TYPE_CHECKING:
    from onnx import NodeProto

SUMMING = (*WEIGHTED, "Gather", "LSTM", "GRU", "RNN", "Mul")
"""Operators in which a number near zero is one of many terms: it may become zero."""

ADDING = ("Add", "Sub")
"""Operators in which it may always become zero: the error is less than 3e-8."""

BOUNDING = ("Add", "Sub", "Where", "Clip", "Pad", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
"""Operators that use a number beyond all others as a mask or limit: the largest float16 does as well."""


class Misfits:
    """Constants with numbers that are too large or too small; each is read once."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.known: dict[str, tuple[int, int, bool]] = {}

    def reason(self, node: "NodeProto") -> str:
        """Why `node` cannot take its constants in float16; empty if it can."""
        for name in node.input:
            tensor = self.draft.constants.get(name)
            if tensor is None or tensor.data_type != tensor.FLOAT or 0 in tensor.dims:
                continue
            overflows, vanishing, is_all = self._counts(name)
            if overflows and node.op_type not in BOUNDING:
                return f"'{name}' has {overflows:,} numbers that are too large for float16"
            is_harmless = node.op_type in ADDING or (node.op_type in SUMMING and not is_all)
            if vanishing and not is_harmless and not self._is_small(name):
                return f"'{name}' has {vanishing:,} numbers that are too small for float16"
        return ""

    def _is_small(self, name: str) -> bool:
        """Whether it is small: its vanishing numbers are raised to 6e-8: enough to keep a
        divisor from being zero."""
        return self.draft.is_inline(name)

    def _counts(self, name: str) -> tuple[int, int, bool]:
        if name not in self.known:
            self.known[name] = _counted(self.draft.weight(name))
        return self.known[name]


def _counted(weight: Weight) -> tuple[int, int, bool]:
    """Counts of numbers that are too large and of those that would become zero, and whether the latter are its only
    nonzero ones.

    Raises ModelError for NaN.
    """
    import numpy

    overflows = vanishing = others = 0
    for chunk in weight.chunks():
        sizes = numpy.abs(chunk, out=chunk)
        if not sizes.max() < OVERFLOW:  # or NaN
            overflows += int(numpy.count_nonzero((sizes >= OVERFLOW) & numpy.isfinite(sizes)))
        if not sizes.min() > VANISHING:  # or NaN
            vanishing += int(numpy.count_nonzero(sizes <= VANISHING) - numpy.count_nonzero(sizes == 0))
        others += int(numpy.any(sizes > VANISHING))
    return overflows, vanishing, vanishing > 0 and not others
