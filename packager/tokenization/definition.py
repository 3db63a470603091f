"""A tokenizer as data: what its file says, without code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packager.tokenization.normalizing import Map
from packager.tokenization.patterns import Pattern


@dataclass(frozen=True, kw_only=True)
class Split:
    """Cuts a text before and after matches of a pattern."""

    pattern: Pattern
    behavior: str
    """of tokenizers' `SplitDelimiterBehavior`: `Removed`, `Isolated`, `MergedWithPrevious` and so on"""
    is_inverted: bool = False
    """whether matches count as what is between them, and the other way round"""


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """Puts a blank before each piece that does not begin with one."""


Splitter = Split | Prefix


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
class BytePairs:
    """The bytes of a piece, merged pair by pair, the pair of the lowest rank first (arXiv:1508.07909, section 3.2)."""

    vocabulary: Mapping[str, int]
    """one character for each byte: `byte_level.CHARACTERS`"""
    merges: Sequence[tuple[str, str]]
    """in the order of their ranks"""
    takes_whole: bool
    """whether a piece in the vocabulary is a token, whatever its pairs merge to"""


@dataclass(frozen=True, kw_only=True)
class Special:
    """A token of the template."""

    id: int
    role: int
    """type of the token: 0 or 1"""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """The tokens of a text, in a template."""

    text: int
    """0 or 1"""
    role: int


Template = tuple[Special | Slot, ...]


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
class Trimming:
    """Takes blanks at the ends of tokens out of their offsets."""

    keeps_first: bool
    """whether the first blank of a text counts as `Prefix`'s, and stays"""


@dataclass(frozen=True, kw_only=True)
class Tokenizer:
    added: tuple[Mapping[str, int], ...]
    """tokens that are found in a text before all else, by their text; those of the first group first"""
    normalization: tuple[Map, ...]
    splitting: tuple[Splitter, ...]
    model: WordPiece | BytePairs
    trimming: Trimming | None
    single: Template
    pair: Template
    truncation: Truncation | None
    padding: Padding
