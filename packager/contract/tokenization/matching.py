"""Matches of patterns at all positions of a text at once, without a step per character.

A pattern is a function from continuations to ends: given where the rest of the expression ends when it begins at each
position (-1 where it does not match), it says where the whole ends when it begins at each. This is what an engine with
backtracking finds, as the first way to match is chosen at each position on its own (Thompson matching in continuation
passing style: Danvy and Nielsen, 2001, section 4).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packager.contract.tokenization import chains
from packager.contract.tokenization.factoring import are_apart, factored
from packager.contract.tokenization.neighbours import neighbours
from packager.contract.tokenization.pages import END, flags, look_up
from packager.contract.tokenization.patterns import Alternation, Chain, LookAhead, Pattern, Repeat, Set
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy


def ends(writer: Writer, pattern: Pattern, points: str) -> str:
    """int64 [n]: where the match of `pattern` ends that begins at each of `points`, int64 [n]; -1 for none.

    END and numbers above belong to no set: no match goes over them. The last of `points` is one of them.
    """
    return _ends(writer, factored(pattern), points)


def _ends(writer: Writer, pattern: Pattern, points: str) -> str:
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
    pattern = factored(pattern)
    if isinstance(pattern, Set):  # its matches cannot overlap
        found = _Kinds.of(writer, [pattern], points).members(pattern)
        is_gap = writer.node("And", writer.node("Less", points, END), writer.node("Not", found))
        return Cover(begins=found, is_match=found, is_gap=is_gap)
    matcher = _Matcher.of(writer, pattern, points)
    return covered(writer, matcher.ends(pattern, matcher.places), points, matcher.kinds.borders(pattern))


def covered(writer: Writer, ends: str, points: str, borders: str | None = None) -> Cover:
    """The matches that a search finds, from where the match at each of `points` ends, int64 [n]; -1 for none.

    `borders`, bool [n], has positions that no match covers together with the one before. They make it faster.
    """
    size = writer.node("Squeeze", writer.node("Shape", points))
    places = writer.node("Range", 0, size, 1)
    matches = writer.node("GreaterOrEqual", ends, 0)
    after = writer.node("Min", writer.node("Add", places, 1), writer.node("Sub", size, 1))
    first = borders or writer.node("Equal", places, 0)
    jumps = writer.node("Where", matches, ends, after)
    reached = chains.reached_anywhere(writer, jumps, writer.cast(first, ElementType.INT32))
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
    kinds: "_Kinds"
    families: Sequence[Sequence[Set]]
    """sets that repeat; those of a family have no character in common"""
    runs: dict[Set, str] = field(default_factory=dict)
    """for each set that repeats, int64 [n]: where a run of it ends, from each of its members on"""
    sure: set[str] = field(default_factory=set)
    """continuations that match at every position"""

    @classmethod
    def of(cls, writer: Writer, pattern: Pattern, points: str) -> "_Matcher":
        places = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", points)), 1)
        known = list(dict.fromkeys(sets(pattern)))
        repeated = dict.fromkeys(_repeated(pattern))
        kinds = _Kinds.of(writer, known, points)
        return cls(writer=writer, places=places, kinds=kinds, families=_families(repeated), sure={places})

    def ends(self, pattern: Pattern, rest: str) -> str:
        """int64 [n]: where `pattern` and then the `rest` end."""
        match pattern:
            case Set():
                return self._where(pattern, self._after(rest))
            case Chain(parts):
                return self._chain(parts, rest)
            case Alternation(parts):
                return self._choice(parts, rest)
            case LookAhead(part, is_negated):
                return self.writer.node("Where", self._begins(part), *((-1, rest) if is_negated else (rest, -1)))
            case Repeat(Set() as part, least, None):
                for_all = self._run(part, least, rest, is_possessive=pattern.is_possessive)
                for _ in range(least - 1):
                    for_all = self._where(part, self._after(for_all))
                return for_all
            case Repeat(part, least, int(most)):
                return self._limited(pattern, part, least, most, rest)
        raise AssertionError(pattern)

    def _begins(self, pattern: Pattern) -> str:
        """bool [n]: whether a match begins at each position."""
        if isinstance(pattern, Set):
            return self.kinds.members(pattern)
        return self.writer.node("GreaterOrEqual", self.ends(pattern, self.places), 0)

    def _chain(self, parts: Sequence[Pattern], rest: str) -> str:
        for number, part in reversed(tuple(enumerate(parts))):
            match part:
                case Repeat(Set() as each, 0, 1) if are_apart(each, Chain(tuple(parts[number + 1 :]))):
                    # one of the set begins no match of what follows: it is never left out
                    rest = self._if_member(each, self._after(rest), rest)
                case _:
                    rest = self.ends(part, rest)
        return rest

    def _choice(self, parts: Sequence[Pattern], rest: str) -> str:
        *first, last = parts
        found, apart = self.ends(last, rest), [last]
        together = [found]
        for each in reversed(first):
            end = self.ends(each, rest)
            if all(are_apart(each, other) for other in apart):
                # at most one of these matches at a position; the others have -1
                together.append(end)
            else:
                together = [self._or(end, self._largest(together))]
            apart.append(each)
        return self._largest(together)

    def _largest(self, values: Sequence[str]) -> str:
        return values[0] if len(values) == 1 else self.writer.node("Max", *values)

    def _limited(self, pattern: Repeat, part: Pattern, least: int, most: int, rest: str) -> str:
        if pattern.is_possessive:
            alone = self.ends(Repeat(part, least, most), self.places)
            is_there = self.writer.node("GreaterOrEqual", alone, 0)
            return self.writer.node("Where", is_there, self._at(rest, self.writer.node("Max", alone, 0)), -1)
        found = rest
        for _ in range(most - least):
            if isinstance(part, Set) and rest in self.sure:
                found = self._if_member(part, self._after(found), rest)
            else:
                found = self._or(self.ends(part, found), rest)
        for _ in range(least):
            found = self.ends(part, found)
        return found

    def _run(self, part: Set, least: int, rest: str, *, is_possessive: bool) -> str:
        """The end of a set's longest run, at least one long if `least` is, that lets `rest` match."""
        writer, is_member = self.writer, self.kinds.members(part)
        run = self._run_end(part)
        if rest in self.sure or is_possessive:
            found = run if rest == self.places else self._at(rest, run)
            return self._where(part, found) if least else self._if_member(part, found, rest)
        if not least:
            run = writer.node("Where", is_member, run, self.places)
        fits = writer.node("GreaterOrEqual", rest, 0)
        rank = writer.node("CumSum", writer.cast(fits, ElementType.INT64), 0)
        last = writer.node("Sub", self._at(rank, run), 1)
        some = writer.node("Concat", self._places_of(fits), [0], axis=0)  # never empty
        run = writer.node("Where", writer.node("Less", last, 0), -1, writer.node("Gather", some, last))
        is_enough = writer.node("Greater" if least else "GreaterOrEqual", run, self.places)
        if least:
            is_enough = writer.node("And", is_enough, is_member)
        return writer.node("Where", is_enough, self._at(rest, run), -1)

    def _run_end(self, part: Set) -> str:
        if part not in self.runs:
            (family,) = (each for each in self.families if part in each)
            made = self._out_of(part) if len(family) == 1 else self._changed(family)
            self.runs.update(dict.fromkeys(family, made))
        return self.runs[part]

    def _out_of(self, part: Set) -> str:
        """int64 [n]: the first position that is not in a set, from each on."""
        writer = self.writer
        is_out = writer.node("Not", self.kinds.members(part))
        rank = writer.node("CumSum", writer.cast(is_out, ElementType.INT64), 0, exclusive=1)
        return writer.node("Gather", self._places_of(is_out), rank)

    def _changed(self, family: Sequence[Set]) -> str:
        """int64 [n]: the first position after each that is in another set of `family`, or in none; any number for the
        last."""
        writer = self.writer
        number = self.kinds.number_in(family)
        earlier = writer.node("Pad", number, [1, -1], writer.int32(-1))
        changes = writer.node("Not", writer.node("Equal", number, earlier))
        rank = writer.node("CumSum", writer.cast(changes, ElementType.INT64), 0)
        return writer.node("Gather", writer.node("Pad", self._places_of(changes), [0, 1]), rank)

    def _where(self, part: Set, found: str) -> str:
        return self.writer.node("Where", self.kinds.members(part), found, -1)

    def _if_member(self, part: Set, found: str, other: str) -> str:
        """`found` for members of a set, which is as sure as `other`, and `other` for others."""
        made = self.writer.node("Where", self.kinds.members(part), found, other)
        if other in self.sure:
            self.sure.add(made)
        return made

    def _or(self, first: str, second: str) -> str:
        made = self.writer.node("Where", self.writer.node("GreaterOrEqual", first, 0), first, second)
        if second in self.sure:
            self.sure.add(made)
        return made

    def _after(self, rest: str) -> str:
        """`rest` at the next position."""
        if rest == self.places:
            return self.writer.node("Add", rest, 1)
        return self.writer.node("Pad", rest, [-1, 1], self.writer.integer(-1))

    def _places_of(self, flags: str) -> str:
        """int64: the positions where `flags`, bool [n], is true."""
        return self.writer.node("Compress", self.places, flags, axis=0)

    def _at(self, value: str, places: str) -> str:
        return self.writer.node("Gather", value, places)


