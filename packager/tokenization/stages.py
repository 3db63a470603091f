"""Values that pass from one stage of a tokenizer to the next: positions of texts, then tokens."""

from dataclasses import dataclass

from packager.core.signature import ElementType
from packager.graph.writer import Writer

BREAK = 2**40
"""stands between pieces of a text; like END, above all code points, and above all tokens"""


@dataclass(frozen=True, kw_only=True)
class Points:
    """Texts as positions: END, the code points of a text, END, and so on. Names of values, int64 [positions]."""

    points: str
    starts: str
    """first code point of the text that a position comes from"""
    ends: str
    """code point after the last one"""


@dataclass(frozen=True, kw_only=True)
class Flat:
    """Tokens of all texts, one after the other. Names of values, int64 [tokens]."""

    ids: str
    texts: str
    starts: str
    ends: str


def before(writer: Writer, flags: str) -> str:
    """bool [n]: `flags` of the position before each; false for the first."""
    none = writer.cast([0], ElementType.BOOL)
    return writer.node("Concat", none, writer.node("Slice", flags, [0], [-1], [0]), axis=0)


def everywhere(writer: Writer, value: str) -> str:
    """bool [n]: true for each element of `value`, which has n."""
    return writer.node("Equal", value, value)


def inserted(writer: Writer, text: Points, point: int, places: str, kept: str) -> Points:
    """`text` with `point` before the positions in `places`, and without those that are not in `kept`; both bool [n].

    What is inserted comes from the same part of the text as the position after it.
    """
    both = writer.node("Concat", *(writer.node("Unsqueeze", each, [1]) for each in (places, kept)), axis=1)
    found = writer.positions(writer.node("Reshape", both, [-1]))
    source = writer.node("Div", found, 2)
    is_new = writer.node("Equal", writer.node("Mod", found, 2), 0)
    return Points(
        points=writer.node("Where", is_new, point, writer.node("Gather", text.points, source)),
        starts=writer.node("Gather", text.starts, source),
        ends=writer.node("Gather", text.ends, source),
    )
