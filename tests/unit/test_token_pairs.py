"""The table of byte pairs: every pair has its merge, and no other pair has one."""

import random

import numpy

from packager.contract.tokenization.pairs import NEVER, Merge, TokenPairs, pairs
from tests.nights import examples


def ranks(table: TokenPairs) -> numpy.ndarray[tuple[int, int], numpy.dtype[numpy.int64]]:
    """The rank of every pair of tokens, looked up as the graph does."""
    first, second = divmod(numpy.arange(table.tokens**2), table.tokens)
    known = table.shift[first ^ second]
    slot = (second + known) & (len(table.entries) - 1)
    rank = table.entries[slot] ^ known
    below = table.place_bits + (table.products is not None)
    rank = numpy.where(rank < table.limit, rank >> below, NEVER)
    return rank.reshape(table.tokens, -1)


def test_pairs_have_their_merges_and_others_have_none() -> None:
    for tokens in [*range(2, 40), 257, 1025]:
        chosen = random.Random(tokens)
        count = tokens if tokens < 100 else tokens - 256
        numbers = chosen.sample(range(tokens**2), count)
        merges = {
            divmod(number, tokens): Merge(rank=rank, product=rank % tokens) for rank, number in enumerate(numbers)
        }
        wanted = numpy.full((tokens, tokens), NEVER)
        for pair, merge in merges.items():
            wanted[pair] = merge.rank
        assert (ranks(pairs(merges, tokens)) == wanted).all()


def test_no_merges_are_a_table_too() -> None:
    assert (ranks(pairs({}, 256)) == NEVER).all()


def test_few_tokens_with_nearly_all_pairs_find_their_slots() -> None:
    """The slots that are left when the last buckets choose may lie as no two of its pairs do."""
    for seed in range(examples(300)):
        chosen = random.Random(seed)
        tokens = chosen.randint(2, 6)
        count = chosen.randint(tokens, tokens**2)
        numbers = chosen.sample(range(tokens**2), count)
        merges = {divmod(number, tokens): Merge(rank=rank, product=0) for rank, number in enumerate(numbers)}
        wanted = numpy.full((tokens, tokens), NEVER)
        for pair, merge in merges.items():
            wanted[pair] = merge.rank
        assert (ranks(pairs(merges, tokens)) == wanted).all()
