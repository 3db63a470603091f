"""Finds tokens such as `[SEP]` in a text: the longest that begins first, then the next after it."""

from collections.abc import Mapping

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization import chains
from packager.tokenization.pages import END, filled, look_up
from packager.tokenization.stages import Points
from packager.tokenization.tries import Match, longest_match, trie


def split(writer: Writer, text: Points, tokens: Mapping[str, int]) -> Points:
    """`text` with END + 1 + id in place of each of `tokens`, which are ids by their text."""
    if not tokens:
        return text
    known = trie(tokens.items())
    rows = {point: [symbol] for point, symbol in known.symbols.items()}
    symbol = writer.node("Squeeze", look_up(writer, text.points, filled(rows, 0, 0)), [1])
    root = writer.node("Sub", symbol, symbol)
    group = writer.cast(root, ElementType.INT64)
    match = longest_match(writer, known, symbol, root, writer.node("Greater", symbol, writer.int32(0)), group)
    longest = writer.node("ReduceMax", match.length, keepdims=0)
    types = [ElementType.INT64] * 3
    points, starts, ends = writer.branch(
        writer.node("Greater", longest, writer.int32(0)),
        lambda inner: _replaced(inner, text, match),
        lambda inner: (text.points, text.starts, text.ends),
        types,
    )
    return Points(points=points, starts=starts, ends=ends)


def _replaced(writer: Writer, text: Points, match: Match) -> tuple[str, str, str]:
    size = writer.node("Squeeze", writer.node("Shape", text.points))
    places = writer.node("Range", 0, size, 1)
    length = writer.cast(match.length, ElementType.INT64)
    one = writer.node("Max", length, 1)
    after = writer.node("Min", writer.node("Add", places, one), writer.node("Sub", size, 1))
    first = writer.cast(writer.node("Equal", places, 0), ElementType.INT32)
    is_reached = writer.cast(chains.reached_anywhere(writer, after, first), ElementType.BOOL)
    kept = writer.positions(is_reached)
    length = writer.node("Gather", length, kept)
    is_token = writer.node("Greater", length, 0)
    number = writer.node("Add", writer.cast(writer.node("Gather", match.number, kept), ElementType.INT64), END + 1)
    last = writer.node("Sub", writer.node("Add", kept, writer.node("Max", length, 1)), 1)
    return (
        writer.node("Where", is_token, number, writer.node("Gather", text.points, kept)),
        writer.node("Gather", text.starts, kept),
        writer.node("Gather", text.ends, last),
    )
