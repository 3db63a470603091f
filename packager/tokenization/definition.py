"""A tokenizer as data: what its file says, without code."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Characters:
    """Normalization and splitting, one code point at a time."""

    maps: Mapping[int, tuple[int, ...]]
    """code points that become others, or none; all others stay"""
    spaces: frozenset[int]
    """normalized code points that separate words, and belong to none"""
    alone: frozenset[int]
    """normalized code points that are words of their own"""


@dataclass(frozen=True, kw_only=True)
class WordPiece:
    """The longest known piece from the left, until the word ends (arXiv:1609.08144, section 4.1)."""

    vocabulary: Mapping[str, int]
    unknown: str
    """the only piece of a word that cannot be split into known ones"""
    prefix: str
    """precedes pieces that continue a word, in the vocabulary"""
    longest_word: int
    """code points; longer words are unknown"""


@dataclass(frozen=True, kw_only=True)
class Special:
    """A token of the template."""

    id: int
    role: int
    """type of the token: 0 or 1"""


@dataclass(frozen=True, kw_only=True)
class Sequence:
    """The tokens of a text, in a template."""

    text: int
    """0 or 1"""
    role: int


Template = tuple[Special | Sequence, ...]


@dataclass(frozen=True, kw_only=True)
class Truncation:
    longest: int
    """tokens, those of the template included"""
    strategy: str
    """`LongestFirst`, `OnlyFirst` or `OnlySecond`"""
    from_left: bool
    """whether the first tokens are dropped instead of the last ones"""


@dataclass(frozen=True, kw_only=True)
class Padding:
    id: int = 0
    role: int = 0
    at_left: bool = False


@dataclass(frozen=True, kw_only=True)
class Tokenizer:
    characters: Characters
    model: WordPiece
    added: Mapping[str, int]
    """tokens that are found in a text before all else, by their text"""
    single: Template
    pair: Template
    truncation: Truncation | None
    padding: Padding
