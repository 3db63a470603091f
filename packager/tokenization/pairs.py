"""Merges of a vocabulary as a hash table that a graph reads with two look-ups per pair of tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

NEVER = 2**31 - 1
"""rank of pairs that do not merge"""
BUCKET = 3
"""pairs for each bucket"""
LOAD = 0.9
"""of the slots, at most, have a pair"""
TRIES = 1000
"""shifts to try for a bucket, before there are twice as many slots"""


@dataclass(frozen=True, kw_only=True)
class Merge:
    rank: int
    product: int
    """token that the pair becomes"""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The pair of tokens a, b has the number `a * tokens + b`, the bucket `number mod buckets`, and the slot
    `(number + shift[bucket]) mod slots`, if `bucket` is its bucket there.

    Shifts are chosen so that no two pairs have the same slot (hash and displace: Belazzougui and others, 2009,
    doi:10.1007/978-3-642-04128-0_61). Bucket and slot together give the number back, as `buckets` is odd, `slots` is a
    power of two, and their product is larger than all numbers (Chinese remainder theorem).
    """

    tokens: int
    shift: "numpy.ndarray"
    """int32 [buckets]"""
    bucket: "numpy.ndarray"
    """int32 [slots]; -1 for none"""
    rank: "numpy.ndarray"
    """int32 [slots]: pairs of lower ranks merge first; NEVER for none"""
    product: "numpy.ndarray"
    """int32 [slots]"""


def pairs(merges: Mapping[tuple[int, int], Merge], tokens: int) -> Pairs:
    """The table of `merges`, by pairs of tokens from 0 to `tokens` - 1."""
    import numpy

    slots = 1 << max(int(len(merges) / LOAD), tokens).bit_length()
    buckets = max(len(merges) // BUCKET, tokens**2 // slots + 1) | 1
    numbers = numpy.array([first * tokens + second for first, second in merges], numpy.int64)
    while (shift := _shifts(numbers, buckets, slots)) is None:
        slots *= 2
    slot = (numbers + shift[numbers % buckets]) % slots
    bucket = numpy.full(slots, -1, numpy.int32)
    bucket[slot] = numbers % buckets
    rank, product = numpy.full(slots, NEVER, numpy.int32), numpy.zeros(slots, numpy.int32)
    rank[slot] = [each.rank for each in merges.values()]
    product[slot] = [each.product for each in merges.values()]
    return Pairs(tokens=tokens, shift=shift.astype(numpy.int32), bucket=bucket, rank=rank, product=product)


def look_up(writer: Writer, table: Pairs, left: str, right: str) -> tuple[str, str]:
    """Whether each pair of tokens is in `table`, and its slot there, bool and int64 [n], from int64 [n]."""
    shift, bucket = writer.constant(table.shift), writer.constant(table.bucket)
    number = writer.node("Add", writer.node("Mul", left, table.tokens), right)
    where = writer.cast(writer.node("Mod", number, len(table.shift)), ElementType.INT32)
    slot = writer.node("Add", number, writer.cast(writer.node("Gather", shift, where), ElementType.INT64))
    slot = writer.node("BitwiseAnd", slot, len(table.rank) - 1)
    return writer.node("Equal", writer.node("Gather", bucket, slot), where), slot


def _shifts(numbers: "numpy.ndarray", buckets: int, slots: int) -> "numpy.ndarray | None":
    """int64 [buckets]: shifts that give each of `numbers` a slot of its own; large buckets choose first.

    None if a bucket found no place: the slots that the others left may not lie as its pairs do.
    """
    import numpy

    random = numpy.random.default_rng(0)
    shift = numpy.zeros(buckets, numpy.int64)
    is_free = numpy.ones(slots, bool)
    numbers = numbers[numpy.argsort(numbers % buckets, kind="stable")]
    names, begins, sizes = numpy.unique(numbers % buckets, return_index=True, return_counts=True)
    for size in sorted(set(sizes.tolist()), reverse=True):
        waiting = names[sizes == size]
        rows = numbers[begins[sizes == size][:, None] + numpy.arange(size)]
        for _ in range(TRIES):
            tried = random.integers(slots, size=len(waiting))
            taken = (rows + tried[:, None]) % slots
            fits = _first_of_each(taken) & is_free[taken].all(axis=1)
            shift[waiting[fits]] = tried[fits]
            is_free[taken[fits]] = False
            waiting, rows = waiting[~fits], rows[~fits]
            if not len(waiting):
                break
        else:
            return None
    return shift


def _first_of_each(slots: "numpy.ndarray") -> "numpy.ndarray":
    """bool [rows]: rows of `slots`, [rows, slots], with no slot that an earlier row has as well, or the row twice."""
    import numpy

    _, first, number = numpy.unique(slots, return_index=True, return_inverse=True)
    is_first: numpy.ndarray = first[number.reshape(-1)] == numpy.arange(slots.size)
    return numpy.asarray(is_first.reshape(slots.shape).all(axis=1))
