"""Merges of a vocabulary as a hash table that a graph reads with two look-ups per pair of tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

NEVER = 2**31 - 1
"""rank of pairs that do not merge"""
LOAD = 0.9
"""of the slots, at most, have a pair"""
TRIES = 1000
"""shifts to try for a bucket, before there are twice as many slots"""
MOST_BITS = 62
"""of an entry"""
PLACE_BITS = range(20, 33)
"""below the rank of a merge, for positions: as many of these as there is room for"""


@dataclass(frozen=True, kw_only=True)
class Merge:
    rank: int
    product: int


@dataclass(frozen=True, kw_only=True)
class TokenPairs:
    """The pair of tokens a, b has the bucket `a xor b`, and the slot `(b + shift of bucket) mod slots`, if `bucket` is
    its bucket there. There are as many buckets as the power of two above all tokens, and no fewer slots.

    Shifts are chosen so that no two pairs have the same slot (hash and displace: Belazzougui and others, 2009,
    doi:10.1007/978-3-642-04128-0_61). The slot gives b back, and the bucket then a.

    An entry has the bucket above `bits`; below them `shift` has the shift, and an entry the exclusive or of the shift
    and the rank. The exclusive or of both numbers is the rank, if the buckets are the same, else above all ranks.
    """

    tokens: int
    shift: "numpy.ndarray"
    """int64 [buckets]: the bucket and its shift; those without a pair have another bucket, which does not exist"""
    entries: "numpy.ndarray"
    """int64 [slots]: bucket and rank; those without a pair have a bucket that does not exist"""
    products: "numpy.ndarray | None"
    """int32 [slots]; None if the ranks are the products"""
    bits: int
    """of a rank, with those below it"""
    place_bits: int
    """0 below the rank"""

    @property
    def limit(self) -> int:
        """Above all ranks, by more than one."""
        return 1 << self.bits

    @property
    def places(self) -> int:
        """Numbers below this one can be added to ranks, and leave them in order."""
        return 1 << self.place_bits

    @property
    def early(self) -> int:
        """The bit of a rank that marks early ones."""
        return self.places


@dataclass(frozen=True, kw_only=True)
class FoundPairs:
    """Merges of pairs, as a table has them. Names of values, int64 [n]."""

    ranks: str
    """in the order of the merges' ranks; the table's `limit` or more for pairs that do not merge"""
    slots: str


def pairs(merges: Mapping[tuple[int, int], Merge], tokens: int, early: frozenset[int] = frozenset()) -> TokenPairs:
    """The table of `merges`, by pairs of tokens from 0 to `tokens` - 1; those of the ranks in `early` are marked.

    Raises ConfigError for millions of tokens.
    """
    import numpy

    slots = 1 << max(int(len(merges) / LOAD), tokens).bit_length()
    buckets = 1 << (tokens - 1).bit_length()
    first, second = (numpy.array([pair[side] for pair in merges], numpy.int64) for side in (0, 1))
    bucket = first ^ second
    while (shift := _shifts(bucket, second, buckets, slots)) is None:
        slots *= 2
    slot = (second + shift[bucket]) % slots
    follows = not early and _products_follow(merges)
    ranks = _ranks(merges, early, follows=follows)
    rank_bits = (int(ranks.max(initial=0)) + 2).bit_length()
    place_bits = min(MOST_BITS - buckets.bit_length() - rank_bits, PLACE_BITS[-1])
    if place_bits not in PLACE_BITS:
        raise ConfigError(f"{len(merges)} merges of {tokens} tokens are too many", hint="use a smaller vocabulary")
    bits = rank_bits + place_bits
    entries = numpy.full(slots, buckets << bits, numpy.int64)
    entries[slot] = (bucket << bits) + ((ranks << place_bits) ^ shift[bucket])
    products = None
    if not follows:
        products = numpy.zeros(slots, numpy.int32)
        products[slot] = [each.product for each in merges.values()]
    # those without a pair are alike, which compresses well
    known = numpy.full(buckets, (buckets + 1) << bits, numpy.int64)
    known[bucket] = shift[bucket] + (bucket << bits)
    return TokenPairs(tokens=tokens, shift=known, entries=entries, products=products, bits=bits, place_bits=place_bits)


def _products_follow(merges: Mapping[tuple[int, int], Merge]) -> bool:
    """Whether each merge of a higher rank makes a token of a higher number, as in the files of most tokenizers."""
    made = sorted((each.rank, each.product) for each in merges.values())
    return all(rank < later and product < following for (rank, product), (later, following) in pairwise(made))


def _ranks(merges: Mapping[tuple[int, int], Merge], early: frozenset[int], *, follows: bool) -> "numpy.ndarray":
    """int64 [merges]: numbers in the order of ranks: products if `follows`, else with a bit for those in `early`."""
    import numpy

    if follows:
        return numpy.array([each.product for each in merges.values()], numpy.int64)
    places = {rank: place for place, rank in enumerate(sorted({each.rank for each in merges.values()}))}
    return numpy.array([2 * places[each.rank] + (each.rank in early) for each in merges.values()], numpy.int64)


def look_up(writer: Writer, table: TokenPairs, left: str, right: str) -> FoundPairs:
    """The merge of each pair of tokens, int64 [n], from int64 [n]."""
    shift, entries = writer.constant(table.shift), writer.constant(table.entries)
    known = writer.node("Gather", shift, writer.node("BitwiseXor", left, right))
    slot = writer.node("BitwiseAnd", writer.node("Add", right, known), len(table.entries) - 1)
    return FoundPairs(ranks=writer.node("BitwiseXor", writer.node("Gather", entries, slot), known), slots=slot)


def product_of(writer: Writer, table: TokenPairs, found: FoundPairs) -> str:
    """int64 [n]: the token that each merge makes; any number for pairs that do not merge."""
    if table.products is None:
        return writer.node("Div", found.ranks, table.places)
    return writer.cast(writer.node("Gather", writer.constant(table.products), found.slots), ElementType.INT64)


def _shifts(bucket: "numpy.ndarray", second: "numpy.ndarray", buckets: int, slots: int) -> "numpy.ndarray | None":
    """int64 [buckets]: shifts that give each pair a slot of its own; large buckets choose first. Of the pairs `bucket`
    has the buckets, `second` the second tokens, int64 [pairs].

    None if a bucket found no place: the slots that the others left may not lie as its pairs do.
    """
    import numpy

    random = numpy.random.default_rng(0)
    shift = numpy.zeros(buckets, numpy.int64)
    is_free = numpy.ones(slots, bool)
    order = numpy.argsort(bucket, kind="stable")
    names, begins, sizes = numpy.unique(bucket[order], return_index=True, return_counts=True)
    for size in sorted(set(sizes.tolist()), reverse=True):
        waiting = names[sizes == size]
        rows = second[order][begins[sizes == size][:, None] + numpy.arange(size)]
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
