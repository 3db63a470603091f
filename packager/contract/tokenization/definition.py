"""A tokenizer as data: what its file says, without code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packager.contract.tokenization.normalizing.steps import Each, Step
from packager.contract.tokenization.pairs import Merge
from packager.contract.tokenization.patterns import Pattern


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
    """Puts a character before each piece that does not begin with it."""

    point: int = ord(" ")
    only_first: bool = False
    """whether only before a piece that begins where the given text does: neither an added token precedes it, nor
    anything that a normalizer removes"""


@dataclass(frozen=True, kw_only=True)
class Scripts:
    """Cuts a text where its script changes. Kana are of one script with Chinese characters."""


@dataclass(frozen=True, kw_only=True)
class Chunks:
    """Cuts a text into pieces of so many code points; the last may be shorter."""

    length: int


Splitter = Split | Prefix | Each
Cutter = Scripts | Chunks


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
    """The characters of a piece, or its bytes, merged pair by pair, the pair of the lowest rank first
    (arXiv:1508.07909, section 3.2)."""

    vocabulary: Mapping[str, int]
    merges: Mapping[tuple[int, int], Merge]
    """by the tokens that become one"""
    is_bytes: bool
    """whether pieces are bytes, each written as one of `byte_level.CHARACTERS` in the vocabulary"""
    takes_whole: bool = False
    """whether a piece in the vocabulary is a token, whatever its pairs merge to"""
    prefix: str = ""
    """precedes characters that continue a piece, in the vocabulary"""
    suffix: str = ""
    """follows characters that end a piece, in the vocabulary"""
    falls_back: bool = False
    """whether unknown characters are tokens of their bytes, such as `<0x0A>`"""
    unknown: int | None = None
    """token of unknown characters; None: they are left out"""
    fuses_unknown: bool = False
    """whether unknown characters side by side are one token"""


@dataclass(frozen=True, kw_only=True)
class Words:
    """Each piece is a token."""

    vocabulary: Mapping[str, int]
    unknown: int
    fuses_unknown: bool = False
    """whether unknown pieces side by side are one token"""


@dataclass(frozen=True, kw_only=True)
class Unigram:
    """The tokens with the largest sum of scores (arXiv:1804.10959, section 3.2)."""

    vocabulary: Sequence[tuple[str, float]]
    """tokens with their scores, in the order of their ids"""
    unknown: int
    """token of characters that are no tokens"""
    unknown_score: float
    """of each of these characters"""
    is_single: bool = False
    """whether sums of scores are 32-bit floats, and not 64-bit ones"""
    hidden: frozenset[int] = frozenset()
    """ids of tokens that are not found in texts"""
    falls_back: bool = False
    """as in BytePairs"""


@dataclass(frozen=True, kw_only=True)
class CodePoints:
    """Each code point is a token, whose id is its number."""

    unknown: None = None


Model = WordPiece | BytePairs | Words | Unigram | CodePoints


@dataclass(frozen=True, kw_only=True)
class Special:
    """A token of the template."""

    id: int
    role: int
    """type of the token: 0 or 1"""
    is_once: bool = False
    """whether it replaces the same token at the end of the text before it"""


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
class Added:
    """A token that is found in texts, whatever surrounds it."""

    id: int
    strips_left: bool = False
    """whether blanks before it are part of it"""
    strips_right: bool = False
    is_word: bool = False
    """whether it counts only between characters that are no letters, marks, digits or underscores"""


@dataclass(frozen=True, kw_only=True)
class Tokenizer:
    added: tuple[Mapping[str, Added], Mapping[str, Added]]
    """tokens by their text: those that are found in a text before all else, and those that are found in the normalized
    text"""
    normalization: tuple[Step, ...]
    splitting: tuple[Splitter | Cutter, ...]
    model: Model
    trimming: Trimming | None
    single: Template
    pair: Template
    truncation: Truncation | None
    padding: Padding

    def tokens(self) -> Mapping[int, str]:
        """The texts of all tokens by their ids."""
        match self.model:
            case Unigram(vocabulary=scored):
                known = {number: token for number, (token, _) in enumerate(scored)}
            case WordPiece(vocabulary=vocabulary) | BytePairs(vocabulary=vocabulary) | Words(vocabulary=vocabulary):
                known = {number: token for token, number in vocabulary.items()}
            case CodePoints():
                known = {}
        return known | {each.id: token for group in self.added for token, each in group.items()}
