"""Splits Dart, Kotlin, Swift and TypeScript declarations into tokens: enough to read what is public."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PATTERN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<text>\"\"\".*?\"\"\"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
  | (?P<word>[\w$]+)
  | (?P<sign>->|=>|\.\.\.|\.\.<|&&|==|.)
    """,
    re.VERBOSE | re.DOTALL,
)
OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
SPACED = {",": ", ", ":": ": ", "->": " -> ", "=>": " => ", "|": " | ", "&": " & ", "=": " = ", ";": "; "}


@dataclass(frozen=True)
class Token:
    text: str
    starts_line: bool


def tokens(source: str) -> list[Token]:
    """The tokens of `source`, without comments."""
    found: list[Token] = []
    starts_line = True
    for match in PATTERN.finditer(source):
        if match.lastgroup in ("space", "comment"):
            starts_line = starts_line or "\n" in match[0]
            continue
        found.append(Token(match[0], starts_line))
        starts_line = False
    return found


def joined(parts: Sequence[Token]) -> str:
    """The tokens in one line, in one form whatever their spaces were."""
    text = ""
    for index, part in enumerate(parts):
        before = parts[index - 1].text if index else ""
        if part.text in SPACED:
            text = text.rstrip() + SPACED[part.text]
        else:
            follows = before == "readonly" or bool(re.match(r"[\w$\"'`)\]>]", before[-1:]))
            is_apart = follows and bool(re.match(r"[\w$\"'`@]" if before != "readonly" else r".", part.text))
            text += (" " if is_apart and not text.endswith(" ") else "") + part.text
    return text.strip()


class Reader:
    """A position in a list of tokens."""

    def __init__(self, found: Sequence[Token]) -> None:
        self.found = found
        self.at = 0

    @property
    def is_at_end(self) -> bool:
        return self.at >= len(self.found)

    @property
    def text(self) -> str:
        """The next token; empty at the end."""
        return "" if self.is_at_end else self.found[self.at].text

    @property
    def starts_line(self) -> bool:
        return self.is_at_end or self.found[self.at].starts_line

    def take(self) -> str:
        self.at += 1
        return self.found[self.at - 1].text if self.at <= len(self.found) else ""

    def took(self, *texts: str) -> bool:
        """Takes the next token if it is one of `texts`."""
        if self.text not in texts or self.is_at_end:
            return False
        self.at += 1
        return True

    def block(self) -> list[Token]:
        """Takes a bracket and all up to its end: the tokens between them."""
        start = self.at + 1
        self.skip()
        return list(self.found[start : self.at - 1])

    def skip(self) -> None:
        """Takes one token, or a pair of brackets with all between them. `<` is a bracket where the reader stands at
        one, and inside of it: elsewhere it compares."""
        opening = self.take()
        if opening not in OPENING:
            return
        closing = [OPENING[opening]]
        while closing and not self.is_at_end:
            text = self.take()
            if text == closing[-1]:
                closing.pop()
            elif text in ("(", "[", "{") or (text == "<" and closing[-1] == ">"):
                closing.append(OPENING[text])

    def until(self, *ends: str, lines_end: bool = False, going_on: Sequence[str] = ()) -> list[Token]:
        """Takes all up to one of `ends` outside of brackets; with `lines_end` also up to the end of the line, unless
        the next one goes on with one of `going_on`."""
        start = self.at
        while not self.is_at_end and self.text not in ends:
            is_new_line = lines_end and self.starts_line and self.at > start
            if is_new_line and self.text not in going_on and self.found[self.at - 1].text not in going_on:
                break
            if self.text in (")", "]", "}"):
                break
            if self.text in OPENING:
                self.skip()
            else:
                self.at += 1
        return list(self.found[start : self.at])


def split(found: Sequence[Token], separator: str = ",") -> Iterator[list[Token]]:
    """The parts of a list, none for an empty one."""
    reader = Reader(found)
    while not reader.is_at_end:
        yield reader.until(separator)
        if not reader.took(separator) and not reader.is_at_end:
            reader.at += 1
