"""Tokens as text, in a graph: one token per run, with what the next run needs.

The text of all runs is that of `tokenizers` for the whole sequence: bytes wait until they are a character, or until it
is known that they are none.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.contract.tokenization import utf8
from packager.contract.tokenization.decoder import Decoder, LeadingStrip
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

NOTHING, TEXT, BYTES = 0, 1, 2
"""what a token adds"""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The state that a run leaves for the next one. Names of values; zeros and no bytes before the first token."""

    bytes: str
    """int64 [bytes]: bytes that are no characters yet"""
    texts: str
    """int64 [1]: 1 after the first token that adds something"""
    stripped: str
    """int64 [1]: dropped characters, or the largest number of them once there is another one"""


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A token as text. Names of values."""

    points: str
    """int64 [characters]: code points"""
    progress: Progress


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Whether a token ends a text. Names of values, bool [1]."""

    is_skipped: str
    """whether the token itself adds nothing"""
    is_last: str
    """whether no token follows: bytes that wait are added as well"""


def write(writer: Writer, decoder: Decoder, tokens: int, token: str, ends: Ends, before: Progress) -> Spoken:
    """The text that `token`, int64 [1], one of `tokens` ids, adds to the text."""
    table = _Table.of(decoder, tokens)
    row = writer.node("Add", token, writer.node("Mul", before.texts, tokens))
    kind = writer.node("Gather", writer.constant(table.kinds), row)
    kind = writer.node("Where", ends.is_skipped, NOTHING, writer.cast(kind, ElementType.INT64))
    adds = writer.node("Min", kind, 1)
    chunk = _chunk(writer, table, row, adds)
    ended = writer.cast(ends.is_last, ElementType.INT64)
    is_text = writer.cast(writer.node("Equal", kind, TEXT), ElementType.INT64)
    text, own = _if(writer, is_text, chunk), _if(writer, writer.node("Sub", 1, is_text), chunk)
    data = writer.node("Concat", before.bytes, own, axis=0)
    made = (_after_runs if decoder.decodes_runs else _lossy)(writer, data, text, ended, is_text)
    points, stripped = _stripped(writer, decoder.strip, made.points, before.stripped)
    texts = writer.node("Max", before.texts, adds)
    return Spoken(points=points, progress=Progress(bytes=made.bytes, texts=texts, stripped=stripped))


@dataclass(frozen=True, kw_only=True)
class _Table:
    """The text that each token adds, rows of first tokens before those of later ones."""

    kinds: "numpy.ndarray"
    """int32 [2 * tokens]"""
    starts: "numpy.ndarray"
    """int64 [2 * tokens + 1]: where each row begins"""
    data: "numpy.ndarray"
    """int32: code points, or bytes"""

    @classmethod
    def of(cls, decoder: Decoder, tokens: int) -> "_Table":
        import numpy

        kinds, rows = [], []
        for pieces in (decoder.first, decoder.later):
            for number in range(tokens):
                piece = pieces.get(number)
                kinds.append(NOTHING if piece is None else TEXT if isinstance(piece, str) else BYTES)
                rows.append(list(map(ord, piece)) if isinstance(piece, str) else list(piece or b""))
        data = [each for row in rows for each in row] or [0]
        return cls(
            kinds=numpy.array(kinds, numpy.int32),
            starts=numpy.concatenate([[0], numpy.cumsum([len(row) for row in rows])]).astype(numpy.int64),
            data=numpy.array(data, numpy.int32),
        )


@dataclass(frozen=True, kw_only=True)
class _Decoded:
    points: str
    """int64 [characters]"""
    bytes: str
    """int64 [bytes]: those that wait"""


def _chunk(writer: Writer, table: _Table, row: str, adds: str) -> str:
    """int64 [n]: code points or bytes of a row; none if `adds` is 0."""
    starts = writer.constant(table.starts)
    start = writer.node("Gather", starts, row)
    end = writer.node("Gather", starts, writer.node("Add", row, 1))
    length = writer.node("Mul", writer.node("Sub", end, start), adds)
    found = writer.node("Slice", writer.constant(table.data), start, writer.node("Add", start, length), [0])
    return writer.cast(found, ElementType.INT64)


def _first(writer: Writer, values: str, count: str) -> str:
    return writer.node("Slice", values, [0], count, [0])


def _if(writer: Writer, flag: str, values: str) -> str:
    """`values`, or none of them where `flag`, int64 [1], is 0."""
    return _first(writer, values, writer.node("Mul", writer.node("Shape", values), flag))


def _lossy(writer: Writer, data: str, text: str, ended: str, _: str) -> _Decoded:
    """Joins all bytes to one text. Those of a character that may still be completed wait."""
    size = writer.node("Shape", data)
    found = utf8.characters(writer, data)
    cut = writer.positions(writer.node("And", found.begins, found.is_cut))
    until = writer.node("ReduceMin", writer.node("Concat", cut, size, axis=0), keepdims=1)
    until = writer.node("Where", writer.cast(ended, ElementType.BOOL), size, until)
    points = writer.node("Compress", _first(writer, found.points, until), _first(writer, found.begins, until), axis=0)
    return _Decoded(
        points=writer.node("Concat", points, text, axis=0),
        bytes=writer.node("Slice", data, until, [2**62], [0]),
    )


def _after_runs(writer: Writer, data: str, text: str, ended: str, is_text: str) -> _Decoded:
    """Bytes wait for a text or for the end; then all of them are characters, or all of them are U+FFFD."""
    ends = writer.node("Max", is_text, ended)
    found = utf8.characters(writer, data)
    is_fine = writer.node("Or", found.is_valid, writer.node("Not", found.begins))
    are_valid = writer.node("ReduceMin", writer.cast(is_fine, ElementType.INT64), keepdims=1)
    size = writer.node("Shape", data)
    points = writer.node("Compress", _first(writer, found.points, size), _first(writer, found.begins, size), axis=0)
    wrong = writer.node("Expand", [utf8.REPLACEMENT], size)
    decoded = writer.node(
        "Concat",
        _if(writer, are_valid, points),
        _if(writer, writer.node("Sub", 1, are_valid), wrong),
        axis=0,
    )
    return _Decoded(
        points=writer.node("Concat", _if(writer, ends, decoded), text, axis=0),
        bytes=_if(writer, writer.node("Sub", 1, ends), data),
    )


def _stripped(writer: Writer, strip: LeadingStrip | None, points: str, before: str) -> tuple[str, str]:
    """`points` without those at the start of the text that `strip` drops, and `Progress.stripped`."""
    if strip is None:
        return points, before
    left = writer.node("Sub", strip.most, before)
    size = writer.node("Shape", points)
    others = writer.positions(writer.node("Not", writer.node("Equal", points, ord(strip.character))))
    leading = writer.node("ReduceMin", writer.node("Concat", others, size, axis=0), keepdims=1)
    dropped = writer.node("Min", leading, left)
    is_all = writer.node("Equal", dropped, size)
    after = writer.node("Where", is_all, writer.node("Add", before, dropped), strip.most)
    return writer.node("Slice", points, dropped, [2**62], [0]), after
