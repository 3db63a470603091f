"""What the 8-bit kernel of Softmax can count up to.

ONNX Runtime's QLinearSoftmax multiplies exponentials of up to 2^32 / (length * e^5) with 1 / scale of what it gives, in
32 bits (onnxruntime/contrib_ops/cpu/quantization/qlinear_softmax.cc). Where that overflows it gives zeros.
"""

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from packager.core.values import Range
from packager.rewriting.draft import Draft
from packager.rewriting.layers import attribute

if TYPE_CHECKING:
    from onnx import NodeProto

ONE_AXIS_SINCE = 13
"""Before that opset all axes from the one in question on were one, and the default was another."""
LEAST_TOP = 255 / math.exp(5) * 1.05
"""What the greatest output times the length has to be at least, with a margin: numbers that are all alike have 1."""


def length_of(draft: Draft, node: "NodeProto") -> int:
    """How many numbers each sum of the Softmax `node` has; 0 where that depends on the input."""
    sizes = draft.shape(node.input[0])
    is_older = draft.opset < ONE_AXIS_SINCE
    axis = int(attribute(node, "axis", 1 if is_older else -1))
    if not sizes or not -len(sizes) <= axis < len(sizes):
        return 0
    return math.prod(sizes[axis:]) if is_older else sizes[axis]


def bounded(draft: Draft, passing: Collection[str]) -> Mapping[str, Range]:
    """The ranges of `draft`, those of what a Softmax gives as wide as its kernel needs them: by less than one bit. Of
    a Softmax over any number of values there is none. Nodes of `passing` pass on what they take.

    It matters for a Softmax in float, too: ONNX Runtime fuses it where what it gives is quantized later.
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
