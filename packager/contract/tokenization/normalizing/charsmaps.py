"""Tables of SentencePiece that replace texts by others, such as `nmt_nfkc`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.contract.tokenization import matching
from packager.contract.tokenization.normalizing import alignment, graphemes, maps
from packager.contract.tokenization.normalizing.steps import Charsmap
from packager.contract.tokenization.pages import END, may_have, number_of
from packager.contract.tokenization.stages import Points, if_any
from packager.contract.tokenization.tries import longest_match, trie
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

NONE = -1


@dataclass(frozen=True, kw_only=True)
class _Found:
    """Texts of the table that begin at positions. Names of values, one for each position."""

    number: str
    """int64: index of the text; NONE for a position that stays, or that an earlier text covers"""
    size: str
    """int64: code points that it replaces"""
    stays: str
    """bool: whether the code point is not replaced"""


def write(writer: Writer, text: Points, step: Charsmap) -> Points:
    """`text` with the texts of a table in place of others."""
    texts = {before: after for before, after in step.texts.items() if before != after}
    if not texts:
        return text
    alone = _alone(step, texts)
    others = tuple(_others(step, alone))
    if not others:
        return maps.write(writer, text, alone)
    may_change = may_have(writer, text.points, others)
    return if_any(
        writer,
        may_change,
        lambda inner: _changed(inner, text, step, tuple(texts)),
        lambda inner: maps.write(inner, text, alone) if alone else text,
    )


def _alone(step: Charsmap, texts: Mapping[str, str]) -> maps.Map:
    """Code points that become one other, whatever stands beside them, in a text with none of `_others`.

    Line breaks are among them: the usual texts need only these.
    """
    apart = graphemes.apart() if step.in_graphemes else None
    single = {ord(before): after for before, after in texts.items() if len(before) == len(after) == 1}
    return {point: (ord(after),) for point, after in single.items() if apart is None or point in apart}


def _others(step: Charsmap, alone: maps.Map) -> Iterator[str]:
    """Texts that change otherwise than those `alone`, and those that keep one of them from changing."""
    for before, after in step.texts.items():
        if len(before) == 1:
            if before != after and ord(before) not in alone:
                yield before
        elif before != after or not alone.keys().isdisjoint(map(ord, before)):
            yield before


def _changed(writer: Writer, text: Points, step: Charsmap, texts: Sequence[str]) -> Points:
    """`texts` are those that others replace."""
    if not step.in_graphemes:
        found = _from_left(writer, text, tuple(step.texts))
        return _replaced(writer, text, found, tuple(step.texts.values()))
    short = _shortest(tuple(step.texts))
    known = {text: step.texts[text] for text in dict.fromkeys((*(text for text in texts if len(text) == 1), *short))}
    return _replaced(writer, text, _in_graphemes(writer, text, tuple(known), short), tuple(known.values()))


def _from_left(writer: Writer, text: Points, texts: tuple[str, ...]) -> _Found:
    is_text = writer.node("Less", text.points, END)
    number, length = _longest(writer, text, texts, is_text, writer.cast(writer.node("Not", is_text), ElementType.INT64))
    places = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", text.points)), 1)
    ends = writer.node("Where", writer.node("Greater", length, 0), writer.node("Add", places, length), NONE)
    found = matching.covered(writer, ends, text.points)
    return _Found(
        number=writer.node("Where", found.begins, number, NONE), size=length, stays=writer.node("Not", found.is_match)
    )


def _in_graphemes(writer: Writer, text: Points, texts: tuple[str, ...], known: tuple[str, ...]) -> _Found:
    """`known` are those of `texts` that replace whole graphemes."""
    single = {ord(each): index + 1 for index, each in enumerate(texts) if len(each) == 1}
    alone = writer.node("Sub", writer.cast(number_of(writer, text.points, single), ElementType.INT64), 1)
    short = graphemes.short(writer, text.points)
    number, length = _longest(writer, text, known, short.begins, short.number)
    index = writer.constant(_indexes(known, texts))
    number = writer.node("Gather", index, writer.node("Max", number, 0))
    is_whole = writer.node("And", short.begins, writer.node("Greater", length, 0))
    in_whole = writer.node("Gather", writer.node("Compress", is_whole, short.begins, axis=0), short.number)
    is_covered = writer.node("And", in_whole, writer.node("Not", short.begins))
    number = writer.node("Where", is_whole, number, writer.node("Where", is_covered, NONE, alone))
    is_replaced = writer.node("Or", is_covered, writer.node("GreaterOrEqual", number, 0))
    return _Found(
        number=number,
        size=writer.node("Where", is_whole, short.size, 1),
        stays=writer.node("Not", is_replaced),
    )


def _shortest(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest of `texts`: they fit into a short grapheme, and do not begin with another one."""
    known = {each for each in texts if len(each.encode()) <= graphemes.LONGEST_BYTES}
    return tuple(each for each in sorted(known) if not any(each[:size] in known for size in range(1, len(each))))


