"""Tables over all code points, in pages of 256: most pages are alike, and are stored once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

END = 0x110000
"""stands before, between and after texts; a token found in a text is END + 1 + its id"""
PAGE = 256


def filled(
    rows: Mapping[int, Sequence[int]], usual: int, end: int, through: "numpy.ndarray | None" = None
) -> "numpy.ndarray":
    """int32 [END + 1, width]: `rows` of code points, filled up with 0; `usual` for code points without a row, `end` for
    END.

    With `through`, int32 [END + 1], rows have code points, and the table has the numbers of these there; a code point
    without a row has its own.
    """
    import numpy

    points = numpy.fromiter(rows, numpy.int64, len(rows))
    lengths = numpy.fromiter(map(len, rows.values()), numpy.int64, len(rows))
    values = numpy.fromiter(chain.from_iterable(rows.values()), numpy.int32, lengths.sum())
    if through is not None:
        values = through[values]
    full = numpy.zeros((END + 1, max(1, lengths.max(initial=0))), numpy.int32)
    full[:, 0] = usual if through is None else through
    full[END, 0] = end
    full[points] = 0
    first = lengths.cumsum() - lengths
    columns = numpy.arange(len(values)) - first.repeat(lengths)
    full[points.repeat(lengths), columns] = values
    return full


def look_up(writer: Writer, points: str, table: "numpy.ndarray") -> str:
    """[points, ...]: the rows of `table`, [END + 1, ...], at `points`, int64 [points]; END's for all above."""
    import numpy

    shape = table.shape[1:]
    full = numpy.zeros((END + PAGE, *shape), table.dtype)
    full[: len(table)] = table
    every = full.reshape(END // PAGE + 1, -1)
    # most pages are those before them, and need not be looked for
    begins = numpy.append(True, (every[1:] != every[:-1]).any(axis=1))
    numbers: dict[bytes, int] = {}
    found = numpy.array([numbers.setdefault(page.tobytes(), len(numbers)) for page in every[begins]])
    pages = numpy.frombuffer(b"".join(numbers), table.dtype)
    # how far the page of a code point is from its place among all code points
    shifts = (found[begins.cumsum() - 1] - numpy.arange(len(every))) * PAGE
    known = writer.node("Min", points, END)
    shift = writer.node("Gather", writer.constant(shifts), writer.node("Div", known, PAGE))
    return writer.node("Gather", writer.constant(pages.reshape(-1, *shape)), writer.node("Add", known, shift))


def number_of(writer: Writer, points: str, numbers: Mapping[int, int]) -> str:
    """int32 [points]: the number of each of `points`, int64 [points]; 0 for those that have none."""
    table = filled({point: [number] for point, number in numbers.items()}, 0, 0)
    return look_up(writer, points, table.reshape(-1))


def may_have(writer: Writer, points: str, texts: Iterable[str]) -> str:
    """bool [points]: whether each of `points` is one that a text has if it has one of `texts`. A text without such
    points has none of them.

    Of each of `texts` a rare character is looked for, if it has one.
    """
    return is_member(writer, points, {ord(max(each, key=_rarity)) for each in texts})


@lru_cache(maxsize=2**16)
def _rarity(character: str) -> tuple[bool, str]:
    return not (character.isascii() and (character.isalnum() or character.isspace())), character


def flags(members: Collection[int]) -> "numpy.ndarray":
    """bool [END + 1]: whether each code point is one of `members`."""
    import numpy

    if isinstance(members, frozenset):
        return numpy.unpackbits(_packed(members), count=END + 1).view(bool)
    table = numpy.zeros(END + 1, bool)
    table[list(members)] = True
    return table


@lru_cache(maxsize=64)
def _packed(members: frozenset[int]) -> "numpy.ndarray":
    """One bit for each code point: those of categories are asked for again and again."""
    import numpy

    return numpy.packbits(flags(set(members)))


def is_member(writer: Writer, points: str, members: Collection[int]) -> str:
    """bool [points]: whether each of `points`, int64 [points], is one of `members`."""
    return look_up(writer, points, flags(members))
