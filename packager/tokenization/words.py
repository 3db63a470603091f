"""Pieces that are tokens as a whole."""

from collections.abc import Mapping
from dataclasses import replace

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization.pages import END, number_of
from packager.tokenization.stages import BREAK, Points, ahead, before, kept_only, sums
from packager.tokenization.tries import longest_match, trie


def write(writer: Writer, text: Points, tokens: Mapping[str, int], unknown: int | None = None) -> Points:
    """`text` with END + 1 + id in place of each piece that is one of `tokens`.

    All other pieces become the token `unknown`, or stay if it is None.
    """
    known = trie(tokens.items())
    symbol = number_of(writer, text.points, known.symbols)
    is_text = writer.node("Less", text.points, END)
    goes_on = writer.node("And", is_text, before(writer, is_text))
    begins = writer.node("Not", goes_on)
    group = writer.node("Sub", writer.node("CumSum", writer.cast(begins, ElementType.INT64), 0), 1)
    is_piece = writer.node("And", begins, is_text)
    match = longest_match(writer, known, symbol, writer.node("Sub", symbol, symbol), is_piece, group)
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
        covered = is_text
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
