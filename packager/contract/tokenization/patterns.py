"""Regular expressions as data: the part of Oniguruma's that tokenizers use. Others are refused by name.

Syntax: the reference of Oniguruma 6.9, RE, in its Ruby form, which Hugging Face's tokenizers compiles.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, reduce

from packager.contract.tokenization import unicode
from packager.core.errors import ConfigError

LONGEST = 10_000
"""Characters of an expression; those of tokenizers have at most a few hundred."""
SHOWN = 500
"""Characters of an expression in messages."""
DEEPEST = 50
"""Brackets inside each other: what reads and writes an expression calls itself for each."""
MOST_TIMES = 64
"""of a repeat with a limit, which is written out"""
ASCII = 0x80
BLANKS = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D, "a": 0x07, "e": 0x1B}
CLASSES = {"s": "space", "d": "Nd", "w": "word", "h": "hex"}
NUMERALS = frozenset(map(ord, "\u00b2\u00b3\u00b9\u00bc\u00bd\u00be"))
"""in `\\w`, but not in `[\\w]`: Oniguruma has a table of its own for Latin-1, which brackets do not read"""
FOLDED = {"s": "\u017f", "k": "\u212a"}
"""letters outside ASCII that equal one in it, case aside"""
FOLDED_TOGETHER = ("ss", "st", "ff", "fi", "fl")
"""letters that equal one letter, case aside"""


@dataclass(frozen=True)
class Set:
    """One code point of a set."""

    points: frozenset[int]
    is_negated: bool = False
    """whether it is one of all others"""

    def inverted(self) -> "Set":
        return Set(self.points, not self.is_negated)

    def union(self, other: "Set") -> "Set":
        match self.is_negated, other.is_negated:
            case False, False:
                return Set(self.points | other.points)
            case True, True:
                return Set(self.points & other.points, True)
            case True, False:
                return Set(self.points - other.points, True)
        return Set(other.points - self.points, True)

    def intersection(self, other: "Set") -> "Set":
        return self.inverted().union(other.inverted()).inverted()

    def is_apart(self, other: "Set") -> bool:
        """Whether both have no code point in common."""
        match self.is_negated, other.is_negated:
            case False, False:
                return self.points.isdisjoint(other.points)
            case True, True:  # there is always one that neither names
                return False
            case True, False:
                return other.points <= self.points
        return self.points <= other.points


@dataclass(frozen=True)
class Chain:
    """One after the other."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True)
