"""Merges labelled tokens into spans, as transformers' token-classification pipeline does.

Scores are 64-bit floats here, and places and labels int32, because no provider of a phone takes nodes that select or
compare those: all would be pieces of their own, some of them in 16 bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from packager.contract.kind import TextTokens
from packager.contract.spans.schemes import Tag
from packager.core.signature import ElementType
from packager.graph.writer import Writer

Aggregation = Literal["simple", "first", "average", "max"]
NOWHERE = 2**62


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Tokens of the text, or words. Names of values."""

    scores: str
    """double [pieces, labels]"""
    starts: str
    """int32 [pieces]: first code point"""
    ends: str
    """int32 [pieces]: code point after the last one"""


@dataclass(frozen=True, kw_only=True)
class FoundSpans:
    """Spans in the order of the text. Names of values, [spans]."""

    classes: str
    """int64: indices of names"""
    starts: str
    ends: str
    scores: str
    """float"""


def pieces(writer: Writer, scores: str, tokens: TextTokens, aggregation: Aggregation) -> Pieces:
    """The tokens of the text with their `scores`, float [tokens, labels]; words unless `aggregation` is `simple`."""
    places = writer.positions(tokens.of_text)
    scores = writer.cast(scores, ElementType.DOUBLE)
    starts, ends = (writer.cast(value, ElementType.INT32) for value in (tokens.starts, tokens.ends))
    scores, starts, ends, goes_on = (
        writer.node("Gather", value, places) for value in (scores, starts, ends, tokens.goes_on)
    )
    if aggregation == "simple":
        return Pieces(scores=scores, starts=starts, ends=ends)
    words = _runs(writer, writer.node("Not", goes_on))
    return Pieces(
        scores=_of_words(writer, scores, words, aggregation),
        starts=writer.node("Gather", starts, words.first),
        ends=writer.node("Gather", ends, words.last),
    )


def spans(
    writer: Writer, found: Pieces, tags: Sequence[Tag], names: Sequence[str], threshold: float | None
) -> FoundSpans:
    """Pieces in a row with the same name are a span, unless one begins or ends there. Its score is their mean."""
    best = writer.node("ArgMax", found.scores, axis=1, keepdims=0)
    scores = writer.node("ReduceMax", found.scores, [1], keepdims=0)
    number = _looked_up(writer, best, [names.index(each.name) if each.name else -1 for each in tags])
    begins, ends = (
        _looked_up(writer, best, values) for values in zip(*((e.begins, e.ends) for e in tags), strict=True)
    )
    before = _before(writer, number, -1)
    is_other = writer.node("Not", writer.node("Equal", number, before))
    is_first = writer.node(
        "Or", is_other, writer.node("Greater", writer.node("Add", begins, _before(writer, ends, 0)), writer.int32(0))
    )
    groups = _runs(writer, is_first)
    classes = writer.node("Gather", number, groups.first)
    means = _mean(writer, scores, groups)
    is_kept = writer.node("GreaterOrEqual", classes, writer.int32(0))
    if threshold is not None:
        is_kept = writer.node("And", is_kept, writer.node("GreaterOrEqual", means, writer.double(threshold)))
    kept = writer.positions(is_kept)
    return FoundSpans(
        classes=_kept(writer, classes, kept),
        starts=_kept(writer, writer.node("Gather", found.starts, groups.first), kept),
        ends=_kept(writer, writer.node("Gather", found.ends, groups.last), kept),
        scores=_kept(writer, means, kept, ElementType.FLOAT),
    )


@dataclass(frozen=True, kw_only=True)
class _Runs:
    """Elements in groups of neighbours. Names of values, int64."""

    group: str
    """[elements]: number of the group"""
    first: str
    """[groups]: first element"""
    last: str
    """[groups]"""
    sizes: str
    """[groups]"""


def _runs(writer: Writer, begins: str) -> _Runs:
    """Groups that begin where `begins`, bool [elements], is true, and with the first element."""
    size = writer.node("Shape", begins)
    place = writer.node("Range", 0, writer.node("Squeeze", size), 1)
    begins = writer.node("Or", begins, writer.node("Equal", place, 0))
    first = writer.positions(begins)
    after = writer.node("Concat", writer.node("Slice", first, [1], [NOWHERE], [0]), size, axis=0)
    # without elements, `after` has one
    after = writer.node("Slice", after, [0], writer.node("Shape", first), [0])
    return _Runs(
        group=writer.node("Sub", writer.node("CumSum", writer.cast(begins, ElementType.INT64), 0), 1),
        first=first,
        last=writer.node("Sub", after, 1),
        sizes=writer.node("Sub", after, first),
    )


def _of_words(writer: Writer, scores: str, words: _Runs, aggregation: Aggregation) -> str:
    """double [words, labels]: scores of the first token of a word, of the one with the best score, or their mean."""
    if aggregation == "first":
        return writer.node("Gather", scores, words.first)
    if aggregation == "average":
        return _mean(writer, scores, words, is_table=True)
    best = writer.node("ReduceMax", scores, [1], keepdims=0)
    none = writer.node("Gather", best, words.first)
    most = writer.node("ScatterElements", none, words.group, best, axis=0, reduction="max")
    is_most = writer.node("Equal", best, writer.node("Gather", most, words.group))
    place = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", best)), 1)
    place = writer.node("Where", is_most, place, NOWHERE)
    chosen = writer.node("ScatterElements", words.last, words.group, place, axis=0, reduction="min")
    return writer.node("Gather", scores, chosen)


def _mean(writer: Writer, values: str, runs: _Runs, *, is_table: bool = False) -> str:
    """Mean of `values`, double [elements] or a table [elements, n], in each group."""
    group, sizes = runs.group, writer.cast(runs.sizes, ElementType.DOUBLE)
    if is_table:
        group = writer.node("Expand", writer.node("Unsqueeze", group, [1]), writer.node("Shape", values))
        sizes = writer.node("Unsqueeze", sizes, [1])
    zero = writer.node("Mul", writer.node("Gather", values, runs.first), writer.double(0))
    summed = writer.node("ScatterElements", zero, group, values, axis=0, reduction="add")
    return writer.node("Div", summed, sizes)


def _kept(writer: Writer, value: str, places: str, element: ElementType = ElementType.INT64) -> str:
    return writer.cast(writer.node("Gather", value, places), element)


def _looked_up(writer: Writer, best: str, values: Sequence[int]) -> str:
    return writer.node("Gather", writer.int32(values), best)


def _before(writer: Writer, value: str, first: int) -> str:
    """int32 [n]: `value` of the element before each; `first` for the first."""
    return writer.node("Slice", writer.node("Concat", writer.int32([first]), value, axis=0), [0], [-1], [0])
