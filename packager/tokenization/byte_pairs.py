"""Byte-pair encoding (arXiv:1508.07909) of all pieces of a text at once.

Each round merges, in every piece, the pairs of the lowest rank there. One at a time would give the same: what a merge
makes takes part only in merges of higher ranks. Ranks for which this is not so merge the leftmost pair only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from packager.core.errors import ConfigError
from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization import byte_level
from packager.tokenization.definition import BytePairs
from packager.tokenization.pages import END
from packager.tokenization.pairs import NEVER, Merge, Pairs, pairs
from packager.tokenization.stages import BREAK, Flat, Points

LAST = 2**62
"""beyond all positions"""


def write(writer: Writer, model: BytePairs, text: Points) -> Flat:
    text = byte_level.write(writer, text)
    merges = _merges(model)
    if model.takes_whole:
        _refuse_unreached(model)
    table = pairs(merges, max(model.vocabulary.values()) + 2)
    units = _units(writer, model, text, table.tokens - 1)
    symbols, first = _merged(writer, table, _early(merges), units)
    return _tokens(writer, units, symbols, first, text)


@dataclass(frozen=True, kw_only=True)
class _Units:
    """Bytes of all pieces, with a border between pieces and at the end. Names of values, [units]."""

    symbols: str
    """int32: token of each byte; `border` for a border, which no pair includes"""
    groups: str
    """int64: number of the piece"""
    places: str
    """int64: positions in the text"""
    border: int


def _units(writer: Writer, model: BytePairs, text: Points, border: int) -> _Units:
    import numpy

    known = [model.vocabulary.get(each, -1) for each in byte_level.CHARACTERS]
    table = writer.constant(numpy.array([*known, border], numpy.int32))
    symbols = writer.node("Gather", table, writer.node("Min", text.points, len(known)))
    if min(known) < 0:
        places = writer.positions(writer.node("GreaterOrEqual", symbols, writer.int32(0)))
        symbols = writer.node("Gather", symbols, places)
    else:
        places = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", symbols)), 1)
    is_border = writer.node("Equal", symbols, writer.int32(border))
    groups = writer.node("CumSum", writer.cast(is_border, ElementType.INT64), 0)
    return _Units(symbols=symbols, groups=groups, places=places, border=border)


def _merges(model: BytePairs) -> Mapping[tuple[int, int], Merge]:
    known = model.vocabulary
    return {
        (known[first], known[second]): Merge(rank=rank, product=known[first + second])
        for rank, (first, second) in enumerate(model.merges)
    }


def _refuse_unreached(model: BytePairs) -> None:
    """Raises ConfigError for a token that merges do not make of its bytes: it would have to be found as a whole."""
    ranks = {pair: rank for rank, pair in enumerate(model.merges)}
    for token in model.vocabulary:
        parts = list(token)
        while len(parts) > 1:
            rank, place = min((ranks.get(pair, NEVER), place) for place, pair in enumerate(pairwise(parts)))
            if rank == NEVER:
                raise ConfigError(
                    f"the token {token!r} is in no merge, which is not supported with ignore_merges",
                    hint="use a tokenizer without ignore_merges, or tokenize in the app",
                )
            parts[place : place + 2] = [parts[place] + parts[place + 1]]


def _early(merges: Mapping[tuple[int, int], Merge]) -> frozenset[int]:
    """Ranks of merges whose product takes part in a merge of a lower rank."""
    lowest: dict[int, int] = {}
    for pair, merge in merges.items():
        for token in pair:
            lowest[token] = min(merge.rank, lowest.get(token, NEVER))
    return frozenset(each.rank for each in merges.values() if lowest.get(each.product, NEVER) < each.rank)


def _merged(writer: Writer, table: Pairs, early: frozenset[int], units: _Units) -> tuple[str, str]:
    """The tokens of all pieces, with borders, int32 [tokens], and the first unit of each, int64 [tokens]."""
    import numpy

    shift, bucket, ranks, product = map(writer.constant, (table.shift, table.bucket, table.rank, table.product))
    count = writer.node("Add", writer.node("Shape", units.groups), 1)
    highest = writer.node("Expand", writer.int32([NEVER - 1]), count)
    only_first = [writer.constant(numpy.isin(table.rank, sorted(early)))] if early else []

    def step(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        symbol, group, first = carried
        token = inner.cast(symbol, ElementType.INT64)
        left = inner.node("Slice", token, [0], [-1], [0])
        number = inner.node("Add", inner.node("Mul", left, table.tokens), inner.node("Slice", token, [1], [LAST], [0]))
        where = inner.cast(inner.node("Mod", number, len(table.shift)), ElementType.INT32)
        slot = inner.node("Add", number, inner.cast(inner.node("Gather", shift, where), ElementType.INT64))
        slot = inner.node("BitwiseAnd", slot, len(table.rank) - 1)
        is_pair = inner.node("Equal", inner.node("Gather", bucket, slot), where)
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


def _tokens(writer: Writer, units: _Units, symbols: str, first: str, text: Points) -> Flat:
    after = writer.node(
        "Concat", writer.node("Slice", first, [1], [LAST], [0]), writer.node("Shape", units.places), axis=0
    )
    begin = writer.node("Gather", units.places, first)
    point = writer.node("Gather", text.points, begin)
    is_added = writer.node("And", writer.node("Greater", point, END), writer.node("Less", point, BREAK))
    merged = writer.cast(symbols, ElementType.INT64)
    ids = writer.node("Where", is_added, writer.node("Sub", point, END + 1), merged)
    is_token = writer.node("Or", is_added, writer.node("Less", point, END))
    begin, after, ids = (writer.node("Compress", each, is_token, axis=0) for each in (begin, after, ids))
    end = writer.node("Gather", units.places, writer.node("Sub", after, 1))
    number = writer.node("CumSum", writer.cast(writer.node("Equal", text.points, END), ElementType.INT64), 0)
    return Flat(
        ids=ids,
        texts=writer.node("Sub", writer.node("Gather", number, begin), 1),
        starts=writer.node("Gather", text.starts, begin),
        ends=writer.node("Gather", text.ends, end),
    )
