"""A decoder as data: what each token adds to a text."""

from collections.abc import Mapping
from dataclasses import dataclass

Piece = str | bytes
"""a text, or bytes that are part of one"""


@dataclass(frozen=True, kw_only=True)
class LeadingStrip:
    """Drops characters from the start of a whole text."""

    character: str
    most: int
    """number of them that are dropped at most"""


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """The texts that tokens add. Tokens that are in neither table add nothing: special ones, and unknown ids."""

    first: Mapping[int, Piece]
    """for the first token of a text that adds anything, by id"""
    later: Mapping[int, Piece]
    """for every other token"""
    decodes_runs: bool
    """whether bytes are decoded when a text follows them, and all of them count as U+FFFD if they are no UTF-8;
    otherwise the bytes of all tokens are one text, and only wrong ones count as U+FFFD"""
    strip: LeadingStrip | None = None


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """The decoder of a file, with the names of its tokens."""

    decoder: Decoder
    tokens: Mapping[str, int]
    special: frozenset[int]
    """ids of tokens that are no part of a text"""
