"""Cuts texts into pieces, which the model's tokens never leave."""

from packager.contract.tokenization import matching
from packager.contract.tokenization.definition import Prefix, Split, Splitter
from packager.contract.tokenization.normalizing import maps
from packager.contract.tokenization.normalizing.steps import Each
from packager.contract.tokenization.pages import END
from packager.contract.tokenization.stages import BREAK, Points, before, everywhere, inserted
from packager.graph.writer import Writer


def write(writer: Writer, text: Points, splitter: Splitter) -> Points:
    """`text` with BREAK between pieces."""
    match splitter:
        case Split():
            return _split(writer, text, splitter)
        case Prefix():
            return _prefixed(writer, text, splitter)
        case Each(map=made):
            return maps.write(writer, text, made)


def _prefixed(writer: Writer, text: Points, prefix: Prefix) -> Points:
    is_text = writer.node("Less", text.points, END)
    begins = writer.node("Not", before(writer, is_text))
    if prefix.only_first:  # of the text as it is given: a normalizer may have removed what it begins with
        begins = writer.node("And", begins, writer.node("Equal", text.starts, 0))
    is_other = writer.node("Not", writer.node("Equal", text.points, prefix.point))
    is_wanted = writer.node("And", is_text, is_other)
    return inserted(writer, text, prefix.point, writer.node("And", begins, is_wanted), everywhere(writer, text.points))


def _split(writer: Writer, text: Points, splitter: Split) -> Points:
    found = matching.cover(writer, splitter.pattern, text.points)
    is_match, is_gap = found.is_match, found.is_gap
    is_text = writer.node("Less", text.points, END)
    gap_begins = writer.node("And", is_gap, writer.node("Not", before(writer, is_gap)))
    begins = writer.node("Or", found.begins, gap_begins)
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
