"""Normalizers at the ends of texts: what precedes them, and blanks that are taken away."""

from packager.contract.tokenization.normalizing.steps import Strip
from packager.contract.tokenization.pages import END, is_member
from packager.contract.tokenization.stages import Points, before, chosen, everywhere, kept_only
from packager.core.signature import ElementType
from packager.graph.writer import Writer


def prepended(writer: Writer, text: Points, content: str) -> Points:
    """`text` with `content` before each part that is not empty, which comes from the part's first code point."""
    is_text = writer.node("Less", text.points, END)
    begins = writer.node("And", is_text, writer.node("Not", before(writer, is_text)))
    prefix = [(writer.integer(ord(each)), begins) for each in content]
    return chosen(writer, text, [*prefix, (text.points, everywhere(writer, text.points))])


def stripped(writer: Writer, text: Points, step: Strip) -> Points:
    """`text` without blanks at the ends of its parts."""
    border = writer.node("GreaterOrEqual", text.points, END)
    is_blank = is_member(writer, text.points, step.points)
    is_inner = writer.node("Not", writer.node("Or", border, is_blank))
    number = writer.node("CumSum", writer.cast(is_inner, ElementType.INT64), 0)
    at_borders = writer.node("Compress", number, border, axis=0)
    part = writer.node("CumSum", writer.cast(border, ElementType.INT64), 0)
    after = writer.node("Min", part, writer.node("Sub", writer.node("Shape", at_borders), 1))
    kept = everywhere(writer, text.points)
    for is_wanted, there in ((step.left, writer.node("Sub", part, 1)), (step.right, after)):
        if is_wanted:
            is_outside = writer.node("Equal", number, writer.node("Gather", at_borders, there))
            kept = writer.node("And", kept, writer.node("Not", writer.node("And", is_blank, is_outside)))
    return kept_only(writer, text, kept)