class Alternation:
    """The first that lets the whole match."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True)
class Repeat:
    """Repeats as often as possible, and less often only if the rest does not match otherwise."""

    part: "Pattern"
    least: int
    most: int | None
    is_possessive: bool = False
    """whether it never matches less often than possible"""


@dataclass(frozen=True)
class LookAhead:
    """Nothing, if `part` follows; if negated, if it does not."""

    part: "Pattern"
    is_negated: bool


Pattern = Set | Chain | Alternation | Repeat | LookAhead


def literal(text: str) -> Pattern:
    """The pattern of a text itself."""
    return Chain(tuple(Set(frozenset({ord(each)})) for each in text))


@lru_cache(maxsize=16)
def parsed(text: str) -> Pattern:
    """The pattern of a regular expression. Raises ConfigError for what is not supported, or can match nothing."""
    reader = _Reader(text)
    found = reader.choice(folds=False)
    if reader.rest:
        raise reader.unsupported(reader.rest[0])
    if can_be_empty(found):
        raise reader.unsupported("a match of nothing")
    return found


def can_be_empty(pattern: Pattern) -> bool:
    """Whether a match may have no character."""
    match pattern:
        case Set():
            return False
        case Chain(parts):
            return all(map(can_be_empty, parts))
        case Alternation(parts):
            return any(map(can_be_empty, parts))
        case Repeat(part, least):
            return least == 0 or can_be_empty(part)
        case LookAhead():
            return True


class _Reader:
    """Reads an expression from the left; `rest` is yet to be read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rest = text
        self._depth = 0
        if len(text) > LONGEST:
            raise self.unsupported(f"{len(text):,} characters")

    def unsupported(self, words: str) -> ConfigError:
        text = self.text if len(self.text) <= SHOWN else f"{self.text[:SHOWN]}..."
        return ConfigError(
            f"the regular expression {text!r} has {words}, which is not supported",
            hint='tokenize in the app and pass numbers: kind = "tensor"',
        )

    def takes(self, expression: str) -> "re.Match[str] | None":
        """Reads what a regular expression of Python matches here."""
        found = re.compile(expression, re.DOTALL).match(self.rest)
        if found:
            self.rest = self.rest[found.end() :]
        return found

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.unsupported(f"more than {DEEPEST} brackets inside each other")
        yield
        self._depth -= 1

    def choice(self, *, folds: bool) -> Pattern:
        """Alternatives, up to a closing bracket. `folds`: capitals and small letters are alike."""
        parts = [self._chain(folds=folds)]
        while self.takes(r"\|"):
            parts.append(self._chain(folds=folds))
        return parts[0] if len(parts) == 1 else Alternation(tuple(parts))

    def _chain(self, *, folds: bool) -> Pattern:
        parts: list[Pattern] = []
        letters = ""
        while self.rest and self.rest[0] not in "|)":
            letters = letters + self.rest[0].lower() if folds and self.rest[0].isalpha() else ""
            if letters.endswith(FOLDED_TOGETHER):
                raise self.unsupported(f"{letters[-2:]!r} without regard to case")
            parts.append(self._repeated(self._piece(folds=folds)))
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _repeated(self, part: Pattern) -> Pattern:
        found = self.takes(r"([*+?])([+?]?)") or self.takes(r"\{(\d{0,6})(,?)(\d{0,6})\}()")
        if not found:
            return part
        if len(found.groups()) == 2:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[1]]
            mode = found[2]
        else:
            least = int(found[1] or 0)
            most = (int(found[3]) if found[3] else None) if found[2] else least
            mode = ""
        if mode == "?" or self.takes(r"[*+?{]"):
            raise self.unsupported(f"the repeat {found[0]!r}")
        if isinstance(part, LookAhead) or can_be_empty(part):
            raise self.unsupported("a repeat of nothing")
        if max(least, most or 0) > MOST_TIMES or (most is not None and most < max(least, 1)):
            raise self.unsupported(f"the repeat {found[0]!r}")
        if most is None and not isinstance(part, Set):
            raise self.unsupported(f"the repeat {found[0]!r} of more than one character")
        return Repeat(part, least, most, mode == "+")

    def _piece(self, *, folds: bool) -> Pattern:
        if found := self.takes(r"\(\?(i?):|\(\?([=!])|\((?!\?)"):
            with self._deeper():
                inside = self.choice(folds=folds or bool(found[1]))
            if not self.takes(r"\)"):
                raise self.unsupported("a bracket that is not closed")
            return LookAhead(inside, found[2] == "!") if found[2] else inside
        if self.takes(r"\["):
            return self._folded(self._set(), folds=folds)
        if self.takes(r"\."):
            return Set(frozenset({0x0A}), True)
        if found := self.takes(r"[\^$(*+?{]"):
            raise self.unsupported(repr(found[0] + self.rest[:2] if found[0] == "(" else found[0]))
        return self._folded(self._one(), folds=folds)

    def _folded(self, made: Set, *, folds: bool) -> Set:
        if not folds:
            return made
        if made.is_negated or max(made.points, default=0) >= ASCII:
            raise self.unsupported("letters outside ASCII without regard to case")
        return Set(frozenset(point for each in made.points for point in _alike(each)))

    def _set(self) -> Set:
        """A set in brackets, whose first one has been read."""
        is_negated = bool(self.takes(r"\^"))
        made = Set(frozenset())
        both: list[Set] = []
        while not self.takes(r"\]"):
            if not self.rest:
                raise self.unsupported("a set that is not closed")
            if self.takes("&&"):
                both.append(made)
                made = Set(frozenset())
            elif self.takes(r"\[(?!:)"):
                with self._deeper():
                    made = made.union(self._set())
            else:
                made = made.union(self._range())
        made = reduce(Set.intersection, both, made)
        return made.inverted() if is_negated else made

    def _range(self) -> Set:
        if self.rest.startswith("[:"):
            raise self.unsupported("[:")
        first = self._one(is_inside=True)
        if self.rest[:1] != "-" or self.rest[1:2] in ("]", "["):
            return first
        self.takes("-")
        last = self._one(is_inside=True)
        if len(first.points) != 1 or len(last.points) != 1 or first.is_negated or last.is_negated:
            raise self.unsupported("a range of classes")
        (low,), (high,) = first.points, last.points
        return Set(frozenset(range(low, high + 1)))

    def _one(self, *, is_inside: bool = False) -> Set:
        """A character, or a class such as `\\s`, alone or inside brackets."""
        if found := self.takes(r"\\([pP])\{(\^?)([\w ]+)\}"):
            return Set(self._property(found[3]), (found[1] == "P") != bool(found[2]))
        if found := self.takes(r"\\([sdwhSDWH])"):
            points = unicode.category(CLASSES[found[1].lower()])
            left_out = NUMERALS if is_inside and found[1] in "wW" else frozenset()
            return Set(points - left_out, found[1].isupper())
        if found := self.takes(r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-7][0-9A-Fa-f]))"):
            return Set(frozenset({int(found[1] or found[2] or found[3], 16)}))
        if found := self.takes(r"\\([tnvfrae])"):
            return Set(frozenset({BLANKS[found[1]]}))
        if found := self.takes(r"\\([^0-9A-Za-z])"):
            return Set(frozenset({ord(found[1])}))
        if self.rest[:1] == "\\":
            raise self.unsupported(repr(self.rest[:2]))
        found = self.takes(r".")
        assert found is not None
        return Set(frozenset({ord(found[0])}))

    def _property(self, name: str) -> frozenset[int]:
        try:
            return unicode.category(name)
        except KeyError as error:
            raise self.unsupported(f"the property {name!r}") from error


def _alike(point: int) -> Iterable[int]:
    """The code points that equal one of ASCII, case aside."""
    letter = chr(point).lower()
    return map(ord, {letter, letter.upper(), FOLDED.get(letter, letter)})
