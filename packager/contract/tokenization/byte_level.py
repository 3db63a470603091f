"""Texts as bytes of UTF-8, which a vocabulary writes with one printable character each."""

from itertools import pairwise

from packager.contract.tokenization.pages import END, look_up
from packager.contract.tokenization.stages import Points
from packager.graph.writer import Writer

LIMITS = (0x80, 0x800, 0x10000)
"""code points from these on have another byte"""
WIDTH = len(LIMITS) + 1
"""bytes of the longest"""
WHOLE = 2**62
"""modulus of numbers that stay"""


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
    roles = writer.flattened(roles_of(writer, text.points))
    found = writer.positions(roles)
    source = writer.node("Div", found, WIDTH)
    return Points(
        points=values(writer, writer.node("Gather", text.points, source), writer.node("Gather", roles, found)),
        starts=writer.node("Gather", text.starts, source),
        ends=writer.node("Gather", text.ends, source),
    )


def roles_of(writer: Writer, points: str) -> str:
    """int32 [n, WIDTH]: which byte of a code point each is, a number of `_parts`, at the end of a row; 0 for none. END
    and numbers above have one byte."""
    import numpy

    table = numpy.zeros((END + 1, WIDTH), numpy.int32)
    role = 1
    for size, (begin, end) in enumerate(pairwise((0, *LIMITS, END)), 1):
        table[begin:end, WIDTH - size :] = range(role, role + size)
        role += size
    table[END, -1] = 1
    return look_up(writer, points, table)


def values(writer: Writer, points: str, roles: str) -> str:
    """int64: the bytes of code points in their `roles`, of the same shape or one that goes with it."""
    divisor, modulus, added = (
        writer.node("Gather", writer.integers(*each), roles) for each in zip(*_parts(), strict=True)
    )
    return writer.node("Add", writer.node("Mod", writer.node("Div", points, divisor), modulus), added)


def _parts() -> list[tuple[int, int, int]]:
    """For each role: the divisor of a code point, the modulus, and what is added; first that of no byte."""
    parts = [(1, 1, 0)]
    for size, lead in enumerate((0, 0xC0, 0xE0, 0xF0), 1):
        parts.append((64 ** (size - 1), WHOLE, lead))
        parts += [(64**power, 64, 0x80) for power in reversed(range(size - 1))]
    return parts
