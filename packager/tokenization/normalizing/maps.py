"""Normalizers that change one code point at a time, and what they make of each."""

from collections.abc import Iterable, Mapping
from functools import reduce

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization.pages import filled, look_up
from packager.tokenization.stages import Points

Map = Mapping[int, tuple[int, ...]]
"""code points that become others, or none; all others stay"""


def composed(maps: Iterable[Map]) -> Map:
    """One map that does what `maps` do one after the other."""
    return reduce(_then, maps, {})


def _then(first: Map, second: Map) -> Map:
    changed = {point: tuple(each(points, second)) for point, points in first.items()}
    return {**{point: made for point, made in second.items() if point not in first}, **changed}


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
    table = filled({point: [each + 1 for each in points] for point, points in made.items()}, SELF, SELF)
    width = table.shape[1]
    rows = look_up(writer, text.points, table)
    stays = writer.node("Equal", rows, writer.int32(SELF))
    changed = writer.node("Sub", writer.cast(rows, ElementType.INT64), 1)
    points = writer.node("Where", stays, writer.node("Unsqueeze", text.points, [1]), changed)
    points = writer.flattened(points)
    if width == 1 and all(made.values()):
        return Points(points=points, starts=text.starts, ends=text.ends)
    places = writer.positions(writer.flattened(rows))
    source = writer.node("Div", places, width) if width > 1 else places
    return Points(
        points=writer.node("Gather", points, places),
        starts=writer.node("Gather", text.starts, source),
        ends=writer.node("Gather", text.ends, source),
    )
