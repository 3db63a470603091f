"""Cuts texts where their script changes, or after a number of characters."""

from collections.abc import Mapping

from packager.contract.tokenization import unicode
from packager.contract.tokenization.definition import Chunks, Cutter, Scripts
from packager.contract.tokenization.pages import END, number_of
from packager.contract.tokenization.stages import BREAK, Points, before, everywhere, inserted
from packager.core.signature import ElementType
from packager.graph.writer import Writer

BORDER = -1


def write(writer: Writer, text: Points, cutter: Cutter) -> Points:
    """`text` with BREAK between pieces."""
    match cutter:
        case Scripts():
            return _scripts(writer, text)
        case Chunks(length=length):
            return _chunks(writer, text, length)


def _scripts(writer: Writer, text: Points) -> Points:
    """Characters of every script, such as blanks, stay with those before them; at the beginning they are left out."""
    is_text = writer.node("Less", text.points, END)
    script = writer.cast(number_of(writer, text.points, _numbers()), ElementType.INT64)
    script = writer.node("Where", is_text, script, BORDER)
    is_own = writer.node("Not", writer.node("Equal", script, 0))
    earlier = _last(writer, script, is_own)
    is_later = writer.node("Not", writer.node("Equal", earlier, BORDER))
    is_other = writer.node("And", is_own, writer.node("Not", writer.node("Equal", earlier, script)))
    begins = writer.node("And", is_text, writer.node("And", is_later, is_other))
    kept = writer.node("Or", is_own, is_later)
    return inserted(writer, text, BREAK, begins, kept)


def _numbers() -> Mapping[int, int]:
    """Numbers of scripts by code point; none for what belongs to every script."""
    return {point: number for number, points in enumerate(unicode.scripts(), 1) for point in points}


def _chunks(writer: Writer, text: Points, length: int) -> Points:
    is_text = writer.node("Less", text.points, END)
    places = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", text.points)), 1)
    first = _last(writer, places, writer.node("Not", is_text))
    count = writer.node("Sub", writer.node("Sub", places, first), 1)  # characters of the piece before each
    is_full = writer.node("Equal", writer.node("Mod", count, length), 0)
    begins = writer.node("And", writer.node("And", is_text, before(writer, is_text)), is_full)
    return inserted(writer, text, BREAK, begins, everywhere(writer, text.points))


def _last(writer: Writer, values: str, flags: str) -> str:
    """int64 [n]: of `values` the last one before each position whose flag is true: the first position's flag is."""
    number = writer.node("CumSum", writer.cast(flags, ElementType.INT64), 0, exclusive=1)
    known = writer.node("Compress", values, flags, axis=0)
    return writer.node("Gather", known, writer.node("Max", writer.node("Sub", number, 1), 0))
