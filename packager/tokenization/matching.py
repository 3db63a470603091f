"""Matches of patterns at all positions of a text at once, without a step per character.

A pattern is a function from continuations to ends: given where the rest of the expression ends when it begins at each
position (-1 where it does not match), it says where the whole ends when it begins at each. This is what an engine with
backtracking finds, as the first way to match is chosen at each position on its own (Thompson matching in continuation
passing style: Danvy and Nielsen, 2001, section 4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization import chains
from packager.tokenization.pages import END, look_up
from packager.tokenization.patterns import Ahead, Chain, Choice, Pattern, Repeat, Set


def ends(writer: Writer, pattern: Pattern, points: str) -> str:
    """int64 [n]: where the match of `pattern` ends that begins at each of `points`, int64 [n]; -1 for none.

    END and numbers above belong to no set: no match goes over them. The last of `points` is one of them.
    """
    matcher = _Matcher.of(writer, pattern, points)
    return matcher.ends(pattern, matcher.places)


@dataclass(frozen=True, kw_only=True)
class Cover:
    """Matches that follow each other from the left. Names of values, bool [n]."""

    begins: str
    """whether a match begins there"""
    is_match: str
    """whether it is in a match"""
    is_gap: str
    """whether it is text between matches"""


def cover(writer: Writer, pattern: Pattern, points: str) -> Cover:
    """The matches that a search from the left finds, each after the end of the one before."""
    return covered(writer, ends(writer, pattern, points), points)


def covered(writer: Writer, ends: str, points: str) -> Cover:
    """The matches that a search finds, from where the match at each of `points` ends, int64 [n]; -1 for none."""
    size = writer.node("Squeeze", writer.node("Shape", points))
    places = writer.node("Range", 0, size, 1)
    matches = writer.node("GreaterOrEqual", ends, 0)
    after = writer.node("Min", writer.node("Add", places, 1), writer.node("Sub", size, 1))
    first = writer.cast(writer.node("Equal", places, 0), ElementType.INT32)
    reached = chains.reached_anywhere(writer, writer.node("Where", matches, ends, after), first)
    is_reached = writer.cast(reached, ElementType.BOOL)
    is_text = writer.node("Less", points, END)
    is_gap = writer.node("And", writer.node("And", is_reached, writer.node("Not", matches)), is_text)
    return Cover(
        begins=writer.node("And", is_reached, matches),
        is_match=writer.node("And", is_text, writer.node("Not", is_gap)),
        is_gap=is_gap,
    )


@dataclass(frozen=True, kw_only=True)
class _Matcher:
    writer: Writer
    places: str
    """int64 [n]: 0, 1, and so on; as continuations: the match ends here"""
    members: dict[Set, str]
    """bool [n] for each set of the pattern"""
    runs: dict[Set, str]
    """int64 [n] for each set that repeats: the first position that is not in it, from each on"""

    @classmethod
    def of(cls, writer: Writer, pattern: Pattern, points: str) -> "_Matcher":
        size = writer.node("Squeeze", writer.node("Shape", points))
        known = list(dict.fromkeys(sets(pattern)))
        members = dict(zip(known, _members(writer, known, points), strict=True))
        return cls(writer=writer, places=writer.node("Range", 0, size, 1), members=members, runs={})

    def ends(self, pattern: Pattern, rest: str) -> str:
        """int64 [n]: where `pattern` and then the `rest` end."""
        match pattern:
            case Set():
                return self._where(pattern, self._after(rest))
            case Chain(parts):
                for part in reversed(parts):
                    rest = self.ends(part, rest)
                return rest
            case Choice(parts):
                *first, found = [self.ends(part, rest) for part in parts]
                for each in reversed(first):
                    found = self._or(each, found)
                return found
            case Ahead(part, is_negated):
                there = self.writer.node("GreaterOrEqual", self.ends(part, self.places), 0)
                return self.writer.node("Where", there, *((-1, rest) if is_negated else (rest, -1)))
            case Repeat(Set() as part, least, None):
                for_all = self._run(part, least, rest, is_possessive=pattern.is_possessive)
                for _ in range(least - 1):
                    for_all = self._where(part, self._after(for_all))
                return for_all
            case Repeat(part, least, int(most)):
                return self._limited(pattern, part, least, most, rest)
        raise AssertionError(pattern)

    def _limited(self, pattern: Repeat, part: Pattern, least: int, most: int, rest: str) -> str:
        if pattern.is_possessive:
            alone = self.ends(Repeat(part, least, most), self.places)
            is_there = self.writer.node("GreaterOrEqual", alone, 0)
            return self.writer.node("Where", is_there, self._at(rest, self.writer.node("Max", alone, 0)), -1)
        found = rest
        for _ in range(most - least):
            found = self._or(self.ends(part, found), rest)
        for _ in range(least):
            found = self.ends(part, found)
        return found

    def _run(self, part: Set, least: int, rest: str, *, is_possessive: bool) -> str:
        """The end of a set's longest run, at least one long if `least` is, that lets `rest` match."""
        writer = self.writer
        run = self._run_end(part)
        if rest != self.places and not is_possessive:
            fits = writer.node("GreaterOrEqual", rest, 0)
            rank = writer.node("CumSum", writer.cast(fits, ElementType.INT64), 0)
            last = writer.node("Sub", self._at(rank, run), 1)
            some = writer.node("Concat", writer.positions(fits), [0], axis=0)  # never empty
            run = writer.node("Where", writer.node("Less", last, 0), -1, writer.node("Gather", some, last))
        least_end = writer.node("Add", self.places, 1) if least else self.places
        is_enough = writer.node("GreaterOrEqual", run, least_end)
        found = run if rest == self.places else self._at(rest, run)
        return writer.node("Where", is_enough, found, -1)

    def _run_end(self, part: Set) -> str:
        if part not in self.runs:
            writer = self.writer
            is_out = writer.node("Not", self.members[part])
            rank = writer.node("CumSum", writer.cast(is_out, ElementType.INT64), 0, exclusive=1)
            self.runs[part] = writer.node("Gather", writer.positions(is_out), rank)
        return self.runs[part]

    def _where(self, part: Set, found: str) -> str:
        return self.writer.node("Where", self.members[part], found, -1)

    def _or(self, first: str, second: str) -> str:
        return self.writer.node("Where", self.writer.node("GreaterOrEqual", first, 0), first, second)

    def _after(self, rest: str) -> str:
        """`rest` at the next position."""
        if rest == self.places:
            return self.writer.node("Add", rest, 1)
        return self.writer.node("Concat", self.writer.node("Slice", rest, [1], [2**62], [0]), [-1], axis=0)

    def _at(self, value: str, places: str) -> str:
        return self.writer.node("Gather", value, places)


def sets(pattern: Pattern) -> Iterator[Set]:
    """All sets of a pattern."""
    match pattern:
        case Set():
            yield pattern
        case Chain(parts) | Choice(parts):
            for part in parts:
                yield from sets(part)
        case Repeat(part) | Ahead(part):
            yield from sets(part)


def _members(writer: Writer, sets: Sequence[Set], points: str) -> Iterator[str]:
    """bool [n] for each set: code points are divided into those that are in the same sets, which a table numbers."""
    import numpy

    numbers = numpy.zeros(END + 1, numpy.int64)
    for index, each in enumerate(sets):
        column = numpy.zeros(END + 1, bool)
        column[list(each.points)] = True
        column ^= each.is_negated
        column[END] = False
        numbers |= column.astype(numpy.int64) << index
    kinds, numbers = numpy.unique(numbers, return_inverse=True)
    number = writer.node("Squeeze", look_up(writer, points, numbers.reshape(-1, 1).astype(numpy.int32)), [1])
    for index in range(len(sets)):
        yield writer.node("Gather", writer.constant((kinds >> index & 1).astype(bool)), number)
