"""Normalizers that change one code point at a time, and what they make of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

from packager.contract.tokenization.pages import END, filled, look_up
from packager.contract.tokenization.stages import Points, kept_only
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

Map = Mapping[int, tuple[int, ...]]
"""code points that become others, or none; all others stay"""
KEPT = 4
"""combinations of maps whose result is kept: most tokenizers of one kind have the same"""
_kept: list[tuple[Sequence[Map], Map]] = []


def composed(maps: Iterable[Map]) -> Map:
    """One map that does what `maps` do one after the other."""
    wanted = tuple(maps)
    for known, made in _kept:
        if known == wanted:  # maps that are the same object are not compared
            return made
    made = reduce(_then, wanted, {})
    _kept[:] = [(wanted, made), *_kept[: KEPT - 1]]
    return made


def _then(first: Map, second: Map) -> Map:
    return {**second, **first, **{point: tuple(each(first[point], second)) for point in _becoming(first, second)}}


def _becoming(made: Map, others: Iterable[int]) -> Iterable[int]:
    """The code points that become at least one of `others`: few, of a hundred thousand."""
    import numpy

    is_other = numpy.zeros(END, bool)
    is_other[numpy.fromiter(others, numpy.int64)] = True
    lengths = numpy.fromiter(map(len, made.values()), numpy.int64, len(made))
    values = numpy.fromiter(chain.from_iterable(made.values()), numpy.int64, lengths.sum())
    points = numpy.fromiter(made, numpy.int64, len(made)).repeat(lengths)
    found: list[int] = numpy.unique(points[is_other[values]]).tolist()
    return found


def each(points: Iterable[int], made: Map) -> Iterable[int]:
    """The code points that `made` makes of `points`."""
    for point in points:
        yield from made.get(point, (point,))


def removing(points: Iterable[int]) -> Map:
    return dict.fromkeys(points, ())


SELF = -1
"""in the table: the code point itself; 0 is none, and others are stored with 1 more"""


def write(writer: Writer, text: Points, made: Map) -> Points:
    """`text` with what `made` makes of each code point, which comes from the same part of the text."""
    width = max(map(len, made.values()), default=1)
    if width == 1 and all(made.values()):
        return _moved(writer, text, made)
    return _selected(writer, text, made) if width <= 1 else _widened(writer, text, made)


def _moved(writer: Writer, text: Points, made: Map) -> Points:
    """Each code point becomes one other: the table has how far it is from it."""
    table = filled({point: [other - point] for point, (other,) in made.items()}, 0, 0)
    distance = writer.cast(look_up(writer, text.points, table.reshape(-1)), ElementType.INT64)
    return replace(text, points=writer.node("Add", text.points, distance))


def _selected(writer: Writer, text: Points, made: Map) -> Points:
    """Each code point becomes one other, or none."""
    rows = look_up(writer, text.points, _table(made).reshape(-1))
    points = _points(writer, text.points, rows)
    return kept_only(writer, replace(text, points=points), writer.cast(rows, ElementType.BOOL))


def _widened(writer: Writer, text: Points, made: Map) -> Points:
    """Each code point becomes several others, or none."""
    rows = look_up(writer, text.points, _table(made))
    points = writer.flattened(_points(writer, writer.node("Unsqueeze", text.points, [1]), rows))
    places = writer.positions(writer.flattened(rows))
    source = writer.node("Div", places, max(map(len, made.values())))
    return Points(
        points=writer.node("Gather", points, places),
        starts=writer.node("Gather", text.starts, source),
        ends=writer.node("Gather", text.ends, source),
    )


def _table(made: Map) -> "numpy.ndarray":
    return filled({point: [each + 1 for each in points] for point, points in made.items()}, SELF, SELF)


def _points(writer: Writer, points: str, rows: str) -> str:
    stays = writer.node("Equal", rows, writer.int32(SELF))
    changed = writer.node("Sub", writer.cast(rows, ElementType.INT64), 1)
    return writer.node("Where", stays, points, changed)
