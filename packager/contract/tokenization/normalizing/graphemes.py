"""Extended grapheme clusters of a few bytes (Unicode Standard Annex 29), which SentencePiece's tables replace at once.

Of the rules those are here that end or continue a cluster of less than six bytes of UTF-8: not the ones for flags and
for conjuncts of Indic letters, whose clusters are longer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from packager.contract.tokenization import unicode
from packager.contract.tokenization.byte_level import LIMITS
from packager.contract.tokenization.pages import filled, look_up
from packager.contract.tokenization.stages import sums
from packager.core.signature import ElementType
from packager.graph.writer import Writer

LONGEST_BYTES = 5
OTHER, EXTEND, PREPEND, CONTROL, RETURN, FEED, LEAD, VOWEL, TRAIL, OPEN, CLOSED = range(11)
"""classes of code points; the last five are Hangul's L, V, T, LV and LVT"""
CLASSES = 11
HANGUL = {
    LEAD: (range(0x1100, 0x1160), range(0xA960, 0xA97D)),
    VOWEL: (range(0x1160, 0x11A8), range(0xD7B0, 0xD7C7)),
    TRAIL: (range(0x11A8, 0x1200), range(0xD7CB, 0xD7FC)),
}
ADJOINING = {(RETURN, FEED)} | {
    *((LEAD, each) for each in (LEAD, VOWEL, OPEN, CLOSED)),
    *((each, other) for each in (OPEN, VOWEL) for other in (VOWEL, TRAIL)),
    *((each, TRAIL) for each in (CLOSED, TRAIL)),
}


@dataclass(frozen=True, kw_only=True)
class Short:
    """Clusters of at most LONGEST_BYTES; code points of longer ones are clusters of their own. Names of values, [n]."""

    begins: str
    """bool: whether a cluster begins"""
    number: str
    """int64: number of the cluster"""
    size: str
    """int64: code points of the cluster"""


def short(writer: Writer, points: str) -> Short:
    """The clusters of `points`, int64 [n]; END and numbers above belong to none."""
    begins = writer.node("Not", _joins(writer, points))
    limits = [writer.cast(writer.node("GreaterOrEqual", points, limit), ElementType.INT64) for limit in LIMITS]
    size = writer.integer(1)
    for each in limits:
        size = writer.node("Add", size, each)
    is_long = writer.node("Greater", sums(writer, size, _numbers(writer, begins)), LONGEST_BYTES)
    begins = writer.node("Or", begins, is_long)
    number = _numbers(writer, begins)
    one = writer.node("Add", writer.node("Mul", points, 0), 1)
    return Short(begins=begins, number=number, size=sums(writer, one, number))


def apart() -> frozenset[int]:
    """Code points that are clusters of their own, but for a line feed behind a carriage return."""
    return frozenset(point for point, kind in _classes().items() if kind in (CONTROL, FEED))


def _numbers(writer: Writer, begins: str) -> str:
    return writer.node("Sub", writer.node("CumSum", writer.cast(begins, ElementType.INT64), 0), 1)


def _joins(writer: Writer, points: str) -> str:
    """bool [n]: whether each position continues the cluster of the one before."""
    import numpy

    rows = {point: [kind] for point, kind in _classes().items()}
    kind = look_up(writer, points, filled(rows, OTHER, CONTROL).reshape(-1))
    kind = writer.cast(kind, ElementType.INT64)
    earlier = writer.node("Concat", [CONTROL], writer.node("Slice", kind, [0], [-1], [0]), axis=0)
    table = numpy.array([[_adjoins(one, other) for other in range(CLASSES)] for one in range(CLASSES)])
    number = writer.node("Add", writer.node("Mul", earlier, CLASSES), kind)
    return writer.node("Gather", writer.constant(table.reshape(-1)), number)


def _adjoins(one: int, other: int) -> bool:
    if CONTROL in (one, other) or RETURN in (one, other) or FEED in (one, other):
        return (one, other) in ADJOINING
    return other == EXTEND or one == PREPEND or (one, other) in ADJOINING


def _classes() -> Mapping[int, int]:
    made: dict[int, int] = {}
    for kind, name in ((CONTROL, "grapheme-control"), (EXTEND, "grapheme-extend"), (PREPEND, "grapheme-prepend")):
        made |= dict.fromkeys(unicode.members(name), kind)
    for kind, ranges in HANGUL.items():
        made |= {point: kind for each in ranges for point in each}
    for (_, _), syllable in unicode.syllables():
        made[syllable] = OPEN if (syllable - unicode.HANGUL) % 28 == 0 else CLOSED
    return {**made, ord("\r"): RETURN, ord("\n"): FEED}
