"""Runs of a map: adjacent places of a row above the threshold."""

from dataclasses import dataclass

from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Names of values in the graph, row by row from the top, each from the left."""

    row: str
    """int64 [r]"""
    left: str
    """int64 [r]: first place"""
    right: str
    """int64 [r]: position after the last place"""
    sum: str
    """float [r]: sum of the probabilities"""
    above: str
    """int64 [e]: a run that touches one of the next row"""
    below: str
    """int64 [e]: the touched run"""


@dataclass(frozen=True, kw_only=True)
class Places:
    """Every place of a map, as values in the graph."""

    numbers: str
    """int64 [h * w]: 0, 1, 2 ..."""
    width: str
    """int64 [1]"""

    def where(self, writer: Writer, truths: str) -> str:
        """int64 [n]: the numbers of the true places in `truths`, which has all rows or all but the last."""
        # ONNX Runtime computes this in a quarter of the time of NonZero.
        return writer.node("Compress", self.numbers, writer.node("Reshape", truths, [-1]), axis=0)

    def columns(self, writer: Writer, ringed: str, start: int) -> str:
        """The map's columns of `ringed`, from column `start`, 0 to 2."""
        return writer.node("Slice", ringed, [start], writer.node("Add", self.width, [start]), [1])


def runs_of(writer: Writer, likelihoods: str, threshold: float) -> Runs:
    """The runs of `likelihoods` [h, w] above `threshold`."""
    is_likely = writer.node("Greater", likelihoods, float(threshold))
    places = Places(
        numbers=writer.node("Range", 0, writer.node("Size", likelihoods), 1),
        width=writer.node("Shape", likelihoods, start=1, end=2),
    )
    ringed = writer.node("Pad", is_likely, [0, 1, 0, 1])  # with an empty column on either side
    left, right = (places.columns(writer, ringed, shift) for shift in (0, 2))
    is_start = writer.node("And", is_likely, writer.node("Not", left))
    is_end = writer.node("And", is_likely, writer.node("Not", right))
    first, last = places.where(writer, is_start), places.where(writer, is_end)
    above, below = _touches(writer, ringed, is_start, places)
    return Runs(
        row=writer.node("Div", first, places.width),
        left=writer.node("Mod", first, places.width),
        right=writer.node("Add", writer.node("Mod", last, places.width), 1),
        sum=_sums(writer, likelihoods, is_likely, first, last),
        above=above,
        below=below,
    )


def _sums(writer: Writer, likelihoods: str, is_likely: str, first: str, last: str) -> str:
    """Sums are computed per row, because they must be small enough for floats."""
    likely = writer.node("Where", is_likely, likelihoods, 0.0)
    so_far = writer.node("Reshape", writer.node("CumSum", likely, 1), [-1])
    behind = writer.node("Sub", *(writer.node("Gather", so_far, place) for place in (last, first)))
    return writer.node("Add", behind, writer.node("Gather", writer.node("Reshape", likely, [-1]), first))


def _touches(writer: Writer, ringed: str, is_start: str, places: Places) -> tuple[str, str]:
    """Pairs of runs in neighbouring rows: straight below, to the left and to the right."""
    starts = writer.cast(writer.node("Reshape", is_start, [-1]), ElementType.INT32)
    run_count = writer.node("CumSum", starts, 0)  # for each place, the number of runs that started up to it
    upper, lower = writer.node("Slice", ringed, [0], [-1], [0]), writer.node("Slice", ringed, [1], [2**31], [0])
    likely = places.columns(writer, upper, 1)
    ends: tuple[list[str], list[str]] = ([], [])
    for shift in (0, 1, 2):
        is_pair = writer.node("And", likely, places.columns(writer, lower, shift))
        place = _first_places(writer, is_pair, places)
        other = writer.node("Add", writer.node("Add", place, places.width), shift - 1)
        for found, at in zip(ends, (place, other), strict=True):
            found.append(writer.node("Gather", run_count, at))
    counts = (writer.cast(writer.node("Concat", *found, axis=0), ElementType.INT64) for found in ends)
    above, below = (writer.node("Sub", count, 1) for count in counts)
    return above, below


def _first_places(writer: Writer, truths: str, places: Places) -> str:
    """The first of adjacent places in `truths`: the others connect the same two runs."""
    before = writer.node("Slice", writer.node("Pad", truths, [0, 1, 0, 0]), [0], [-1], [1])
    return places.where(writer, writer.node("And", truths, writer.node("Not", before)))
