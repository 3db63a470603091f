"""Texts as bytes of UTF-8, which a vocabulary writes with one printable character each."""

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization.pages import END
from packager.tokenization.stages import Points

LIMITS = (0x80, 0x800, 0x10000)
"""code points from these on have another byte"""


def _characters() -> str:
    """GPT-2's `bytes_to_unicode`: printable bytes of Latin-1 are their own characters, others those from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [each for each in range(256) if each not in printable]
    return "".join(chr(each if each in printable else 256 + others.index(each)) for each in range(256))


CHARACTERS = _characters()
"""of each byte, in the vocabulary"""
BYTES = {character: byte for byte, character in enumerate(CHARACTERS)}


def decoded(token: str) -> str:
    """A character for each byte of `token`, from U+0000 to U+00FF; empty if it has other characters than those of
    bytes."""
    return "".join(chr(BYTES[each]) for each in token) if BYTES.keys() >= set(token) else ""


def write(writer: Writer, text: Points) -> Points:
    """The bytes of `text`; END and numbers above stay."""
    rows, count = rows_of(writer, text.points)
    return laid(writer, text, rows, count)


def laid(writer: Writer, text: Points, rows: str, count: str) -> Points:
    """The last `count`, int64 [n], of each of `rows`, int64 [n, 4], as positions that come from the same part."""
    column = writer.node("Sub", writer.node("Unsqueeze", count, [1]), [4, 3, 2, 1])
    found = writer.positions(writer.flattened(writer.node("GreaterOrEqual", column, 0)))
    source = writer.node("Div", found, 4)
    return Points(
        points=writer.node("Gather", writer.flattened(rows), found),
        starts=writer.node("Gather", text.starts, source),
        ends=writer.node("Gather", text.ends, source),
    )


def rows_of(writer: Writer, points: str) -> tuple[str, str]:
    """The bytes of each code point at the end of a row, int64 [n, 4], and their number; END and numbers above stay."""
    sizes = [writer.cast(writer.node("GreaterOrEqual", points, limit), ElementType.INT64) for limit in LIMITS]
    is_text = writer.node("Less", points, END)
    more = writer.node("Add", writer.node("Add", sizes[0], sizes[1]), sizes[2])
    more = writer.node("Mul", more, writer.cast(is_text, ElementType.INT64))
    shifted = [writer.node("Div", points, 64**power) for power in (3, 2, 1, 0)]
    rows = writer.node("Concat", *(writer.node("Unsqueeze", each, [1]) for each in shifted), axis=1)
    is_lead = writer.node("Equal", writer.node("Unsqueeze", more, [1]), [3, 2, 1, 0])
    continued = writer.node("Add", writer.node("Mod", rows, 64), 0x80)
    lead = writer.node("Gather", writer.integers(0, 0xC0, 0xE0, 0xF0), more)
    lead = writer.node("Add", rows, writer.node("Unsqueeze", lead, [1]))
    return writer.node("Where", is_lead, lead, continued), writer.node("Add", more, 1)
