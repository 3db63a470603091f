"""Tokens that byte-pair encoding begins with: one for each character of a piece, or for each of its bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from packager.contract.tokenization import byte_level, runs
from packager.contract.tokenization.definition import BytePairs
from packager.contract.tokenization.pages import END, filled, look_up, number_of
from packager.contract.tokenization.pairs import Merge, pairs
from packager.contract.tokenization.pairs import look_up as look_up_pairs
from packager.contract.tokenization.stages import (
    BREAK,
    Points,
    ahead,
    any_of,
    before,
    chosen,
    everywhere,
    if_any,
    kept_only,
)
from packager.core.signature import ElementType
from packager.graph.writer import Writer

BYTES = tuple(f"<0x{each:02X}>" for each in range(256))
"""tokens of bytes that no character encodes"""
BYTE_TOKENS = frozenset(byte_level.CHARACTERS)
"""tokens of bytes of a model of bytes"""
NONE = -1


def write(writer: Writer, model: BytePairs, text: Points) -> Points:
    """`text` with a token's id in place of each character or byte; END and numbers above stay."""
    has_ends = bool(model.prefix or model.suffix)
    if model.is_bytes and not has_ends and model.vocabulary.keys() >= BYTE_TOKENS:
        return _bytes(writer, model, text)
    is_text = writer.node("Less", text.points, END)
    number = _numbers(writer, model, text.points, is_text)
    is_unknown = writer.node("And", is_text, writer.node("Equal", number, NONE))
    if model.unknown is None and not model.falls_back:
        # what is left out does not keep its neighbours from merging
        kept = writer.node("Not", is_unknown)
        text = kept_only(writer, text, kept)
        number, is_text, is_unknown = (
            writer.node("Compress", value, kept, axis=0) for value in (number, is_text, is_unknown)
        )
    columns = []
    if not model.is_bytes and not has_ends:
        columns.append((writer.integer(BREAK), _breaks(writer, model, text.points, is_text, is_unknown)))
    last = writer.node("Where", is_text, number, text.points)
    if model.falls_back:
        return if_any(
            writer,
            is_unknown,
            lambda inner: _fallen_back(inner, model, text, columns, (last, is_unknown)),
            lambda inner: chosen(inner, text, [*columns, (last, everywhere(inner, text.points))]),
        )
    if model.unknown is not None:
        last = writer.node("Where", is_unknown, model.unknown, last)
    return chosen(writer, text, [*columns, (last, everywhere(writer, text.points))])


def _bytes(writer: Writer, model: BytePairs, text: Points) -> Points:
    """`text`, of bytes that all have a token."""
    numbers = writer.integers(*(model.vocabulary[each] for each in byte_level.CHARACTERS), 0)
    number = writer.node("Gather", numbers, writer.node("Min", text.points, len(byte_level.CHARACTERS)))
    points = writer.node("Where", writer.node("Less", text.points, END), number, text.points)
    return replace(text, points=points)


def _fallen_back(
    writer: Writer, model: BytePairs, text: Points, columns: Sequence[tuple[str, str]], last: tuple[str, str]
) -> Points:
    """`last`: the points of known characters and of what is not a text, and which others are unknown."""
    points, is_unknown = last
    *leading, (byte, _) = byte_columns(writer, model.vocabulary, text.points, is_unknown)
    kept = everywhere(writer, text.points)
    return chosen(writer, text, [*columns, *leading, (writer.node("Where", is_unknown, byte, points), kept)])


def byte_columns(writer: Writer, vocabulary: Mapping[str, int], points: str, is_wanted: str) -> list[tuple[str, str]]:
    """For `chosen`: the tokens of the four possible bytes of each code point, as far as they exist and are wanted."""
    roles = byte_level.roles_of(writer, points)
    values = byte_level.values(writer, writer.node("Unsqueeze", points, [1]), roles)
    ids = writer.integers(*(vocabulary.get(each, 0) for each in BYTES))
    found = writer.node("Gather", ids, writer.node("Min", values, len(BYTES) - 1))
    is_byte = writer.node("Greater", roles, writer.int32(0))
    columns = []
    for column in range(byte_level.WIDTH):
        is_there = writer.node("And", is_wanted, writer.node("Gather", is_byte, column, axis=1))
        columns.append((writer.node("Gather", found, column, axis=1), is_there))
    return columns


