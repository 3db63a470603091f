"""Pieces that are tokens as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from packager.contract.tokenization.pages import END, number_of
from packager.contract.tokenization.stages import BREAK, Points, ahead, before, if_any, kept_only, sums
from packager.contract.tokenization.tries import Trie, longest_match, trie
from packager.core.signature import ElementType
from packager.graph.writer import Writer

SIEVES = (65_521, 65_519)
"""primes: a piece that is not a token passes both with a chance of the tokens' share of each, squared"""


@dataclass(frozen=True, kw_only=True)
class _Pieces:
    """Names of values, one for each position."""

    symbol: str
    """int32: as in the trie of the tokens"""
    is_text: str
    begins: str
    """bool: whether a piece begins, or what is not a text"""
    group: str
    """int64: number of the piece"""


def write(writer: Writer, text: Points, tokens: Mapping[str, int], unknown: int) -> Points:
    """`text` with END + 1 + id in place of each piece that is one of `tokens`, and of `unknown` in place of others."""
    known = trie(tokens.items())
    return _found(writer, text, known, _pieces(writer, text, known), unknown)


def some(writer: Writer, text: Points, tokens: Mapping[str, int]) -> Points:
    """Like `write`, but other pieces stay. Texts that have none of `tokens` take few nodes."""
    known = trie(tokens.items())
    pieces = _pieces(writer, text, known)
    may_be = _sieved(writer, pieces, tokens, known)
    return if_any(writer, may_be, lambda inner: _found(inner, text, known, pieces, None), lambda _: text)


def _pieces(writer: Writer, text: Points, known: Trie) -> _Pieces:
    is_text = writer.node("Less", text.points, END)
    begins = writer.node("Not", writer.node("And", is_text, before(writer, is_text)))
    return _Pieces(
        symbol=number_of(writer, text.points, known.symbols),
        is_text=is_text,
        begins=begins,
        group=writer.node("Sub", writer.node("CumSum", writer.cast(begins, ElementType.INT64), 0), 1),
    )


def _sieved(writer: Writer, pieces: _Pieces, tokens: Mapping[str, int], known: Trie) -> str:
    """bool [n]: whether a piece may be one of `tokens`; true for each that is.

    Each symbol has a number at random. Their sum over a piece is that of a token, if it is one, and seldom otherwise.
    """
    import numpy

    numbers = numpy.random.default_rng(0).integers(2**40, size=len(known.symbols) + 1)
    wanted = numpy.array([sum(int(numbers[known.symbols[ord(each)]]) for each in token) for token in tokens])
    nothing = writer.node("Sub", pieces.group, pieces.group)
    number = writer.node("Gather", writer.constant(numbers), pieces.symbol)
    total = writer.node("ScatterElements", nothing, pieces.group, number, axis=0, reduction="add")
    passed = []
    for size in SIEVES:
        table = numpy.zeros(size, bool)
        table[wanted % size] = True
        passed.append(writer.node("Gather", writer.constant(table), writer.node("Mod", total, size)))
    return writer.node("And", *passed)


def _found(writer: Writer, text: Points, known: Trie, pieces: _Pieces, unknown: int | None) -> Points:
    begins, group = pieces.begins, pieces.group
    is_piece = writer.node("And", begins, pieces.is_text)
    match = longest_match(writer, known, pieces.symbol, writer.node("Sub", pieces.symbol, pieces.symbol), is_piece)
    one = writer.node("Add", writer.node("Mul", group, 0), 1)
    size = sums(writer, one, group)
    is_whole = writer.node("Equal", writer.cast(match.length, ElementType.INT64), size)
    number = writer.node("Add", writer.cast(match.number, ElementType.INT64), END + 1)
    if unknown is None:
        is_token = writer.node("And", is_piece, is_whole)
        covered = writer.node("Gather", writer.node("Compress", is_token, begins, axis=0), group)
    else:
        is_token = is_piece
        number = writer.node("Where", is_whole, number, END + 1 + unknown)
        covered = pieces.is_text
    last = writer.node("Sub", writer.node("Add", writer.node("CumSum", one, 0), size), 2)
    last = writer.node("Where", is_token, last, writer.node("Sub", writer.node("CumSum", one, 0), 1))
    made = Points(
        points=writer.node("Where", is_token, number, text.points),
        starts=text.starts,
        ends=writer.node("Gather", text.ends, last),
    )
    return kept_only(writer, made, writer.node("Or", is_token, writer.node("Not", covered)))


def fused(writer: Writer, text: Points, token: int) -> Points:
    """`text` with one `token` in place of several side by side, and no BREAK."""
    text = kept_only(writer, text, writer.node("Less", text.points, BREAK))
    found = writer.node("Equal", text.points, END + 1 + token)
    later, earlier = (writer.node("And", found, each(writer, found)) for each in (before, ahead))
    first, last = (kept_only(writer, text, writer.node("Not", each)) for each in (later, earlier))
    return replace(first, ends=last.ends)
