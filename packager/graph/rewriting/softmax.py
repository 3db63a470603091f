"""Keeps ranges within the limits of the 8-bit kernel of Softmax.

ONNX Runtime's QLinearSoftmax multiplies exponentials of up to 2^32 / (length * e^5) with 1 / scale of its output, in 32
bits (onnxruntime/contrib_ops/cpu/quantization/qlinear_softmax.cc). On overflow it returns zeros.
"""

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from packager.core.quantized import Range
from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.layers import attribute

if TYPE_CHECKING:
    from onnx import NodeProto

ONE_AXIS_SINCE = 13
"""Before that opset, Softmax flattened all axes from the given one on, and had another default."""
LEAST_TOP = 255 / math.exp(5) * 1.05
"""Minimum of the largest output times the length, with a margin: uniform outputs have 1."""


def length_of(draft: Draft, node: "NodeProto") -> int:
    """Number of terms in each sum of the Softmax `node`; 0 if it depends on the input."""
    sizes = draft.shape(node.input[0])
    is_older = draft.opset < ONE_AXIS_SINCE
    axis = int(attribute(node, "axis", 1 if is_older else -1))
    if not sizes or not -len(sizes) <= axis < len(sizes):
        return 0
    return math.prod(sizes[axis:]) if is_older else sizes[axis]


def bounded(draft: Draft, passing: Collection[str]) -> Mapping[str, Range]:
    """The ranges of `draft`, with those of Softmax outputs widened as far as the kernel needs: by less than one bit. A
    Softmax of variable length gets no range. Nodes of `passing` pass their input on.

    A float Softmax is widened too: ONNX Runtime fuses it if its output is quantized later.
    """
    lengths: dict[str, int] = {}
    for node in draft.graph.node:
        if node.op_type == "Softmax" and node.domain in ("", "ai.onnx"):
            lengths[node.output[0]] = length_of(draft, node)
        elif node.op_type in passing and node.input[0] in lengths:
            lengths |= dict.fromkeys(node.output, lengths[node.input[0]])
    ranges = {name: each for name, each in draft.ranges.items() if lengths.get(name, 1)}
    for name in lengths.keys() & ranges.keys():
        given = ranges[name]
        ranges[name] = Range(low=given.low, high=max(given.high, LEAST_TOP / lengths[name]))
    return ranges
