"""Boxes around the connected places of a probability map, the output of text detectors.

Each row of the map is a list of runs: adjacent places above the threshold. Runs of neighbouring rows that touch, even
at a corner, are connected. Since there are far fewer runs than places, connected regions are searched among the runs
only.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.contract.boxes.runs import Runs, runs_of
from packager.core.contract import ADDED
from packager.core.signature import ElementType
from packager.graph.writer import Writer, Written

if TYPE_CHECKING:
    from onnx import GraphProto


@dataclass(frozen=True, kw_only=True)
class Regions:
    """Settings of the table for regions."""

    threshold: float
    """places need a higher probability"""
    unclip_ratio: float
    """growth of a box on each side, as a share of its area divided by its outline: DB is trained to shrink boxes"""
    min_size: float
    """smallest shorter side, in places, before the box grows"""


@dataclass(frozen=True, kw_only=True)
class Boxed:
    """Names of values in the graph."""

    corners: str
    """float [m, 4]: left, top, right, bottom, in places of the map"""
    scores: str
    """float [m]: mean probability of a region"""


def boxed(writer: Writer, likelihoods: str, wanted: Regions) -> Boxed:
    """A box around each region of `likelihoods` [h, w]."""
    runs = runs_of(writer, likelihoods, wanted.threshold)
    regions = _connected(writer, runs)
    is_first = writer.node("Equal", regions, _numbers(writer, regions))

    def of_region(values: str, reduction: str) -> str:
        start = writer.node("Mul", values, writer.node("CastLike", 0, values)) if reduction == "add" else values
        found = writer.node("ScatterElements", start, regions, values, axis=0, reduction=reduction)
        return writer.cast(writer.node("Compress", found, is_first, axis=0), writer.real)

    left, top = of_region(runs.left, "min"), of_region(runs.row, "min")
    right, bottom = of_region(runs.right, "max"), writer.node("Add", of_region(runs.row, "max"), 1.0)
    count = of_region(writer.node("Sub", runs.right, runs.left), "add")
    scores = writer.node("Div", of_region(runs.sum, "add"), count)
    width, height = writer.node("Sub", right, left), writer.node("Sub", bottom, top)
    filled = writer.node("Div", count, writer.node("Mul", width, height))
    corners, is_large = _grown(writer, (left, top, right, bottom), filled, wanted)
    return Boxed(
        corners=writer.node("Compress", corners, is_large, axis=0),
        scores=writer.node("Compress", scores, is_large, axis=0),
    )


def _connected(writer: Writer, runs: Runs) -> str:
    """int64 [runs]: the first run of the region of each run.

    Each run points to a run of its region, initially itself. In each round, both ends of a touch point to the earlier
    of their targets, and then each run points to its target's target. When nothing changes any more, all runs of a
    region point to the same run.
    """
    first = _numbers(writer, runs.row)
    return writer.node("Loop", "", _truth(writer), first, body=_round(writer, runs))


def _round(writer: Writer, runs: Runs) -> "GraphProto":
    """Body of the loop: updates the target of each run."""
    from onnx import TensorProto, helper

    inside = Writer(
        scope=f"{writer.scope}/round", taken=writer.taken, written=Written(constants=writer.written.constants)
    )
    number, goes_on, known = (f"{ADDED}{inside.scope}/{name}" for name in ("number", "goes_on", "known"))
    ends = [inside.node("Gather", known, end) for end in (runs.above, runs.below)]
    earlier = inside.node("Min", *ends)
    met = inside.node(
        "ScatterElements",
        known,
        inside.node("Concat", *ends, axis=0),
        inside.node("Concat", earlier, earlier, axis=0),
        axis=0,
        reduction="min",
    )
    short = inside.node("Gather", met, met)
    named = inside.node("Gather", short, short)
    is_new = inside.cast(inside.node("Not", inside.node("Equal", named, known)), ElementType.INT64)
    changed = inside.node("Greater", inside.node("ReduceSum", is_new, keepdims=0), 0)
    return helper.make_graph(
        inside.written.nodes,
        f"{ADDED}{inside.scope}",
        [
            helper.make_tensor_value_info(number, TensorProto.INT64, []),
            helper.make_tensor_value_info(goes_on, TensorProto.BOOL, []),
            helper.make_tensor_value_info(known, TensorProto.INT64, [None]),
        ],
        [
            helper.make_tensor_value_info(changed, TensorProto.BOOL, []),
            helper.make_tensor_value_info(named, TensorProto.INT64, [None]),
        ],
    )


def _grown(writer: Writer, sides: tuple[str, str, str, str], filled: str, wanted: Regions) -> tuple[str, str]:
    """The grown boxes [m, 4], and which of them were large enough before.

    The outline goes through the centres of the outermost places: a box 10 places wide has a width of 9. Its area counts
    as far as it is `filled`: slanted text fills little of its box.
    """
    left, top, right, bottom = sides
    starts = [writer.node("Add", each, 0.5) for each in (left, top)]
    ends = [writer.node("Sub", each, 0.5) for each in (right, bottom)]
    width, height = (writer.node("Sub", end, start) for start, end in zip(starts, ends, strict=True))
    is_large = writer.node("GreaterOrEqual", writer.node("Min", width, height), float(wanted.min_size))
    outline = writer.node("Mul", writer.node("Add", width, height), 2.0)
    area = writer.node("Mul", writer.node("Mul", width, height), filled)
    growth = writer.node("Div", writer.node("Mul", area, float(wanted.unclip_ratio)), outline)
    starts = [writer.node("Sub", each, growth) for each in starts]
    ends = [writer.node("Add", each, growth) for each in ends]
    columns = (writer.node("Unsqueeze", each, [1]) for each in (*starts, *ends))
    return writer.node("Concat", *columns, axis=1), is_large


def _numbers(writer: Writer, values: str) -> str:
    """0, 1, 2 ... with the length of `values` [n]."""
    return writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", values), [0]), 1)


def _truth(writer: Writer) -> str:
    import numpy

    return writer.constant(numpy.array(True))
