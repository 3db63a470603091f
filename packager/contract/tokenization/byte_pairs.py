"""Byte-pair encoding (arXiv:1508.07909) of all pieces of a text at once.

Each round merges a pair in every piece: the first one of the lowest rank there. Long texts merge all pairs of that rank
at once, which gives the same: what a merge makes takes part only in merges of higher ranks. Ranks for which this is not
so, early ones, merge the first pair alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from packager.contract.tokenization import byte_level, units, words
from packager.contract.tokenization.definition import BytePairs
from packager.contract.tokenization.pages import END
from packager.contract.tokenization.pairs import NEVER, FoundPairs, Merge, TokenPairs, look_up, pairs, product_of
from packager.contract.tokenization.stages import Flat, Points, flat
from packager.core.signature import ElementType
from packager.graph.writer import Writer

LAST = 2**62
"""beyond all positions"""
QUICK, UNROLLED = 32, 2
"""steps of the first loop, and rounds in each"""


def write(writer: Writer, model: BytePairs, text: Points) -> Flat:
    """The tokens of the pieces of `text`."""
    if model.is_bytes:
        text = byte_level.write(writer, text)
    if model.takes_whole and (unreached := _unreached(model)):
        text = words.some(writer, text, unreached)
    text = units.write(writer, model, text)
    merges = _merges(model)
    early = _early(merges)
    table = pairs(merges, max((*model.vocabulary.values(), model.unknown or 0)) + 2, early)
    symbols, first = _merged(writer, table, _units(writer, text, table.tokens - 1), has_early=bool(early))
    return _tokens(writer, text, symbols, first)


@dataclass(frozen=True, kw_only=True)
class _Units:
    """Tokens of all pieces before they merge, with a border between pieces and at the end. Names of values, [units]."""

    symbols: str
    """int64: the last token for a border, which no pair includes"""
    groups: str
    """int64: number of the piece"""


def _units(writer: Writer, text: Points, border: int) -> _Units:
    is_border = writer.node("GreaterOrEqual", text.points, END)
    symbols = writer.node("Where", is_border, border, text.points)
    groups = writer.node("CumSum", writer.cast(is_border, ElementType.INT64), 0)
    return _Units(symbols=symbols, groups=groups)


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


def _merged(writer: Writer, table: TokenPairs, units: _Units, *, has_early: bool) -> tuple[str, str]:
    """The tokens of all pieces, with borders, and the first unit of each, int64 [tokens].

    The first rounds merge one pair of each piece. Only a text that needs many of them comes to the rounds that merge
    all pairs of the lowest rank at once.
    """
    integer = ElementType.INT64
    size = writer.node("Squeeze", writer.node("Shape", units.groups))
    count = writer.node("Add", writer.node("Gather", units.groups, [-1], axis=0), 1)  # the last one is a border
    rounds = _Rounds(
        table=table,
        highest=writer.node("Expand", [table.limit - 1], count),
        nowhere=writer.node("Expand", [LAST], count),
        has_early=has_early,
    )

    def quick(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        values: Sequence[str] = carried[:-1]
        for _round in range(UNROLLED):
            found, stays = rounds.leftmost(inner, values)
            values = rounds.merged(inner, found, stays, values)
        goes_on = rounds.goes_on(inner, found)
        return goes_on, [*values, inner.node("Identity", goes_on)]

    def thorough(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        found, flags = rounds.lowest(inner, carried)
        merges = rounds.apart(inner, found, flags, carried)
        return rounds.goes_on(inner, found), rounds.merged(inner, found, inner.node("Not", merges), carried)

    first = writer.node("Range", 0, size, 1)
    start = [(units.symbols, integer), (units.groups, integer), (first, integer)]
    start.append((writer.cast(1, ElementType.BOOL), ElementType.BOOL))
    has_room = writer.node("Less", size, table.places)
    *values, goes_on = writer.loop(QUICK, start, quick, begins=has_room)
    symbols, _, first = writer.loop("", [(each, integer) for each in values], thorough, begins=goes_on)
    return symbols, first


@dataclass(frozen=True, kw_only=True)
class _Rounds:
    """The parts of a round. Values that change are the tokens, their groups and their first units, int64 [n]."""

    table: TokenPairs
    highest: str
    """int64 [groups]: above all merges"""
    nowhere: str
    """int64 [groups]: beyond all positions"""
    has_early: bool

    def leftmost(self, writer: Writer, values: Sequence[str]) -> tuple[FoundPairs, str]:
        """The merges of tokens and the next ones, and whether each is not the first of the lowest rank in its group.

        The first unit of a token, added to its rank, makes it a number that no other one has.
        """
        _, group, first = values
        found = self._looked_up(writer, values)
        rank = writer.node("Add", found.ranks, first)
        return found, writer.node("Less", self._lowest_of_group(writer, self.highest, rank, group), rank)

    def lowest(self, writer: Writer, values: Sequence[str]) -> tuple[FoundPairs, str]:
        """The merges of tokens and the next ones, and whether each has the lowest rank of its group."""
        _, group, _ = values
        found = self._looked_up(writer, values)
        return found, writer.node("Equal", found.ranks, self._lowest_of_group(writer, self.highest, found.ranks, group))

    def _looked_up(self, writer: Writer, values: Sequence[str]) -> FoundPairs:
        symbol, _, _ = values
        right = writer.node("Pad", symbol, [-1, 1], writer.integer(self.table.tokens - 1))
        return look_up(writer, self.table, symbol, right)

    def _lowest_of_group(self, writer: Writer, most: str, value: str, group: str) -> str:
        """int64 [n]: the lowest `value` of each one's group, or `most`, int64 [groups]."""
        lowest = writer.node("ScatterElements", most, group, value, axis=0, reduction="min")
        return writer.node("Gather", lowest, group)

    def apart(self, writer: Writer, found: FoundPairs, flags: str, values: Sequence[str]) -> str:
        """`flags` of pairs that can merge in one round."""
        merges = _apart(writer, flags)
        if not self.has_early:
            return merges
        _, group, first = values
        place = writer.node("Where", merges, first, LAST)
        is_first = writer.node("Equal", place, self._lowest_of_group(writer, self.nowhere, place, group))
        is_early = writer.node("BitwiseAnd", found.ranks, self.table.early)
        return writer.node("And", merges, writer.node("Or", is_first, writer.node("Equal", is_early, 0)))

    def merged(self, writer: Writer, found: FoundPairs, stays: str, values: Sequence[str]) -> list[str]:
        """The values after merging each token with the next one, but for those that `stays`."""
        symbol, *others = values
        made = writer.node("Where", stays, symbol, product_of(writer, self.table, found))
        kept = writer.node("Pad", stays, [1, -1], writer.cast(1, ElementType.BOOL))
        return [writer.node("Compress", value, kept, axis=0) for value in (made, *others)]

    def goes_on(self, writer: Writer, found: FoundPairs) -> str:
        return writer.node("Less", writer.node("ReduceMin", found.ranks, keepdims=0), self.table.limit)


