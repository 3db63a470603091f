"""Cuts texts into pieces, which the model's tokens never leave."""

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization import chains, matching
from packager.tokenization.definition import Split, Splitter
from packager.tokenization.pages import END
from packager.tokenization.stages import BREAK, Points, before, everywhere, inserted

BLANK = ord(" ")


def write(writer: Writer, text: Points, splitter: Splitter) -> Points:
    """`text` with BREAK between pieces."""
    if isinstance(splitter, Split):
        return _split(writer, text, splitter)
    return _prefixed(writer, text)


def _prefixed(writer: Writer, text: Points) -> Points:
    begins = writer.node("Not", before(writer, writer.node("Less", text.points, END)))
    is_wanted = writer.node(
        "And", writer.node("Less", text.points, END), writer.node("Not", writer.node("Equal", text.points, BLANK))
    )
    return inserted(writer, text, BLANK, writer.node("And", begins, is_wanted), everywhere(writer, text.points))


def _split(writer: Writer, text: Points, splitter: Split) -> Points:
    ends = matching.ends(writer, splitter.pattern, text.points)
    size = writer.node("Squeeze", writer.node("Shape", text.points))
    places = writer.node("Range", 0, size, 1)
    matches = writer.node("GreaterOrEqual", ends, 0)
    after = writer.node("Min", writer.node("Add", places, 1), writer.node("Sub", size, 1))
    first = writer.cast(writer.node("Equal", places, 0), ElementType.INT32)
    reached = chains.reached_anywhere(writer, writer.node("Where", matches, ends, after), first)
    is_reached = writer.cast(reached, ElementType.BOOL)
    begins = writer.node("And", is_reached, matches)
    is_text = writer.node("Less", text.points, END)
    is_gap = writer.node("And", writer.node("And", is_reached, writer.node("Not", matches)), is_text)
    is_match = writer.node("And", is_text, writer.node("Not", is_gap))
    begins = writer.node("Or", begins, writer.node("And", is_gap, writer.node("Not", before(writer, is_gap))))
    kept = everywhere(writer, text.points)
    if splitter.is_inverted:
        is_match, is_gap = is_gap, is_match
    match splitter.behavior:
        case "Removed":
            kept = writer.node("Not", is_match)
        case "MergedWithPrevious":
            begins = _unless(writer, begins, is_match, is_gap)
        case "MergedWithNext":
            begins = _unless(writer, begins, is_gap, is_match)
        case "Contiguous":
            begins = _unless(writer, _unless(writer, begins, is_match, is_match), is_gap, is_gap)
    return inserted(writer, text, BREAK, writer.node("And", begins, before(writer, is_text)), kept)


def _unless(writer: Writer, begins: str, here: str, earlier: str) -> str:
    """`begins` without positions in `here` that follow one in `earlier`."""
    return writer.node("And", begins, writer.node("Not", writer.node("And", here, before(writer, earlier))))