def _numbers(writer: Writer, model: BytePairs, points: str, is_text: str) -> str:
    """int64 [n]: the token of each character or byte; NONE for others."""
    characters = _characters(model)
    has_ends = bool(model.prefix or model.suffix)
    ends = (0, 1) if has_ends else (0,)
    variants = [(model.prefix * later, model.suffix * last) for last in ends for later in ends]
    rows = {
        point: [model.vocabulary.get(prefix + each + suffix, NONE) + 1 for prefix, suffix in variants]
        for point, each in characters.items()
    }
    found = look_up(writer, points, filled(rows, 0, 0))
    if has_ends:
        later = writer.cast(before(writer, is_text), ElementType.INT64)
        last = writer.cast(writer.node("Not", ahead(writer, is_text)), ElementType.INT64)
        variant = writer.node("Add", later, writer.node("Mul", last, 2))
        found = writer.node("GatherElements", found, writer.node("Unsqueeze", variant, [1]), axis=1)
    return writer.node("Sub", writer.cast(writer.node("Squeeze", found, [1]), ElementType.INT64), 1)


def _characters(model: BytePairs) -> Mapping[int, str]:
    """Values in the text, and what the vocabulary writes for them."""
    if model.is_bytes:
        return dict(enumerate(byte_level.CHARACTERS))
    bare = (token.removeprefix(model.prefix).removesuffix(model.suffix) for token in model.vocabulary)
    return {ord(each): each for each in (*bare, *model.vocabulary) if len(each) == 1}


def _breaks(writer: Writer, model: BytePairs, points: str, is_text: str, is_unknown: str) -> str:
    """bool [n]: whether a piece may be cut before each position, as no token has these two characters side by side, or
    as a token of a run is complete there.

    Short pieces need few rounds of merges. Unknown characters that may become one token stay together.
    """
    tokens = {number: token for token, number in model.vocabulary.items()}
    products = {tokens[merge.product] for merge in model.merges.values()}
    neighbours = {pair for product in products for pair in pairwise(map(ord, product))}
    repeating = {ord(character): run for character, run in runs.runs(model).items()}
    others = sorted({point for pair in neighbours for point in pair} - repeating.keys())
    symbols = {point: symbol for symbol, point in enumerate((*others, *repeating), 1)}
    table = pairs({(symbols[a], symbols[b]): Merge(rank=0, product=0) for a, b in neighbours}, len(symbols) + 1)
    symbol = writer.cast(number_of(writer, points, symbols), ElementType.INT64)
    earlier = writer.node("Pad", symbol, [1, -1])
    is_neighbour = writer.node("Less", look_up_pairs(writer, table, earlier, symbol).ranks, table.limit)
    both_unknown = writer.node("And", is_unknown, before(writer, is_unknown))
    stays = writer.node("Or", is_neighbour, both_unknown)
    inside = writer.node("And", is_text, before(writer, is_text))
    breaks = writer.node("And", inside, writer.node("Not", stays))
    if not repeating:
        return breaks
    may_repeat = writer.node("Greater", symbol, len(others))
    repeats = writer.node("And", may_repeat, writer.node("Equal", symbol, earlier))

    def with_cuts(inner: Writer) -> Sequence[str]:
        begins = inner.node("Or", breaks, inner.node("Not", inside))
        of_symbols = [*[runs.Run(size=1, margin=0)] * (len(others) + 1), *repeating.values()]
        sizes = inner.node("Gather", inner.integers(*(each.size for each in of_symbols)), symbol)
        margins = inner.node("Gather", inner.integers(*(each.margin for each in of_symbols)), symbol)
        return [inner.node("Or", breaks, runs.cuts(inner, sizes, margins, repeats, begins))]

    (found,) = writer.branch(any_of(writer, repeats), with_cuts, lambda _: [breaks], [ElementType.BOOL])
    return found
