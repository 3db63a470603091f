"""Characters that can stand side by side in a match of a pattern: positions that follow each other (Glushkov, 1961)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import product

from packager.contract.tokenization.patterns import Alternation, Chain, LookAhead, Pattern, Repeat, Set, can_be_empty

Pairs = frozenset[tuple[Set, Set]]


def neighbours(pattern: Pattern) -> Pairs:
    """Pairs of sets: all characters that follow each other in a match are a member of a pair's first set, and one of
    its second."""
    return _edges(pattern).pairs


@dataclass(frozen=True, kw_only=True)
class _Edges:
    """The sets that matches of a pattern begin and end with, and those that follow each other in them."""

    firsts: frozenset[Set] = frozenset()
    lasts: frozenset[Set] = frozenset()
    pairs: Pairs = frozenset()


def _edges(pattern: Pattern) -> _Edges:
    match pattern:
        case Set():
            alone = frozenset({pattern})
            return _Edges(firsts=alone, lasts=alone)
        case Chain(parts):
            return _in_a_row(parts)
        case Alternation(parts):
            return reduce(_either, map(_edges, parts))
        case Repeat(part, _, most):
            once = _edges(part)
            again = Pairs() if most == 1 else Pairs(product(once.lasts, once.firsts))
            return _Edges(firsts=once.firsts, lasts=once.lasts, pairs=once.pairs | again)
        case LookAhead():  # a match does not include it
            return _Edges()
    raise AssertionError(pattern)


def _either(one: _Edges, other: _Edges) -> _Edges:
    return _Edges(firsts=one.firsts | other.firsts, lasts=one.lasts | other.lasts, pairs=one.pairs | other.pairs)


def _in_a_row(parts: Iterable[Pattern]) -> _Edges:
    made, is_empty = _Edges(), True
    for part in parts:
        found, can_be_none = _edges(part), can_be_empty(part)
        made = _Edges(
            firsts=made.firsts | found.firsts if is_empty else made.firsts,
            lasts=made.lasts | found.lasts if can_be_none else found.lasts,
            pairs=made.pairs | found.pairs | Pairs(product(made.lasts, found.firsts)),
        )
        is_empty = is_empty and can_be_none
    return made