def _indexes(known: tuple[str, ...], texts: tuple[str, ...]) -> "numpy.ndarray":
    import numpy

    places = {each: index for index, each in enumerate(texts)}
    return numpy.array([places[each] for each in known], numpy.int64)


def _longest(writer: Writer, text: Points, texts: tuple[str, ...], is_alive: str, group: str) -> tuple[str, str]:
    """The longest of `texts` that begins at each position and stays in its group, and its length, int64 [n]."""
    known = trie([(each, index) for index, each in enumerate(texts)])
    symbol = number_of(writer, text.points, known.symbols)
    root = writer.node("Sub", symbol, symbol)
    match = longest_match(writer, known, symbol, root, is_alive, group)
    return writer.cast(match.number, ElementType.INT64), writer.cast(match.length, ElementType.INT64)


def _replaced(writer: Writer, text: Points, found: _Found, contents: tuple[str, ...]) -> Points:
    import numpy

    width = max(map(len, contents)) or 1
    flat = writer.constant(numpy.array([*map(ord, "".join(contents)), *[0] * width], numpy.int32))
    lengths = numpy.array(list(map(len, contents)), numpy.int64)
    is_here = writer.node("GreaterOrEqual", found.number, 0)
    index = writer.node("Max", found.number, 0)
    length = writer.node("Gather", writer.constant(lengths), index)
    length = writer.node("Where", is_here, length, writer.cast(found.stays, ElementType.INT64))
    # each of its code points as a row; what stays has one of them
    columns = writer.integers(*range(width))
    flags = writer.node("Less", columns, writer.node("Unsqueeze", length, [1]))
    places = writer.positions(writer.flattened(flags))
    source, column = writer.node("Div", places, width), writer.node("Mod", places, width)
    start = writer.node(
        "Gather", writer.constant(numpy.cumsum(lengths) - lengths), writer.node("Gather", index, source)
    )
    points = writer.cast(writer.node("Gather", flat, writer.node("Add", start, column)), ElementType.INT64)
    unchanged = writer.node("Gather", text.points, source)
    points = writer.node("Where", writer.node("Gather", is_here, source), points, unchanged)
    size = writer.node("Where", is_here, found.size, 1)
    replaced = _counts(writer, text, _Made(source, column, length, size), is_here)
    return alignment.write(writer, text, points, replaced, source)


@dataclass(frozen=True)
class _Made:
    """Code points of the result: where they come from, int64 [result], and sizes before and after, int64 [n]."""

    source: str
    column: str
    """which code point of its content each is"""
    length: str
    """code points of the content"""
    size: str
    """code points that it replaces"""


def _counts(writer: Writer, text: Points, made: _Made, is_here: str) -> str:
    """How many code points of the text each of the result replaces, as tokenizers' Precompiled counts them: one each,
    as far as there are any; the last one all that are left. Those that nothing replaces belong to the one before."""
    size, length = (writer.node("Gather", each, made.source) for each in (made.size, made.length))
    one = writer.cast(writer.node("Less", made.column, size), ElementType.INT64)
    is_last = writer.cast(writer.node("Equal", made.column, writer.node("Sub", length, 1)), ElementType.INT64)
    left = writer.node("Mul", writer.node("Max", writer.node("Sub", size, length), 0), is_last)
    counts = writer.node("Add", one, left)
    is_removed = writer.node("And", is_here, writer.node("Equal", made.length, 0))
    before = writer.node("Sub", writer.node("CumSum", made.length, 0), 1)
    is_text = writer.node("Less", writer.node("Gather", text.points, made.source), END)
    has_any = writer.node("And", is_removed, writer.node("Gather", is_text, before))
    removed = writer.node("Mul", made.size, writer.cast(has_any, ElementType.INT64))
    return writer.node("ScatterElements", counts, before, removed, axis=0, reduction="add")
