"""Byte-pair encoding (arXiv:1508.07909) of all pieces of a text at once.

Each round merges, in every piece, the pairs of the lowest rank there. One at a time would give the same: what a merge
makes takes part only in merges of higher ranks. Ranks for which this is not so merge the leftmost pair only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization import byte_level, units, words
from packager.tokenization.definition import BytePairs
from packager.tokenization.pages import END
from packager.tokenization.pairs import NEVER, Merge, Pairs, look_up, pairs
from packager.tokenization.stages import Flat, Points, flat

LAST = 2**62
"""beyond all positions"""


def write(writer: Writer, model: BytePairs, text: Points) -> Flat:
    """The tokens of the pieces of `text`."""
    if model.is_bytes:
        text = byte_level.write(writer, text)
    if model.takes_whole and (unreached := _unreached(model)):
        text = words.write(writer, text, unreached)
    text = units.write(writer, model, text)
    merges = _merges(model)
    table = pairs(merges, max((*model.vocabulary.values(), model.unknown or 0)) + 2)
    symbols, first = _merged(writer, table, _early(merges), _units(writer, text, table.tokens - 1))
    return _tokens(writer, text, symbols, first)


@dataclass(frozen=True, kw_only=True)
class _Units:
    """Tokens of all pieces before they merge, with a border between pieces and at the end. Names of values, [units]."""

    symbols: str
    """int32: `border` for a border, which no pair includes"""
    groups: str
    """int64: number of the piece"""
    border: int


def _units(writer: Writer, text: Points, border: int) -> _Units:
    is_border = writer.node("GreaterOrEqual", text.points, END)
    symbols = writer.node("Where", is_border, border, text.points)
    groups = writer.node("CumSum", writer.cast(is_border, ElementType.INT64), 0)
    return _Units(symbols=writer.cast(symbols, ElementType.INT32), groups=groups, border=border)


def _merges(model: BytePairs) -> Mapping[tuple[int, int], Merge]:
    if not model.fuses_unknown or model.unknown is None:
        return model.merges
    later = {pair: replace(merge, rank=merge.rank + 1) for pair, merge in model.merges.items()}
    return {(model.unknown, model.unknown): Merge(rank=0, product=model.unknown), **later}


def _unreached(model: BytePairs) -> Mapping[str, int]:
    """Tokens that merges do not make of their characters: found as whole pieces alone."""
    found = {}
    for token, number in model.vocabulary.items():
        parts = [model.vocabulary.get(each, NEVER) for each in token]
        while len(parts) > 1:
            known = [(model.merges[pair], place) for place, pair in enumerate(pairwise(parts)) if pair in model.merges]
            if not known:
                break
            merge, place = min(known, key=lambda each: each[0].rank)
            parts[place : place + 2] = [merge.product]
        if parts != [number]:
            found[byte_level.decoded(token) if model.is_bytes else token] = number
    return {text: number for text, number in found.items() if text}


def _early(merges: Mapping[tuple[int, int], Merge]) -> frozenset[int]:
    """Ranks of merges whose product takes part in another merge of the same or a lower rank."""
    lowest: dict[int, int] = {}
    for pair, merge in merges.items():
        for token in set(pair) - {merge.product}:
            lowest[token] = min(merge.rank, lowest.get(token, NEVER))
    return frozenset(each.rank for each in merges.values() if lowest.get(each.product, NEVER) <= each.rank)


def _merged(writer: Writer, table: Pairs, early: frozenset[int], units: _Units) -> tuple[str, str]:
    """The tokens of all pieces, with borders, int32 [tokens], and the first unit of each, int64 [tokens]."""
    import numpy

    ranks, product = writer.constant(table.rank), writer.constant(table.product)
    count = writer.node("Add", writer.node("Shape", units.groups), 1)
    highest = writer.node("Expand", writer.int32([NEVER - 1]), count)
    only_first = [writer.constant(numpy.isin(table.rank, sorted(early)))] if early else []

    def step(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        symbol, group, first = carried
        token = inner.cast(symbol, ElementType.INT64)
        left = inner.node("Slice", token, [0], [-1], [0])
        is_pair, slot = look_up(inner, table, left, inner.node("Slice", token, [1], [LAST], [0]))
        rank = inner.node("Where", is_pair, inner.node("Gather", ranks, slot), inner.int32(NEVER))
        of_pair = inner.node("Slice", group, [0], [-1], [0])
        lowest = inner.node("ScatterElements", highest, of_pair, rank, axis=0, reduction="min")
        merges = _apart(inner, inner.node("Equal", rank, inner.node("Gather", lowest, of_pair)))
        for is_early in only_first:
            merges = _first_of_group(inner, merges, inner.node("Gather", is_early, slot), of_pair, count)
        made = inner.node("Where", merges, inner.node("Gather", product, slot), inner.cast(left, ElementType.INT32))
        made = inner.node("Concat", made, inner.int32([units.border]), axis=0)
        kept = inner.node("Not", inner.node("Concat", inner.cast([0], ElementType.BOOL), merges, axis=0))
        goes_on = inner.node("Less", inner.node("ReduceMin", rank, keepdims=0), inner.int32(NEVER))
        return goes_on, [inner.node("Compress", value, kept, axis=0) for value in (made, group, first)]

    first = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", units.groups)), 1)
    carried = [(units.symbols, ElementType.INT32), (units.groups, ElementType.INT64), (first, ElementType.INT64)]
    symbols, _, first = writer.loop("", carried, step)
    return symbols, first


def _apart(writer: Writer, flags: str) -> str:
    """`flags` without every second one of those that stand side by side, from the left: pairs that overlap."""
    numbers = writer.node("CumSum", writer.cast(flags, ElementType.INT64), 0)
    others = writer.node("Not", flags)
    other = writer.node("CumSum", writer.cast(others, ElementType.INT64), 0)
    # what the number was before each run: the first element stands for the beginning
    known = writer.node("Concat", [0], writer.node("Compress", numbers, others, axis=0), axis=0)
    number = writer.node("Sub", numbers, writer.node("Gather", known, other))
    return writer.node("And", flags, writer.cast(writer.node("BitwiseAnd", number, 1), ElementType.BOOL))


def _first_of_group(writer: Writer, merges: str, is_early: str, group: str, count: str) -> str:
    """`merges` without those after the first of a group, where `is_early`."""
    size = writer.node("Squeeze", writer.node("Shape", group))
    place = writer.node("Where", merges, writer.node("Range", 0, size, 1), LAST)
    none = writer.node("Expand", [LAST], count)
    first = writer.node("ScatterElements", none, group, place, axis=0, reduction="min")
    is_first = writer.node("Equal", place, writer.node("Gather", first, group))
    return writer.node("And", merges, writer.node("Or", is_first, writer.node("Not", is_early)))


def _tokens(writer: Writer, text: Points, symbols: str, first: str) -> Flat:
    after = writer.node("Slice", first, [1], [LAST], [0])
    after = writer.node("Concat", after, writer.node("Shape", text.points), axis=0)
    point = writer.node("Gather", text.points, first)
    number = writer.node("Add", writer.cast(symbols, ElementType.INT64), END + 1)
    made = Points(
        points=writer.node("Where", writer.node("Less", point, END), number, point),
        starts=writer.node("Gather", text.starts, first),
        ends=writer.node("Gather", text.ends, writer.node("Sub", after, 1)),
    )
    return flat(writer, made)
