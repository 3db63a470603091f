"""Values that pass from one stage of a tokenizer to the next: positions of texts, then tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from packager.contract.tokenization.pages import END
from packager.core.signature import ElementType
from packager.graph.writer import Branch, Writer

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
    return writer.node("Pad", flags, [1, -1])


def ahead(writer: Writer, flags: str) -> str:
    """bool [n]: `flags` of the position after each; false for the last."""
    return writer.node("Pad", flags, [-1, 1])


def everywhere(writer: Writer, value: str) -> str:
    """bool [n]: true for each element of `value`, which has n."""
    return writer.node("Equal", value, value)


def inserted(writer: Writer, text: Points, point: int, places: str, kept: str) -> Points:
    """`text` with `point` before the positions in `places`, and without those that are not in `kept`; both bool [n].

    What is inserted comes from the same part of the text as the position after it.
    """
    return chosen(writer, text, [(writer.integer(point), places), (text.points, kept)])


def chosen(writer: Writer, text: Points, columns: Sequence[tuple[str, str]]) -> Points:
    """For each position of `text` the points of those `columns` whose flag is true there, one after the other.

    A column is a point, int64 [n] or without dimensions, and its flag, bool [n]. Points come from the position's part
    of the text.
    """
    width = len(columns)
    flags = writer.node("Concat", *(writer.node("Unsqueeze", flag, [1]) for _, flag in columns), axis=1)
    found = writer.positions(writer.flattened(flags))
    source = writer.node("Div", found, width) if width > 1 else found
    points = _column(writer, columns[-1][0], source)
    column = writer.node("Mod", found, width)
    for number, (point, _) in enumerate(columns[:-1]):
        points = writer.node("Where", writer.node("Equal", column, number), _column(writer, point, source), points)
    starts, ends = (writer.node("Gather", value, source) for value in (text.starts, text.ends))
    return Points(points=points, starts=starts, ends=ends)


def _column(writer: Writer, point: str, source: str) -> str:
    return point if writer.is_constant(point) else writer.node("Gather", point, source)


def kept_only(writer: Writer, text: Points, flags: str) -> Points:
    """`text` without positions where `flags`, bool [n], is false."""
    points, starts, ends = (
        writer.node("Compress", value, flags, axis=0) for value in (text.points, text.starts, text.ends)
    )
    return Points(points=points, starts=starts, ends=ends)


def if_any(writer: Writer, flags: str, then: "Stage", otherwise: "Stage") -> Points:
    """The text of `then` if any of `flags`, bool or int32 [n], is true or above 0, else that of `otherwise`."""

    def of(stage: Stage) -> Branch:
        def values(inner: Writer) -> Sequence[str]:
            made = stage(inner)
            return made.points, made.starts, made.ends

        return values

    points, starts, ends = writer.branch(any_of(writer, flags), of(then), of(otherwise), [ElementType.INT64] * 3)
    return Points(points=points, starts=starts, ends=ends)


Stage = Callable[[Writer], Points]


def any_of(writer: Writer, flags: str) -> str:
    """bool: whether any of `flags`, bool or int32 [n], is true or above 0."""
    return writer.cast(writer.node("ReduceMax", writer.cast(flags, ElementType.INT32), keepdims=0), ElementType.BOOL)


def sums(writer: Writer, value: str, group: str) -> str:
    """int64 [n]: the sum of `value` over all positions of the same `group`, a number below n, at each."""
    none = writer.node("Mul", group, 0)
    return writer.node("Gather", writer.node("ScatterElements", none, group, value, axis=0, reduction="add"), group)


def is_token(writer: Writer, points: str) -> str:
    """bool [n]: whether each of `points` is a token that is known already."""
    return writer.node("And", writer.node("Greater", points, END), writer.node("Less", points, BREAK))


def numbered(writer: Writer, text: Points) -> Points:
    """`text` with each code point as a token, whose id is its number."""
    is_text = writer.node("Less", text.points, END)
    return replace(text, points=writer.node("Where", is_text, writer.node("Add", text.points, END + 1), text.points))


def flat(writer: Writer, text: Points) -> Flat:
    """The tokens of `text`; all else in it is left out."""
    number = writer.node("CumSum", writer.cast(writer.node("Equal", text.points, END), ElementType.INT64), 0)
    found = is_token(writer, text.points)
    points, number, starts, ends = (
        writer.node("Compress", value, found, axis=0) for value in (text.points, number, text.starts, text.ends)
    )
    return Flat(ids=writer.node("Sub", points, END + 1), texts=writer.node("Sub", number, 1), starts=starts, ends=ends)
