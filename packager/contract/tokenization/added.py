"""Finds tokens such as `[SEP]` in a text: the longest that begins first, then the next after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packager.contract.tokenization import chains, stages, unicode
from packager.contract.tokenization.definition import Added
from packager.contract.tokenization.normalizing import maps
from packager.contract.tokenization.pages import END, is_member, may_have, number_of
from packager.contract.tokenization.stages import Points, ahead, before, kept_only
from packager.contract.tokenization.tries import longest_match, trie
from packager.core.signature import ElementType
from packager.graph.writer import Writer


def split(writer: Writer, text: Points, tokens: Mapping[str, Added]) -> Points:
    """`text` with END + 1 + id in place of each of `tokens`, by their text."""
    if not tokens:
        return text
    alone = {ord(content): (END + 1 + each.id,) for content, each in tokens.items() if _is_plain(content, each)}
    others = [content for content, each in tokens.items() if not _is_plain(content, each)]
    if not others:
        return maps.write(writer, text, alone)
    is_there = may_have(writer, text.points, others)
    return stages.if_any(
        writer,
        is_there,
        lambda inner: _with_tokens(inner, text, tokens),
        lambda inner: maps.write(inner, text, alone) if alone else text,
    )


def _is_plain(content: str, token: Added) -> bool:
    """Whether a token is one character, whatever stands beside it, in a text without longer tokens."""
    return len(content) == 1 and not (token.is_word or token.strips_left or token.strips_right)


def _with_tokens(writer: Writer, text: Points, tokens: Mapping[str, Added]) -> Points:
    known = trie([(content, number) for number, content in enumerate(tokens)])
    symbol = number_of(writer, text.points, known.symbols)
    root = writer.node("Sub", symbol, symbol)
    match = longest_match(writer, known, symbol, root, writer.node("Greater", symbol, writer.int32(0)))
    found = tuple(tokens.values())
    return stages.if_any(
        writer, match.length, lambda inner: _replaced(inner, text, match.number, match.length, found), lambda _: text
    )


@dataclass(frozen=True, kw_only=True)
class _Tokens:
    """Tokens that were found. Names of values, one for each position."""

    number: str
    """int64: index of the token; 0 where there is none"""
    begins: str
    """bool: whether one begins there"""
    covered: str
    """bool: whether it is in one"""
    last: str
    """int64: the last position of the token"""


def _replaced(writer: Writer, text: Points, number: str, length: str, tokens: Sequence[Added]) -> Points:
    found = _found(writer, text, writer.cast(number, ElementType.INT64), writer.cast(length, ElementType.INT64), tokens)
    ids = writer.integers(*(END + 1 + each.id for each in tokens))
    points = writer.node("Where", found.begins, writer.node("Gather", ids, found.number), text.points)
    begin, end = _places(writer, text), found.last
    kept = writer.node("Or", found.begins, writer.node("Not", found.covered))
    if any(each.strips_left or each.strips_right for each in tokens):
        begin, end, is_stripped = _stripped(writer, text, found, tokens)
        kept = writer.node("And", kept, writer.node("Not", is_stripped))
    starts, ends = writer.node("Gather", text.starts, begin), writer.node("Gather", text.ends, end)
    return kept_only(writer, Points(points=points, starts=starts, ends=ends), kept)


def _places(writer: Writer, text: Points) -> str:
    return writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", text.points)), 1)


def _found(writer: Writer, text: Points, number: str, length: str, tokens: Sequence[Added]) -> _Tokens:
    places = _places(writer, text)
    one = writer.node("Max", length, 1)
    last = writer.node("Sub", writer.node("Squeeze", writer.node("Shape", text.points)), 1)
    after = writer.node("Min", writer.node("Add", places, one), last)
    first = writer.cast(writer.node("Equal", places, 0), ElementType.INT32)
    reached = writer.cast(chains.reached_anywhere(writer, after, first), ElementType.BOOL)
    begins = writer.node("And", reached, writer.node("Greater", length, 0))
    if any(each.is_word for each in tokens):
        begins = writer.node("And", begins, _is_alone(writer, text, number, one, tokens))
    # a token covers all positions up to the next one that was reached
    run = writer.node("Sub", writer.node("CumSum", writer.cast(reached, ElementType.INT64), 0), 1)
    covered = writer.node("Gather", writer.node("Compress", begins, reached, axis=0), run)
    end = writer.node("Where", begins, writer.node("Sub", writer.node("Add", places, one), 1), places)
    return _Tokens(number=writer.node("Max", number, 0), begins=begins, covered=covered, last=end)


def _flags(writer: Writer, number: str, flags: Sequence[bool]) -> str:
    import numpy

    return writer.node("Gather", writer.constant(numpy.array(flags)), writer.node("Max", number, 0))


def _is_alone(writer: Writer, text: Points, number: str, size: str, tokens: Sequence[Added]) -> str:
    """Whether a token at each position may be there, with what precedes and follows it."""
    in_word = is_member(writer, text.points, unicode.members("word"))
    last = writer.node("Sub", writer.node("Shape", text.points), 1)
    after = writer.node("Min", writer.node("Add", _places(writer, text), size), last)
    touches = writer.node("Or", before(writer, in_word), writer.node("Gather", in_word, after))
    is_wanted = _flags(writer, number, [each.is_word for each in tokens])
    return writer.node("Not", writer.node("And", is_wanted, touches))


def _stripped(writer: Writer, text: Points, found: _Tokens, tokens: Sequence[Added]) -> tuple[str, str, str]:
    """Where tokens begin and end with the blanks that are part of them, and whether each position is such a blank."""
    plain = writer.node("Not", found.covered)
    is_blank = writer.node("And", is_member(writer, text.points, unicode.members("white")), plain)
    is_other = writer.node("Not", is_blank)
    others = writer.positions(is_other)
    rank = writer.node("CumSum", writer.cast(is_other, ElementType.INT64), 0)
    last = writer.node("Sub", writer.node("Shape", others), 1)
    earlier = writer.node("Gather", others, writer.node("Sub", rank, 1))
    later = writer.node("Gather", others, writer.node("Min", rank, last))
    left = writer.node("And", found.begins, _flags(writer, found.number, [each.strips_left for each in tokens]))
    right = writer.node("And", found.begins, _flags(writer, found.number, [each.strips_right for each in tokens]))
    # what a token that begins at a position says counts at its last one, too
    run = writer.node("CumSum", writer.cast(writer.node("Or", found.begins, plain), ElementType.INT64), 0)
    heads = writer.node("Compress", right, writer.node("Or", found.begins, plain), axis=0)
    right_at_all = writer.node("Gather", heads, writer.node("Sub", run, 1))
    of_earlier = writer.node("And", is_blank, writer.node("Gather", right_at_all, earlier))
    of_later = writer.node("And", is_blank, writer.node("Gather", left, later))
    is_stripped = writer.node("Or", of_earlier, of_later)
    places = _places(writer, text)
    blank_before = before(writer, writer.node("And", of_later, writer.node("Not", of_earlier)))
    after_earlier = writer.node(
        "Add", writer.node("Concat", [0], writer.node("Slice", earlier, [0], [-1], [0]), axis=0), 1
    )
    begin = writer.node("Where", writer.node("And", left, blank_before), after_earlier, places)
    next_blank = writer.node("Gather", ahead(writer, of_earlier), found.last)
    end = writer.node("Sub", writer.node("Gather", later, found.last), 1)
    return begin, writer.node("Where", writer.node("And", right, next_blank), end, found.last), is_stripped
