"""Patterns with the same matches, and fewer sets and alternatives."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, reduce

from packager.contract.tokenization.patterns import Alternation, Chain, LookAhead, Pattern, Repeat, Set, can_be_empty

NOTHING = Set(frozenset())


@lru_cache(maxsize=64)
def factored(pattern: Pattern) -> Pattern:
    """A pattern that matches as `pattern` does, with beginnings and ends that its alternatives share written once."""
    match pattern:
        case Set():
            return pattern
        case Chain(parts):
            return _chain(map(factored, parts))
        case Alternation(parts):
            return _choice(map(factored, parts))
        case Repeat(part) | LookAhead(part):
            return replace(pattern, part=factored(part))
    raise AssertionError(pattern)


def are_apart(one: Pattern, other: Pattern) -> bool:
    """Whether no position has a match of both patterns, as they begin with other characters."""
    if can_be_empty(one) or can_be_empty(other):
        return False
    return firsts(one).is_apart(firsts(other))


def firsts(pattern: Pattern) -> Set:
    """Characters that matches begin with; those of an empty match are not among them."""
    match pattern:
        case Set():
            return pattern
        case Alternation(parts):
            return reduce(Set.union, map(firsts, parts))
        case Repeat(part):
            return firsts(part)
        case LookAhead():
            return NOTHING
        case Chain(parts):
            found = NOTHING
            for part in parts:
                found = found.union(firsts(part))
                if not can_be_empty(part):
                    break
            return found
    raise AssertionError(pattern)


def _parts(pattern: Pattern) -> tuple[Pattern, ...]:
    return pattern.parts if isinstance(pattern, Chain) else (pattern,)


def _chain(parts: Iterable[Pattern]) -> Pattern:
    flat = [each for part in parts for each in _parts(part)]
    return flat[0] if len(flat) == 1 else Chain(tuple(flat))


def _choice(parts: Iterable[Pattern]) -> Pattern:
    flat = [each for part in parts for each in (part.parts if isinstance(part, Alternation) else (part,))]
    found: list[Pattern] = []
    for each in flat:
        _add(found, each)
    return found[0] if len(found) == 1 else Alternation(tuple(found))


def _add(found: list[Pattern], added: Pattern) -> None:
    """Adds an alternative to the others before it: to one that it can be joined with, if those between are apart."""
    for place in reversed(range(len(found))):
        joined = _joined(found[place], added)
        if joined:
            found[place] = joined
            return
        if not are_apart(found[place], added):
            break
    found.append(added)


def _joined(one: Pattern, other: Pattern) -> Pattern | None:
    """One pattern for two alternatives that follow each other, if they share their beginning or their end."""
    (head, *tail), (other_head, *other_tail) = _parts(one), _parts(other)
    if isinstance(head, Set) and isinstance(other_head, Set) and tail == other_tail:
        return _chain([head.union(other_head), *tail])
    if tail and other_tail and head == other_head and _is_certain(head, tail, other_tail):
        return _chain([head, _choice([_chain(tail), _chain(other_tail)])])
    return None


def _is_certain(head: Pattern, *tails: Sequence[Pattern]) -> bool:
    """Whether `head` matches in one way at most, if one of `tails` follows it."""
    match head:
        case Set():
            return True
        case Repeat(Set() as part, 0, 1):
            return all(are_apart(part, _chain(tail)) for tail in tails)
    return False
