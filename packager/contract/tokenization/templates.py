"""Puts the tokens of texts into a template, truncated and padded."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

from packager.contract.tokenization import trimming
from packager.contract.tokenization.definition import Padding, Slot, Special, Template, Truncation
from packager.contract.tokenization.stages import Flat
from packager.contract.tokenization.trimming import Blanks
from packager.core.errors import ConfigError
from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Names of values, int64 [tokens]."""

    ids: str
    roles: str
    """number of the text's role in a pair: 0 or 1"""
    starts: str
    """first code point that a token comes from, in its own text; 0 for tokens of the template"""
    ends: str
    """code point after the last one"""
    of_text: str
    """1 for tokens of a text, 0 for those of the template"""


def write(
    writer: Writer, flat: Flat, template: Template, truncation: Truncation | None, blanks: Blanks | None = None
) -> Rows:
    """The tokens of `flat` in `template`. Raises ConfigError for a template that does not fit into the truncation."""
    count = 1 + max((each.text for each in template if isinstance(each, Slot)), default=0)
    texts = [_of_text(writer, flat, number, count) for number in range(count)]
    return filled(writer, texts, template, truncation, blanks)


def filled(
    writer: Writer,
    texts: Sequence[Flat],
    template: Template,
    truncation: Truncation | None,
    blanks: Blanks | None = None,
) -> Rows:
    """The tokens of each of `texts` in its slot of `template`. Raises ConfigError as `write` does."""
    if truncation:
        specials = sum(isinstance(each, Special) for each in template)
        if truncation.longest < specials:
            raise ConfigError(
                f"{truncation.longest} tokens have no room for the {specials} special ones",
                hint="use a larger max-length",
            )
        sizes = _sizes(writer, [_size(writer, each) for each in texts], truncation, truncation.longest - specials)
        texts = [_cut(writer, each, size, truncation) for each, size in zip(texts, sizes, strict=True)]
    if blanks:
        texts = [trimming.write(writer, blanks, each) for each in texts]
    slots = list(texts)
    for slot, special in pairwise(template):
        if isinstance(slot, Slot) and isinstance(special, Special) and special.is_once:
            slots[slot.text] = _without(writer, slots[slot.text], special.id)
    rows = [_row(writer, each, slots) for each in template]
    return Rows(
        **{key.name: writer.node("Concat", *(getattr(row, key.name) for row in rows), axis=0) for key in fields(Rows)}
    )


def _without(writer: Writer, flat: Flat, last: int) -> Flat:
    """`flat` without a token `last` at its end."""
    ends = writer.node("Equal", writer.node("Slice", flat.ids, [-1], [2**62], [0]), last)
    count = writer.node("ReduceSum", writer.cast(ends, ElementType.INT64), [0], keepdims=1)
    size = writer.node("Sub", _size(writer, flat), count)
    ids, starts, ends = (writer.node("Slice", value, [0], size, [0]) for value in (flat.ids, flat.starts, flat.ends))
    return Flat(ids=ids, texts="", starts=starts, ends=ends)


def _row(writer: Writer, piece: Special | Slot, texts: list[Flat]) -> Rows:
    if isinstance(piece, Special):
        zero = writer.integers(0)
        return Rows(
            ids=writer.integers(piece.id), roles=writer.integers(piece.role), starts=zero, ends=zero, of_text=zero
        )
    text = texts[piece.text]
    zero = writer.node("Mul", text.ids, 0)
    roles = writer.node("Add", zero, piece.role) if piece.role else zero
    of_text = mask_of(writer, text.ids)
    return Rows(ids=text.ids, roles=roles, starts=text.starts, ends=text.ends, of_text=of_text)


def padded(writer: Writer, value: str, length: int, padding: Padding, number: int) -> str:
    """`value` with `number` up to `length`; it must not be longer."""
    missing = writer.node("Sub", [length], writer.node("Shape", value))
    pads = (missing, [0]) if padding.at_left else ([0], missing)
    return writer.node("Pad", value, writer.node("Concat", *pads, axis=0), writer.integer(number))


def _of_text(writer: Writer, flat: Flat, number: int, count: int) -> Flat:
    if count == 1:
        return flat
    places = writer.positions(writer.node("Equal", flat.texts, number))
    ids, starts, ends = (writer.node("Gather", value, places) for value in (flat.ids, flat.starts, flat.ends))
    return Flat(ids=ids, texts="", starts=starts, ends=ends)


def _size(writer: Writer, flat: Flat) -> str:
    return writer.node("Shape", flat.ids)


def _sizes(writer: Writer, sizes: list[str], truncation: Truncation, room: int) -> list[str]:
    """How many tokens each text keeps, int64 [1], as tokenizers' `truncate_encodings` has it."""
    if len(sizes) == 1:
        return [writer.node("Min", sizes[0], [room])]
    if truncation.strategy != "LongestFirst":
        shortened = 0 if truncation.strategy == "OnlyFirst" else 1
        left = writer.node("Max", writer.node("Sub", [room], sizes[1 - shortened]), [0])
        cut = writer.node("Min", sizes[shortened], left)
        return [cut, sizes[1]] if shortened == 0 else [sizes[0], cut]
    shorter, longer = writer.node("Min", *sizes), writer.node("Max", *sizes)
    longer = writer.node("Min", longer, writer.node("Max", shorter, writer.node("Sub", [room], shorter)))
    is_over = writer.node("Greater", writer.node("Add", shorter, longer), [room])
    shorter = writer.node("Where", is_over, [room // 2], shorter)
    longer = writer.node("Where", is_over, [room // 2 + room % 2], longer)
    is_swapped = writer.node("Greater", *sizes)
    return [writer.node("Where", is_swapped, longer, shorter), writer.node("Where", is_swapped, shorter, longer)]


def _cut(writer: Writer, flat: Flat, size: str, truncation: Truncation) -> Flat:
    if truncation.from_left:
        first, last = writer.node("Sub", _size(writer, flat), size), writer.integers(2**62)
    else:
        first, last = writer.integers(0), size
    ids, starts, ends = (writer.node("Slice", value, first, last, [0]) for value in (flat.ids, flat.starts, flat.ends))
    return Flat(ids=ids, texts="", starts=starts, ends=ends)


def mask_of(writer: Writer, value: str) -> str:
    """1 for each element of `value`."""
    return writer.node("Add", writer.node("Mul", value, 0), 1)


def offsets(writer: Writer, rows: Rows) -> str:
    """int64 [tokens, 2]"""
    both = [writer.node("Unsqueeze", each, [1]) for each in (rows.starts, rows.ends)]
    return writer.node("Concat", *both, axis=1)
