"""Texts of messages as chat templates see them while a table is made: slots, not characters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from packager.core.chat import BLANKS

SHORTEST_SIGN = 3
"""characters of a text that templates may look for in messages: nobody writes a longer one by chance"""
TRIMS: Mapping[str | None, str] = {None: "<>", "\n": "[]"}
"""marks of a slot for what `strip` takes away at the start, and at the end"""
MARKS = "<>[]"
HIDDEN = "\U0010fffd"
"""the characters of a Text, which nothing may see"""
READING = tuple(f"__{name}__" for name in "format ge getitem gt iter le len lt mod mul repr rmod rmul".split())
"""methods of strings with underscores that read characters"""


class Unsupported(Exception):  # noqa: N818
    """A template does what no table can."""


@dataclass(frozen=True)
class Slot:
    message: int
    trims: str = ""
    """some of MARKS"""


@dataclass
class Assumed:
    """Assumptions about all messages."""

    signs: set[str] = field(default_factory=set)
    """texts that they do not have"""
    has_text: bool = False
    """whether each has a character that is not blank"""


class Text(str):
    """A string of texts and slots, as templates see it."""

    parts: "tuple[str | Slot, ...]"
    assumed: Assumed

    def __new__(cls, parts: "Sequence[str | Slot]", assumed: Assumed) -> "Text":
        # never seen: every method that reads the characters is replaced
        made = super().__new__(cls, HIDDEN)
        merged: list[str | Slot] = []
        for each in parts:
            if isinstance(each, str) and merged and isinstance(merged[-1], str):
                merged[-1] += each
            elif each != "":
                merged.append(each)
        made.parts, made.assumed = tuple(merged), assumed
        return made

    def __add__(self, other: object) -> "Text":
        return Text((*self.parts, *parts_of(other)), self.assumed)

    def __radd__(self, other: object) -> "Text":
        return Text((*parts_of(other), *self.parts), self.assumed)

    def __str__(self) -> "Text":
        return self

    def __bool__(self) -> bool:
        self.assumed.has_text |= not any(isinstance(each, str) for each in self.parts)
        return bool(self.parts)

    def __contains__(self, sign: object) -> bool:
        return any(isinstance(each, str) and str(sign) in each for each in self.parts) or self._has(sign)

    def startswith(self, sign: Any, *_: Any) -> bool:
        return self._begins(self.parts[:1], sign, str.startswith)

    def endswith(self, sign: Any, *_: Any) -> bool:
        return self._begins(self.parts[-1:], sign, str.endswith)

    def _begins(self, outer: "tuple[str | Slot, ...]", sign: Any, test: Any) -> bool:
        if outer and isinstance(outer[0], str) and isinstance(sign, str) and len(outer[0]) >= len(sign):
            return bool(test(outer[0], sign))
        return self._has(sign)

    def _has(self, sign: object) -> bool:
        """Whether a slot alone has `sign`: assumed not to be so."""
        if type(sign) is not str or len(sign.strip()) < SHORTEST_SIGN or len(self.parts) != 1:
            raise Unsupported(f"looks for {sign!r} in a message")
        self.assumed.signs.add(sign)
        return False

    def split(self, sign: Any = None, *_: Any) -> "list[Text]":  # type: ignore[override]
        assert not self._has(sign)
        return [self]

    def strip(self, chars: str | None = None, /) -> "Text":
        return self.lstrip(chars).rstrip(chars)

    def lstrip(self, chars: str | None = None, /) -> "Text":
        return self._stripped(0, chars)

    def rstrip(self, chars: str | None = None, /) -> "Text":
        return self._stripped(-1, chars)

    def _stripped(self, end: int, chars: str | None) -> "Text":
        if chars not in TRIMS:
            raise Unsupported(f"strips {chars!r} from a message")
        parts, mark = list(self.parts), TRIMS[chars][end]
        while parts and isinstance(each := parts[end], str):
            parts[end] = each.rstrip(chars or BLANKS) if end else each.lstrip(chars or BLANKS)
            if parts[end]:
                return Text(parts, self.assumed)
            del parts[end]
        if parts and isinstance(slot := parts[end], Slot):
            self.assumed.has_text |= len(parts) > 1
            parts[end] = Slot(slot.message, "".join(each for each in MARKS if each in slot.trims + mark))
        return Text(parts, self.assumed)

    def __eq__(self, other: object) -> bool:
        if other == "" and not isinstance(other, Text):
            return not bool(self)
        if isinstance(other, Text) and other.parts == self.parts:
            return True
        if isinstance(other, str):
            raise Unsupported("compares messages by their texts")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.parts)


def _refusing(name: str) -> Any:
    def refused(*_: object, **__: object) -> NoReturn:
        raise Unsupported(f"uses `{name}` of a message")

    return refused


for _name in dir(str):
    if _name not in vars(Text) and (not _name.startswith("__") or _name in READING):
        setattr(Text, _name, _refusing(_name.strip("_")))


def parts_of(value: object) -> "tuple[str | Slot, ...]":
    return value.parts if isinstance(value, Text) else (str(value),)


def joined(values: Iterable[object]) -> str:
    """One string of several; a Text if one of them is."""
    given = [value if isinstance(value, str) else str(value) for value in values]
    texts = [value for value in given if isinstance(value, Text)]
    return Text([part for value in given for part in parts_of(value)], texts[0].assumed) if texts else "".join(given)
