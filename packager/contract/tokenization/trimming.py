"""Takes blanks at the ends of tokens out of their offsets: `process_offsets` of tokenizers' ByteLevel."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packager.contract.tokenization import byte_level, unicode
from packager.contract.tokenization.definition import Tokenizer
from packager.contract.tokenization.stages import Flat
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

BLANK = byte_level.CHARACTERS[ord(" ")]


@dataclass(frozen=True, kw_only=True)
class Blanks:
    """How many blanks tokens begin and end with."""

    leading: "numpy.ndarray"
    """int32 [ids]"""
    trailing: "numpy.ndarray"
    """int32 [ids]"""
    keeps_first: bool
    """whether a single blank before a text stays"""


def blanks(tokenizer: Tokenizer) -> Blanks | None:
    """None if the tokenizer does not trim."""
    import numpy

    if tokenizer.trimming is None:
        return None
    tokens = tokenizer.tokens()
    leading, trailing = numpy.zeros((2, max(tokens) + 1), numpy.int32)
    for number, token in tokens.items():
        leading[number], trailing[number] = _count(token), _count(reversed(token))
    return Blanks(leading=leading, trailing=trailing, keeps_first=tokenizer.trimming.keeps_first)


def _count(characters: Iterable[str]) -> int:
    """Blanks before the first other character."""
    white = unicode.members("white")
    count = 0
    for each in characters:
        if each != BLANK and ord(each) not in white:
            break
        count += 1
    return count


def write(writer: Writer, known: Blanks, tokens: Flat) -> Flat:
    """The `tokens` of one text, trimmed."""
    leading, trailing = (
        writer.cast(writer.node("Gather", writer.constant(each), tokens.ids), ElementType.INT64)
        for each in (known.leading, known.trailing)
    )
    if known.keeps_first:
        places = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", tokens.ids)), 1)
        is_first = writer.node("Equal", writer.node("Min", places, tokens.starts), 0)
        is_alone = writer.node("Equal", leading, 1)  # several are not the one that Prefix puts there
        leading = writer.node("Where", writer.node("And", is_first, is_alone), 0, leading)
    starts = writer.node("Min", writer.node("Add", tokens.starts, leading), tokens.ends)
    is_long_enough = writer.node("GreaterOrEqual", tokens.ends, trailing)
    ends = writer.node("Max", writer.node("Sub", tokens.ends, trailing), starts)
    ends = writer.node("Where", is_long_enough, ends, tokens.ends)
    return replace(tokens, starts=starts, ends=ends)
