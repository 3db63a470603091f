"""Byte-pair encoding (arXiv:1508.07909) of all pieces of a text at once.

Each round merges, in every piece, the pairs of the lowest rank there. One at a time would give the same: what a merge
makes takes part only in merges of higher ranks. Ranks for which this is not so merge the leftmost pair only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization import byte_level
from packager.tokenization.definition import BytePairs
from packager.tokenization.pages import END
from packager.tokenization.pairs import NEVER, Merge, Pairs, pairs
from packager.tokenization.stages import BREAK, Flat, Points, before


def write(writer: Writer, model: BytePairs, text: Points) -> Flat:
    text = byte_level.write(writer, text)
    units = _units(writer, model, text)
    merges = _merges(model)
    table = pairs(merges, max(model.vocabulary.values()) + 1)
    symbols, first = _merged(writer, table, _early(merges), units)
    return _tokens(writer, units, symbols, first, text)


@dataclass(frozen=True, kw_only=True)
class _Units:
    """Bytes and added tokens of all pieces. Names of values, [units]."""

    symbols: str
    """int32: token of each byte; 0 for an added token"""
    groups: str
    """int64: pairs merge only within one"""
    places: str
    """int64: positions in the text"""
    size: str
    """int64 [1]: positions in the text"""


def _units(writer: Writer, model: BytePairs, text: Points) -> _Units:
    import numpy

    known = [model.vocabulary.get(each, -1) for each in byte_level.CHARACTERS]
    table = writer.constant(numpy.array([*known, -1], numpy.int32))
    symbol = writer.node("Gather", table, writer.node("Min", text.points, 256))
    is_added = writer.node("And", writer.node("Greater", text.points, END), writer.node("Less", text.points, BREAK))
    is_unit = writer.node("Or", writer.node("GreaterOrEqual", symbol, writer.int32(0)), is_added)
    places = writer.positions(is_unit)
    is_byte = writer.cast(writer.node("Less", text.points, END), ElementType.INT64)
    pieces = writer.node("CumSum", writer.node("Sub", 1, is_byte), 0)
    groups = writer.node("Add", writer.node("Mul", pieces, 2), is_byte)
    return _Units(
        symbols=writer.node("Max", writer.node("Gather", symbol, places), writer.int32(0)),
        groups=writer.node("Gather", groups, places),
        places=places,
        size=writer.node("Shape", text.points),
    )


def _merges(model: BytePairs) -> Mapping[tuple[int, int], Merge]:
    known = model.vocabulary
    return {
        (known[first], known[second]): Merge(rank=rank, product=known[first + second])
        for rank, (first, second) in enumerate(model.merges)
    }


def _early(merges: Mapping[tuple[int, int], Merge]) -> frozenset[int]:
    """Ranks of merges whose product takes part in a merge of a lower rank."""
    lowest: dict[int, int] = {}
    for pair, merge in merges.items():
        for token in pair:
            lowest[token] = min(merge.rank, lowest.get(token, NEVER))
    return frozenset(each.rank for each in merges.values() if lowest.get(each.product, NEVER) < each.rank)


def _merged(writer: Writer, table: Pairs, early: frozenset[int], units: _Units) -> tuple[str, str]:
    """The tokens of all pieces, int32 [tokens], and the first unit of each, int64 [tokens]."""
    import numpy

    shift, bucket, ranks, product = map(writer.constant, (table.shift, table.bucket, table.rank, table.product))
    groups = writer.node("Add", writer.node("Mul", units.size, 2), 2)
    never = writer.node("Expand", writer.int32([NEVER]), groups)
    only_first = [writer.constant(numpy.isin(table.rank, sorted(early)))] if early else []

    def step(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        symbol, group, first = carried
        token = inner.cast(symbol, ElementType.INT64)
        number = inner.node("Add", inner.node("Mul", token, table.tokens), _next(inner, token))
        where = inner.cast(inner.node("Mod", number, len(table.shift)), ElementType.INT32)
        slot = inner.node("Add", number, inner.cast(inner.node("Gather", shift, where), ElementType.INT64))
        slot = inner.node("BitwiseAnd", slot, len(table.rank) - 1)
        is_known = inner.node("Equal", inner.node("Gather", bucket, slot), where)
        is_pair = inner.node("And", is_known, inner.node("Equal", _next(inner, group), group))
        rank = inner.node("Where", is_pair, inner.node("Gather", ranks, slot), inner.int32(NEVER))
        lowest = inner.node("ScatterElements", never, group, rank, axis=0, reduction="min")
        is_lowest = inner.node("And", is_pair, inner.node("Equal", rank, inner.node("Gather", lowest, group)))
        merges = _apart(inner, is_lowest)
        for is_early in only_first:
            merges = _first_of_group(inner, merges, inner.node("Gather", is_early, slot), group, groups)
        made = inner.node("Where", merges, inner.node("Gather", product, slot), symbol)
        kept = inner.positions(inner.node("Not", before(inner, merges)))
        goes_on = inner.cast(
            inner.node("ReduceMax", inner.cast(merges, ElementType.INT32), keepdims=0), ElementType.BOOL
        )
        return goes_on, [inner.node("Gather", value, kept) for value in (made, group, first)]

    # a last unit, which no pair includes, so that none of the values is ever empty
    symbols = writer.node("Concat", units.symbols, writer.int32([0]), axis=0)
    group = writer.node("Concat", units.groups, [0], axis=0)
    size = writer.node("Squeeze", writer.node("Shape", group))
    first = writer.node("Range", 0, size, 1)
    carried = [(symbols, ElementType.INT32), (group, ElementType.INT64), (first, ElementType.INT64)]
    symbols, _, first = writer.loop("", carried, step)
    return symbols, first


def _next(writer: Writer, value: str) -> str:
    """`value` of the element after each; of the last, the first one's."""
    ahead = writer.node("Slice", value, [1], [2**62], [0])
    return writer.node("Concat", ahead, writer.node("Slice", value, [0], [1], [0]), axis=0)