def sets(pattern: Pattern) -> Iterator[Set]:
    """Every set of a pattern."""
    match pattern:
        case Set():
            yield pattern
        case Chain(parts) | Alternation(parts):
            for part in parts:
                yield from sets(part)
        case Repeat(part) | LookAhead(part):
            yield from sets(part)


def _repeated(pattern: Pattern) -> Iterator[Set]:
    """Sets that repeat without a limit."""
    match pattern:
        case Chain(parts) | Alternation(parts):
            for part in parts:
                yield from _repeated(part)
        case Repeat(Set() as each, _, None):
            yield each
        case Repeat(part) | LookAhead(part):
            yield from _repeated(part)


def _families(sets: Iterable[Set]) -> Sequence[Sequence[Set]]:
    found: list[list[Set]] = []
    for each in sets:
        for family in found:
            if all(are_apart(each, other) for other in family):
                family.append(each)
                break
        else:
            found.append([each])
    return found


@dataclass(frozen=True, kw_only=True)
class _Kinds:
    """Code points are divided into those that are in the same sets, which a table numbers."""

    writer: Writer
    number: str
    """int32 [n]: the kind of each position"""
    table: "Mapping[Set, numpy.ndarray]"
    """bool [kinds]: whether each kind is in a set"""
    known: dict[Set, str] = field(default_factory=dict)

    @classmethod
    def of(cls, writer: Writer, sets: Sequence[Set], points: str) -> "_Kinds":
        import numpy

        bits = numpy.dtype("uint8" if len(sets) <= 8 else "int64")
        numbers = numpy.zeros(END + 1, bits)
        for index, each in enumerate(sets):
            column = flags(each.points) ^ each.is_negated
            column[END] = False
            numbers |= column.astype(bits) << index
        begins = numpy.append(True, numbers[1:] != numbers[:-1])  # neighbours are mostly of one kind: few to sort
        kinds, places = numpy.unique(numbers[begins], return_inverse=True)
        numbers = places.reshape(-1)[begins.cumsum() - 1]
        table = {each: (kinds >> index & 1).astype(bool) for index, each in enumerate(sets)}
        number = look_up(writer, points, numbers.astype(numpy.int32))
        return cls(writer=writer, number=number, table=table)

    def members(self, each: Set) -> str:
        """bool [n]: whether each position is in a set."""
        if each not in self.known:
            table = self.writer.constant(self.table[each])
            self.known[each] = self.writer.node("Gather", table, self.number)
        return self.known[each]

    def borders(self, pattern: Pattern) -> str:
        """bool [n]: whether the character there never follows the one before in a match. Of the first it is true."""
        import numpy

        kinds = len(next(iter(self.table.values())))
        table = numpy.ones((kinds + 1, kinds), bool)  # the last row is that of nothing
        for one, other in neighbours(pattern):
            table[:kinds] &= ~numpy.outer(self.table[one], self.table[other])
        earlier = self.writer.node("Pad", self.number, [1, -1], self.writer.int32(kinds))
        pair = self.writer.node("Add", self.writer.node("Mul", earlier, self.writer.int32(kinds)), self.number)
        return self.writer.node("Gather", self.writer.constant(table.reshape(-1)), pair)

    def number_in(self, sets: Sequence[Set]) -> str:
        """int32 [n]: which of `sets`, which have nothing in common, each position is in, from 1 on; 0 for none."""
        import numpy

        table = numpy.zeros_like(self.table[sets[0]], numpy.int32)
        for number, each in enumerate(sets, 1):
            table[self.table[each]] = number
        return self.writer.node("Gather", self.writer.constant(table), self.number)
