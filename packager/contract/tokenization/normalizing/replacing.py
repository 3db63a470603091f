"""Matches of patterns in a text, and other texts in their place."""

from packager.contract.tokenization import matching
from packager.contract.tokenization.normalizing.steps import Replace
from packager.contract.tokenization.stages import Points, ahead, chosen, kept_only
from packager.graph.writer import Writer


def write(writer: Writer, text: Points, step: Replace) -> Points:
    """`text` with `step.content` in place of each match, which comes from the last code point of the match."""
    found = matching.cover(writer, step.pattern, text.points)
    is_outside = writer.node("Not", found.is_match)
    if not step.content:
        return kept_only(writer, text, is_outside)
    ends = writer.node("Or", ahead(writer, found.begins), writer.node("Not", ahead(writer, found.is_match)))
    is_last = writer.node("And", found.is_match, ends)
    content = [(writer.integer(ord(each)), is_last) for each in step.content]
    return chosen(writer, text, [(text.points, is_outside), *content])