def _apart(writer: Writer, flags: str) -> str:
    """`flags` without every second one of those that stand side by side, from the left: pairs that overlap."""
    numbers = writer.node("CumSum", writer.cast(flags, ElementType.INT64), 0)
    begins = writer.node("And", flags, writer.node("Not", before(writer, flags)))
    firsts = writer.node("Concat", writer.node("Gather", numbers, writer.positions(begins)), [0], axis=0)
    run = writer.node("Sub", writer.node("CumSum", writer.cast(begins, ElementType.INT64), 0), 1)
    number = writer.node("Sub", numbers, writer.node("Gather", firsts, run))
    return writer.node("And", flags, writer.node("Equal", writer.node("Mod", number, 2), 0))


def _first_of_group(writer: Writer, merges: str, is_early: str, group: str, groups: str) -> str:
    """`merges` without those after the first of a group, where `is_early`."""
    size = writer.node("Squeeze", writer.node("Shape", group))
    place = writer.node("Where", merges, writer.node("Range", 0, size, 1), 2**62)
    none = writer.node("Expand", [2**62], groups)
    first = writer.node("ScatterElements", none, group, place, axis=0, reduction="min")
    is_first = writer.node("Equal", place, writer.node("Gather", first, group))
    return writer.node("And", merges, writer.node("Or", is_first, writer.node("Not", is_early)))


def _tokens(writer: Writer, units: _Units, symbols: str, first: str, text: Points) -> Flat:
    begins = writer.node("Slice", first, [0], [-1], [0])
    last = writer.node("Sub", writer.node("Slice", first, [1], [2**62], [0]), 1)
    begin, end = (writer.node("Gather", units.places, each) for each in (begins, last))
    point = writer.node("Gather", text.points, begin)
    merged = writer.cast(writer.node("Slice", symbols, [0], [-1], [0]), ElementType.INT64)
    number = writer.node("CumSum", writer.cast(writer.node("Equal", text.points, END), ElementType.INT64), 0)
    return Flat(
        ids=writer.node("Where", writer.node("Greater", point, END), writer.node("Sub", point, END + 1), merged),
        texts=writer.node("Sub", writer.node("Gather", number, begin), 1),
        starts=writer.node("Gather", text.starts, begin),
        ends=writer.node("Gather", text.ends, end),
    )
