"""Canonical composition (The Unicode Standard, 3.11, D117), for all starters of a text at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from packager.contract.tokenization import unicode
from packager.contract.tokenization.pages import number_of
from packager.contract.tokenization.pairs import FoundPairs, Merge, TokenPairs, product_of
from packager.contract.tokenization.pairs import look_up as look_up_pairs
from packager.contract.tokenization.pairs import pairs as made_pairs
from packager.contract.tokenization.stages import everywhere
from packager.core.signature import ElementType
from packager.graph.writer import Writer

LAST = 2**62
"""beyond all positions"""


@dataclass(frozen=True, kw_only=True)
class Characters:
    """Decomposed code points. Names of values, int64 [characters]."""

    points: str
    classes: str
    """canonical combining classes, numbered in their order; 0 for starters"""
    replaced: str
    """how many code points of the text each replaces"""


@cache
def pairs() -> Mapping[tuple[int, int], int]:
    """Pairs of code points, and what they compose to."""
    return {**unicode.compositions(), **dict(unicode.syllables())}


def write(writer: Writer, found: Characters) -> Characters:
    """Each round composes every starter with the first code point that is not blocked from it, until none can."""
    table, numbers = _table()
    integer = ElementType.INT64

    def step(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        points, classes, replaced, is_open = carried
        size = inner.node("Squeeze", inner.node("Shape", points))
        places = inner.node("Range", 0, size, 1)
        owner = _starters_before(inner, classes, places)
        symbol = number_of(inner, points, numbers)
        symbol = inner.cast(symbol, integer)
        pair = look_up_pairs(inner, table, inner.node("Gather", symbol, owner), symbol)
        is_pair = inner.node("Less", pair.ranks, table.limit)
        can = inner.node("And", inner.node("And", is_pair, _unblocked(inner, classes, places, owner)), is_open)
        none = inner.node("Expand", [LAST], inner.node("Shape", points))
        where = inner.node("Where", can, places, LAST)
        first = inner.node("ScatterElements", none, owner, where, axis=0, reduction="min")
        of_owner = inner.node("Gather", first, owner)
        composes = inner.node("And", can, inner.node("Equal", places, of_owner))
        target = inner.node("Compress", owner, composes, axis=0)
        merging = (inner.node("Compress", each, composes, axis=0) for each in (pair.ranks, pair.slots))
        product = product_of(inner, table, FoundPairs(ranks=next(merging), slots=next(merging)))
        points = inner.node("ScatterElements", points, target, product, axis=0)
        more = inner.node("Compress", replaced, composes, axis=0)
        replaced = inner.node("ScatterElements", replaced, target, more, axis=0, reduction="add")
        # those before the one that composed were tried, and are not tried with the composite
        is_past = inner.node("And", inner.node("Less", places, of_owner), inner.node("Less", of_owner, LAST))
        is_open = inner.node("And", is_open, inner.node("Not", is_past))
        kept = inner.node("Not", composes)
        goes_on = inner.cast(inner.node("ReduceMax", inner.cast(composes, integer), keepdims=0), ElementType.BOOL)
        return goes_on, [inner.node("Compress", each, kept, axis=0) for each in (points, classes, replaced, is_open)]

    carried = [(found.points, integer), (found.classes, integer), (found.replaced, integer)]
    may_compose = (everywhere(writer, found.points), ElementType.BOOL)
    points, classes, replaced, _ = writer.loop("", [*carried, may_compose], step)
    return Characters(points=points, classes=classes, replaced=replaced)


@cache
def _table() -> tuple[TokenPairs, Mapping[int, int]]:
    """The pairs as a table, and the numbers that their code points have in it; 0 is that of all others."""
    known = sorted({point for pair in pairs() for point in pair})
    numbers = {point: number for number, point in enumerate(known, 1)}
    merges = {(numbers[a], numbers[b]): Merge(rank=0, product=made) for (a, b), made in pairs().items()}
    return made_pairs(merges, len(known) + 1), numbers


def _starters_before(writer: Writer, classes: str, places: str) -> str:
    """Positions of the last starter before each position; 0 for the first."""
    is_starter = writer.node("Equal", classes, 0)
    starters = writer.node("Compress", places, is_starter, axis=0)
    number = writer.node("CumSum", writer.cast(is_starter, ElementType.INT64), 0, exclusive=1)
    return writer.node("Gather", starters, writer.node("Max", writer.node("Sub", number, 1), 0))


def _unblocked(writer: Writer, classes: str, places: str, owner: str) -> str:
    """Whether no code point between a starter and each has the same class or a higher one, or class 0."""
    earlier = writer.node("Concat", [LAST], writer.node("Slice", classes, [0], [-1], [0]), axis=0)
    is_next = writer.node("Equal", writer.node("Sub", places, 1), owner)
    return writer.node("Or", is_next, writer.node("Less", earlier, classes))
