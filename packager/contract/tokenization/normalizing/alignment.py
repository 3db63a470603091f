"""Where normalized code points come from: `NormalizedString.transform` of tokenizers."""

from packager.contract.tokenization.pages import END
from packager.contract.tokenization.stages import Points
from packager.core.signature import ElementType
from packager.graph.writer import Writer


def write(writer: Writer, text: Points, points: str, replaced: str, source: str = "") -> Points:
    """`points`, which replace as many code points of `text` as `replaced` says, int64 [result].

    Each comes from the first code point that it replaces, and one that replaces none from the last of the one before.
    Where not all code points are replaced, `source` says which position of `text` each comes from: every part of a text
    is counted from its border then.
    """
    after = writer.node("CumSum", replaced, 0)
    place = writer.node("Sub", after, writer.node("Max", replaced, 1))
    if source:
        is_border = writer.node("GreaterOrEqual", points, END)
        missing = writer.node("Sub", source, writer.node("Sub", after, replaced))
        missing = writer.node("Compress", missing, is_border, axis=0)
        part = writer.node("Sub", writer.node("CumSum", writer.cast(is_border, ElementType.INT64), 0), 1)
        place = writer.node("Add", place, writer.node("Gather", missing, part))
    place = writer.node("Max", place, 0)
    starts, ends = (writer.node("Gather", value, place) for value in (text.starts, text.ends))
    return Points(points=points, starts=starts, ends=ends)
