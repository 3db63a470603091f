"""Steps of normalizers as data: what each does to a text, before it is split."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from packager.contract.tokenization.normalizing.maps import Map
from packager.contract.tokenization.patterns import Pattern


@dataclass(frozen=True, kw_only=True)
class Each:
    """One code point at a time."""

    map: Map


@dataclass(frozen=True, kw_only=True)
class Forms:
    """Unicode's normalization forms (Unicode Standard Annex 15): NFD, NFKD, NFC, NFKC."""

    is_compatible: bool
    composes: bool


@dataclass(frozen=True, kw_only=True)
class Replace:
    """Another text in place of each match of a pattern."""

    pattern: Pattern
    content: str


@dataclass(frozen=True, kw_only=True)
class Prepend:
    """A text before each part of a text that is not empty."""

    content: str


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Takes blanks away from the ends."""

    left: bool
    right: bool
    points: Collection[int]
    """code points that are blanks"""


@dataclass(frozen=True, kw_only=True)
class Charsmap:
    """A table of SentencePiece: texts that become others."""

    texts: Mapping[str, str]
    in_graphemes: bool
    """as Hugging Face's tokenizers reads it: the shortest text that begins a grapheme of less than six bytes replaces
    the whole grapheme, then single code points are replaced. Otherwise as SentencePiece does: the longest text that
    begins at a position is replaced, from the left"""


Step = Each | Forms | Replace | Prepend | Strip | Charsmap