def _apart(writer: Writer, flags: str) -> str:
    """`flags` without every second one of those that stand side by side, from the left: pairs that overlap."""
    numbers = writer.node("CumSum", writer.cast(flags, ElementType.INT64), 0)
    others = writer.node("Not", flags)
    other = writer.node("CumSum", writer.cast(others, ElementType.INT64), 0)
    # what the number was before each run: the first element is the beginning
    known = writer.node("Concat", [0], writer.node("Compress", numbers, others, axis=0), axis=0)
    number = writer.node("Sub", numbers, writer.node("Gather", known, other))
    return writer.node("And", flags, writer.cast(writer.node("BitwiseAnd", number, 1), ElementType.BOOL))


def _tokens(writer: Writer, text: Points, symbols: str, first: str) -> Flat:
    after = writer.node("Slice", first, [1], [LAST], [0])
    after = writer.node("Concat", after, writer.node("Shape", text.points), axis=0)
    point = writer.node("Gather", text.points, first)
    number = writer.node("Add", symbols, END + 1)
    made = Points(
        points=writer.node("Where", writer.node("Less", point, END), number, point),
        starts=writer.node("Gather", text.starts, first),
        ends=writer.node("Gather", text.ends, writer.node("Sub", after, 1)),
    )
    return flat(writer, made)
