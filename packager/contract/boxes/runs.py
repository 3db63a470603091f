"""The rows of a map as runs: places side by side that are likely enough."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.contract.writer import Writer
from packager.specs import ElementType

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Names of values in the graph, row by row from the top, each from the left."""

    row: str
    """int64 [r]"""
    left: str
    """int64 [r]: the first place"""
    right: str
    """int64 [r]: behind the last place"""
    sum: str
    """float [r]: of the likelihoods"""
    above: str
    """int64 [e]: a run that touches one of the next row ..."""
    below: str
    """int64 [e]: ... which is this"""


def runs_of(writer: Writer, likelihoods: str, threshold: float) -> Runs:
    """Those of `likelihoods` [h, w] above `threshold`."""
    is_likely = writer.node("Greater", likelihoods, float(threshold))
    width = writer.node("Shape", likelihoods, start=1, end=2)
    ringed = writer.node("Pad", is_likely, [0, 1, 0, 1])  # with a column of nothing on either side
    left, right = (_columns(writer, ringed, shift, width) for shift in (0, 2))
    is_start = writer.node("And", is_likely, writer.node("Not", left))
    is_end = writer.node("And", is_likely, writer.node("Not", right))
    row, first = _where(writer, is_start)
    _, last = _where(writer, is_end)
    above, below = _touches(writer, ringed, is_start, width)
    return Runs(
        row=row,
        left=first,
        right=writer.node("Add", last, 1),
        sum=_sums(writer, likelihoods, is_likely, (row, first, last)),
        above=above,
        below=below,
    )


def _columns(writer: Writer, ringed: str, start: int, width: str) -> str:
    """`width` columns from `start`, which is from 0 to 2."""
    return writer.node("Slice", ringed, [start], writer.node("Add", width, [start]), [1])


def _where(writer: Writer, truths: str) -> tuple[str, str]:
    """Rows and columns of what is true in `truths` [h, w], row by row."""
    found = writer.node("NonZero", truths)
    return writer.node("Gather", found, 0, axis=0), writer.node("Gather", found, 1, axis=0)


def _sums(writer: Writer, likelihoods: str, is_likely: str, places: tuple[str, str, str]) -> str:
    """Sums from the start of a row stay small enough for floats."""
    row, first, last = places
    likely = writer.node("Where", is_likely, likelihoods, 0.0)
    so_far = writer.node("CumSum", likely, 1)
    start, end = (_pairs(writer, row, column) for column in (first, last))
    behind = writer.node("Sub", writer.node("GatherND", so_far, end), writer.node("GatherND", so_far, start))
    return writer.node("Add", behind, writer.node("GatherND", likely, start))


def _pairs(writer: Writer, row: str, column: str) -> str:
    return writer.node("Concat", *(writer.node("Unsqueeze", each, [1]) for each in (row, column)), axis=1)


def _touches(writer: Writer, ringed: str, is_start: str, width: str) -> tuple[str, str]:
    """Pairs of runs in neighbouring rows: straight below, to the left and to the right."""
    flat = writer.node("Reshape", writer.cast(is_start, ElementType.INT32), [-1])
    number = writer.node("Sub", writer.node("CumSum", flat, 0), writer.constant(_one()))
    upper, lower = writer.node("Slice", ringed, [0], [-1], [0]), writer.node("Slice", ringed, [1], [2**31], [0])
    likely = _columns(writer, upper, 1, width)
    ends: tuple[list[str], list[str]] = ([], [])
    for shift in (0, 1, 2):
        is_pair = writer.node("And", likely, _columns(writer, lower, shift, width))
        row, column = _where(writer, _starts(writer, is_pair))
        place = writer.node("Add", writer.node("Mul", row, width), column)
        other = writer.node("Add", writer.node("Add", place, width), shift - 1)
        for found, at in zip(ends, (place, other), strict=True):
            found.append(writer.node("Gather", number, at))
    above, below = (writer.cast(writer.node("Concat", *found, axis=0), ElementType.INT64) for found in ends)
    return above, below


def _starts(writer: Writer, truths: str) -> str:
    """The first of each run: the others say the same of the same two runs."""
    before = writer.node("Slice", writer.node("Pad", truths, [0, 1, 0, 0]), [0], [-1], [1])
    return writer.node("And", truths, writer.node("Not", before))


def _one() -> "numpy.ndarray":
    import numpy

    return numpy.array(1, numpy.int32)
