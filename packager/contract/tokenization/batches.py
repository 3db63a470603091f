"""Several texts at once: a row of tokens for each, padded to the longest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from packager.contract.tokenization.definition import Padding
from packager.contract.tokenization.pages import END
from packager.contract.tokenization.stages import Flat, Points
from packager.contract.tokenization.templates import Rows
from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Names of values in the graph, int64 [texts, tokens]."""

    ids: str
    mask: str
    """1 for tokens, 0 for padding"""
    types: str
    """number of the text's role in a pair: 0 or 1"""
    flat: str
    """as in Writer, [1]"""


@dataclass(frozen=True, kw_only=True)
class Lists:
    """Lists of texts, of which the first is numbered from 0, and the next goes on."""

    points: Points
    counts: tuple[str, ...]
    """int64 [1]: number of texts in each list"""


@dataclass(frozen=True, kw_only=True)
class Ragged:
    """Rows of tokens, one after the other. Names of values in the graph."""

    ids: str
    """int64 [tokens]"""
    roles: str
    """int64 [tokens]"""
    sizes: str
    """int64 [texts]: tokens of each row"""


Filling = Callable[[Writer, list[Flat]], Rows]
"""writes a row of tokens from those of one text, or of two"""


def lists(writer: Writer, texts: Sequence[str]) -> Lists:
    """Positions of `texts`, int64 [code points] with END between two texts of a list."""
    end = writer.integers(END)
    parts = [end, *(each for text in texts for each in (text, end))]
    points = writer.node("Concat", *parts, axis=0)
    is_end = writer.node("Equal", points, END)
    number = writer.node("Sub", writer.node("CumSum", writer.cast(is_end, ElementType.INT64), 0), 1)
    begin = writer.node("Gather", writer.positions(is_end), number)
    places = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", points)), 1)
    starts = writer.node("Max", writer.node("Sub", writer.node("Sub", places, begin), 1), [0])
    return Lists(
        points=Points(points=points, starts=starts, ends=writer.node("Add", starts, 1)),
        counts=tuple(_count(writer, text) for text in texts),
    )


def _count(writer: Writer, text: str) -> str:
    ends = writer.cast(writer.node("Equal", text, END), ElementType.INT64)
    return writer.node("Add", writer.node("ReduceSum", ends, [0], keepdims=1), 1)


def rows(writer: Writer, flat: Flat, texts: Lists, filled: Filling) -> Ragged:
    """The rows that `filled` writes: one for each text, or for each pair. One text alone goes with every other."""
    import numpy

    count = writer.node("Max", *texts.counts)
    lasts = _lasts(writer, flat, texts)
    nothing = writer.constant(numpy.zeros(0, numpy.int64))

    def step(inner: Writer, number: str, carried: tuple[str, ...]) -> tuple[str, Sequence[str]]:
        known, before = [], writer.integers(0)
        for size in texts.counts:
            own = inner.node("Add", before, inner.node("Min", number, inner.node("Sub", size, 1)))
            known.append(_own(inner, flat, lasts, own))
            before = inner.node("Add", before, size)
        row = filled(inner, known)
        made = (row.ids, row.roles, inner.node("Shape", row.ids))
        joined = [inner.node("Concat", each, new, axis=0) for each, new in zip(carried, made, strict=True)]
        return inner.node("GreaterOrEqual", number, 0), joined

    ids, roles, sizes = writer.loop(writer.node("Squeeze", count), [(nothing, ElementType.INT64)] * 3, step)
    return Ragged(ids=ids, roles=roles, sizes=sizes)


def _lasts(writer: Writer, flat: Flat, texts: Lists) -> str:
    """int64 [texts + 1]: 0, and then for each text the number of tokens up to its end."""
    total = texts.counts[0] if len(texts.counts) == 1 else writer.node("Add", *texts.counts)
    none = writer.node("Expand", [0], total)
    ones = writer.node("Add", writer.node("Mul", flat.texts, 0), 1)
    sizes = writer.node("ScatterElements", none, flat.texts, ones, axis=0, reduction="add")
    return writer.node("Concat", [0], writer.node("CumSum", sizes, 0), axis=0)


def _own(writer: Writer, flat: Flat, lasts: str, number: str) -> Flat:
    """The tokens of the text `number`, int64 [1]."""
    first, last = writer.node("Gather", lasts, number), writer.node("Gather", lasts, writer.node("Add", number, 1))
    ids, starts, ends = (writer.node("Slice", value, first, last, [0]) for value in (flat.ids, flat.starts, flat.ends))
    return Flat(ids=ids, texts="", starts=starts, ends=ends)


def padded(writer: Writer, rows: Ragged, length: int | None, padding: Padding) -> Batch:
    """`rows` with as many tokens as the longest has, or with `length`."""
    longest = writer.integer(length) if length else writer.node("ReduceMax", rows.sizes, keepdims=0)
    sizes = writer.node("Unsqueeze", rows.sizes, [1])
    first = writer.node("Unsqueeze", writer.node("CumSum", rows.sizes, 0, exclusive=1), [1])
    column = writer.node("Range", 0, longest, 1)
    if padding.at_left:
        column = writer.node("Sub", column, writer.node("Sub", longest, sizes))
        is_token = writer.node("GreaterOrEqual", column, 0)
    else:
        is_token = writer.node("Less", column, sizes)
    nothing = writer.node("Shape", rows.ids)  # where the padding is, behind all tokens
    place = writer.node("Where", is_token, writer.node("Add", column, first), nothing)
    ids, types = (
        writer.node("Gather", writer.node("Concat", value, [number], axis=0), place)
        for value, number in ((rows.ids, padding.id), (rows.roles, padding.role))
    )
    return Batch(ids=ids, mask=writer.cast(is_token, ElementType.INT64), types=types, flat=writer.flat)
