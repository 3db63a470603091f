"""Merges of a vocabulary as a hash table that a graph reads with two look-ups per pair of tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError
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
MOST_BITS = 62
"""of an entry"""


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

    An entry has the bucket above `bits`, and below them the merge: the rank's place among all ranks, whether it is an
    early one, and the product.
    """

    tokens: int
    shift: "numpy.ndarray"
    """int64 [buckets]"""
    entries: "numpy.ndarray"
    """int64 [slots]; those without a pair have a bucket that does not exist"""
    bits: int
    """of a merge"""
    product_bits: int
    has_ties: bool
    """whether pairs of one rank have several products"""

    @property
    def limit(self) -> int:
        """Above all merges, by more than one."""
        return 1 << self.bits

    @property
    def early(self) -> int:
        """The bit of a merge that marks early ranks."""
        return 1 << self.product_bits


def pairs(merges: Mapping[tuple[int, int], Merge], tokens: int, early: frozenset[int] = frozenset()) -> Pairs:
    """The table of `merges`, by pairs of tokens from 0 to `tokens` - 1; those of the ranks in `early` are marked.

    Raises ConfigError for millions of tokens.
    """
    import numpy

    slots = 1 << max(int(len(merges) / LOAD), tokens).bit_length()
    buckets = max(len(merges) // BUCKET, tokens**2 // slots + 1) | 1
    numbers = numpy.array([first * tokens + second for first, second in merges], numpy.int64)
    while (shift := _shifts(numbers, buckets, slots)) is None:
        slots *= 2
    slot = (numbers + shift[numbers % buckets]) % slots
    ranks = {rank: place for place, rank in enumerate(sorted({each.rank for each in merges.values()}))}
    product_bits = max((each.product for each in merges.values()), default=0).bit_length()
    bits = product_bits + 1 + (len(ranks) + 1).bit_length()
    if bits + buckets.bit_length() > MOST_BITS:
        raise ConfigError(f"{len(merges)} merges of {tokens} tokens are too many", hint="use a smaller vocabulary")
    made = [((2 * ranks[each.rank] + (each.rank in early)) << product_bits) | each.product for each in merges.values()]
    entries = numpy.full(slots, buckets << bits, numpy.int64)
    entries[slot] = (numbers % buckets << bits) + numpy.array(made, numpy.int64)
    has_ties = len({(each.rank, each.product) for each in merges.values()}) > len(ranks)
    return Pairs(tokens=tokens, shift=shift, entries=entries, bits=bits, product_bits=product_bits, has_ties=has_ties)


def look_up(writer: Writer, table: Pairs, left: str, right: str) -> str:
    """The merge of each pair of tokens, int64 [n], from int64 [n]; `table.limit` or more for those that have none.

    Merges are in the order of their ranks.
    """
    shift, entries = writer.constant(table.shift), writer.constant(table.entries)
    number = writer.node("Add", writer.node("Mul", left, table.tokens), right)
    bucket = writer.node("Mod", number, len(table.shift))
    slot = writer.node("Add", number, writer.node("Gather", shift, bucket))
    entry = writer.node("Gather", entries, writer.node("BitwiseAnd", slot, len(table.entries) - 1))
    return writer.node("BitwiseXor", entry, writer.node("Mul", bucket, table.limit))


def rank_of(writer: Writer, table: Pairs, merge: str) -> str:
    """Numbers of `merge`, int64 [n], in the order of their ranks, equal for equal ranks; still `table.limit` or more
    for pairs that do not merge."""
    return writer.node("BitwiseAnd", merge, -table.early) if table.has_ties else merge


def product_of(writer: Writer, table: Pairs, merge: str) -> str:
    """The token that each of `merge`, int64 [n], makes."""
    return writer.node("BitwiseAnd", merge, table.early - 1)


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
