"""Finds limits that rounding to 8 or 16 bits makes redundant: a Relu or Clip before QuantizeLinear."""

import math

from packager.graph.view import Graph, Node, Value
from packager.verification.partition.unit import number

RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
LARGEST = 3.4028234663852886e38
"""std::numeric_limits<float>::max(): the default of Clip's bounds."""


def is_redundant(clip: Node, quantizer: Node, graph: Graph) -> bool:
    """Whether rounding to the quantized range cuts off everything that `clip` would (qdq_util.cc,
    IsClipMadeRedundantByQ)."""
    scale = number(graph.value(quantizer.inputs[1]))
    has_zero_point = len(quantizer.inputs) > 2 and quantizer.inputs[2]
    zero = graph.value(quantizer.inputs[2]) if has_zero_point else Value(name="", element="uint8", shape=())
    zero_point = number(zero) if has_zero_point else 0
    limits = RANGES.get(zero.element)
    if scale is None or zero_point is None or limits is None or graph.value(quantizer.inputs[1]).rank != 0:
        return False
    if clip.op == "Relu":
        return zero_point == limits[0]
    bounds = clip_bounds(clip, graph)
    if bounds is None or scale == 0:
        return False
    lowest, highest = (_rounded(bound / scale) + int(zero_point) for bound in bounds)
    return lowest <= limits[0] and highest >= limits[1]


def _rounded(number: float) -> int:
    # In C++ a float beyond int32 becomes the lowest int32.
    return round(number) if math.isfinite(number) and abs(number) < 2**31 else -(2**31)


def clip_bounds(clip: Node, graph: Graph) -> tuple[float, float] | None:
    """Lower and upper bound of a Clip; None if one of them is not constant or not read."""
    bounds = [-LARGEST, LARGEST]
    for position, name in enumerate(("min", "max")):
        given = clip.attributes.get(name)
        if clip.since_version < 11 and isinstance(given, float):
            bounds[position] = given
        if clip.since_version >= 11 and len(clip.inputs) > position + 1 and clip.inputs[position + 1]:
            bound = number(graph.value(clip.inputs[position + 1]))
            if bound is None:
                return None
            bounds[position] = bound
    return bounds[0], bounds[1]
