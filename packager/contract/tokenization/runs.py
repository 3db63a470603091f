"""Runs of one character, cut into the tokens that byte-pair encoding makes of them from the left.

Vocabularies with runs of blanks as tokens often merge the longest first: a blank, then each one after it, until the
longest token is complete, and so on. No two of these merges can be made at once, so a long run would take a round for
every character. A cut after each complete token changes nothing, and the parts merge side by side.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from packager.contract.tokenization.definition import BytePairs
from packager.core.signature import ElementType
from packager.graph.writer import Writer

MOST_MERGES = 200
"""until a token is complete"""


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a run of a character becomes tokens."""

    size: int
    """characters of the token that is complete first, however long the run is"""
    margin: int
    """characters at the end of a run that other tokens may take"""


def runs(model: BytePairs) -> Mapping[str, Run]:
    """The characters whose runs become complete tokens one after the other, from the left.

    Where two characters merge before all longer tokens, a run needs few rounds, as all its pairs merge at once.
    """
    tokens = {number: token for token, number in model.vocabulary.items()}
    ranks: dict[str, dict[tuple[int, int], int]] = {}
    for (one, other), merge in model.merges.items():
        text = tokens[merge.product]
        if text == text[0] * len(text):
            ranks.setdefault(text[0], {})[len(tokens[one]), len(tokens[other])] = merge.rank
    found = {}
    for character, known in ranks.items():
        is_slow = (1, 1) in known and min(known.values()) < known[1, 1]
        if is_slow and (size := _complete(known)):
            mixed = (token for token in model.vocabulary if token.startswith(character) and set(token) != {character})
            margin = max((len(token) - len(token.lstrip(character)) for token in mixed), default=0)
            found[character] = Run(size=size, margin=margin)
    return found


def _complete(ranks: Mapping[tuple[int, int], int]) -> int | None:
    """The size of the first token of an endless run that merges with nothing behind it; None if all characters merge
    before there is one. `ranks` are those of tokens by their sizes."""
    made: list[int] = []
    for _ in range(MOST_MERGES):
        # behind what has merged there are single characters without end
        pairs = [pair for pair in pairwise([*made, 1, 1]) if pair in ranks]
        if not pairs:
            return None
        merged = min(pairs, key=ranks.__getitem__)
        place = [*pairwise([*made, 1, 1])].index(merged)
        made = [*made, 1, 1]
        made[place : place + 2] = [sum(merged)]
        while made[-1:] == [1]:
            made.pop()
        if len(made) == 1 and not any(first == made[0] for first, _ in ranks):
            return made[0]
    return None


def cuts(writer: Writer, sizes: str, margins: str, repeats: str, begins: str) -> str:
    """bool [n]: where complete tokens of runs end, before each position.

    `sizes` and `margins`, int64 [n], are those of each position's character; `repeats` says whether the one before it
    is the same, and `begins` whether a piece begins there, bool [n]. Only runs that begin with a piece are cut.
    """
    is_first = writer.node("Not", repeats)
    number = writer.node("Sub", writer.node("CumSum", writer.cast(is_first, ElementType.INT64), 0), 1)
    size = writer.node("Squeeze", writer.node("Shape", repeats))
    places = writer.node("Range", 0, size, 1)
    firsts = writer.positions(is_first)
    first = writer.node("Gather", firsts, number)
    ends = writer.node("Pad", firsts, [-1, 1], size)
    left = writer.node("Sub", writer.node("Gather", ends, number), places)
    depth = writer.node("Sub", places, first)
    is_complete = writer.node("Equal", writer.node("Mod", depth, sizes), 0)
    is_inside = writer.node("And", writer.node("Greater", depth, 0), writer.node("Greater", left, margins))
    return writer.node("And", writer.node("And", is_complete, is_inside), writer.node("Gather", begins, first))
