"""UTF-8 as code points, in a graph: all bytes at once.

Bytes that are no UTF-8 count as U+FFFD, one for each maximal subpart (The Unicode Standard, section 3.9,
"Substitution of Maximal Subparts"), as in Rust's from_utf8_lossy.
"""

from dataclasses import dataclass

from packager.core.signature import ElementType
from packager.graph.writer import Writer

REPLACEMENT = 0xFFFD
AFTER = 256
"""stands after the last byte"""


def _lengths() -> list[int]:
    """Bytes of the character that begins with each byte; 0 where none does; 1 for AFTER."""
    lengths = [1] * 0x80 + [0] * 0x42 + [2] * 0x1E + [3] * 0x10 + [4] * 5 + [0] * 0x0B
    return [*lengths, 1]


def _seconds() -> tuple[list[int], list[int]]:
    """Least and largest second byte after each first one (Table 3-7 of the standard)."""
    least, largest = [0x80] * (AFTER + 1), [0xBF] * (AFTER + 1)
    least[0xE0], least[0xF0] = 0xA0, 0x90
    largest[0xED], largest[0xF4] = 0x9F, 0x8F
    return least, largest


def _payloads() -> list[int]:
    """The bits of a code point in each first byte."""
    masks = (0, 0xFF, 0x1F, 0x0F, 0x07)
    return [number & masks[length] for number, length in enumerate(_lengths())]


@dataclass(frozen=True, kw_only=True)
class ByteCharacters:
    """Bytes as characters, for each byte and one position after them. Names of values, [bytes + 1]."""

    points: str
    """int64: code point of the character that begins here"""
    begins: str
    """bool: whether one begins here; also at the position after the last byte"""
    is_valid: str
    """bool: whether what begins here is a character, not bytes that count as U+FFFD"""
    is_cut: str
    """bool: whether a character begins here that more bytes could complete"""


def characters(writer: Writer, data: str) -> ByteCharacters:
    """Characters of `data`, int64 [bytes], which may have none."""
    padded = writer.node("Concat", data, [AFTER] * 4, axis=0)
    first, second, third, fourth = (
        writer.node("Slice", padded, [start], [start - 3 if start < 3 else 2**62], [0]) for start in range(4)
    )
    length = writer.node("Gather", writer.integers(*_lengths()), first)
    least, largest = _seconds()
    goes_on = [
        _is_between(
            writer,
            second,
            writer.node("Gather", writer.integers(*least), first),
            writer.node("Gather", writer.integers(*largest), first),
        ),
        *(_is_between(writer, each, 0x80, 0xBF) for each in (third, fourth)),
    ]
    found = writer.node("Add", writer.node("Sub", length, length), 1)
    point = writer.node("Gather", writer.integers(*_payloads()), first)
    is_so_far = writer.node("GreaterOrEqual", length, 1)
    for number, (byte, fits) in enumerate(zip((second, third, fourth), goes_on, strict=True), 2):
        wanted = writer.node("GreaterOrEqual", length, number)
        is_so_far = writer.node("And", is_so_far, writer.node("And", wanted, fits))
        found = writer.node("Add", found, writer.cast(is_so_far, ElementType.INT64))
        longer = writer.node("Add", writer.node("Mul", point, 64), writer.node("Sub", byte, 0x80))
        point = writer.node("Where", is_so_far, longer, point)
    is_valid = writer.node("Equal", found, length)
    size = writer.node("Squeeze", writer.node("Shape", data))
    place = writer.node("Range", 0, writer.node("Add", size, 1), 1)
    is_short = writer.node("Less", found, length)
    is_at_end = writer.node("Equal", writer.node("Add", place, found), size)
    return ByteCharacters(
        points=writer.node("Where", is_valid, point, REPLACEMENT),
        begins=_begins(writer, found),
        is_valid=is_valid,
        is_cut=writer.node("And", is_short, is_at_end),
    )


def _is_between(writer: Writer, value: str, least: str | int, largest: str | int) -> str:
    return writer.node("And", writer.node("GreaterOrEqual", value, least), writer.node("LessOrEqual", value, largest))


def _begins(writer: Writer, found: str) -> str:
    """Whether no character before covers a position. A byte that begins one never continues another."""
    padded = writer.node("Concat", [1, 1, 1], found, axis=0)
    covered = [
        writer.node("Greater", writer.node("Slice", padded, [3 - back], [-back], [0]), back) for back in (1, 2, 3)
    ]
    return writer.node("Not", writer.node("Or", writer.node("Or", covered[0], covered[1]), covered[2]))
