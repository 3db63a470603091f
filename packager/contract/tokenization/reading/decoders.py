"""Reads the decoder of a `tokenizer.json`: how its tokens become a text again."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from packager.contract.tokenization.byte_level import BYTES
from packager.contract.tokenization.decoder import Decoder, Decoding, LeadingStrip, Piece
from packager.contract.tokenization.reading.part import Part

BYTE_TOKEN = re.compile(r"<0x(\+[0-9A-Fa-f]|[0-9A-Fa-f]{2})>")
"""a token of a byte, as Rust's from_str_radix reads it"""
CLEANED = (
    *((f" {each}", each) for each in (".", "?", "!", ",")),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    *((f" {each}", each) for each in ("'s", "'ve", "'re")),
)
"""what WordPiece's `cleanup` replaces, in this order"""

Pieces = Mapping[int, Piece]


@dataclass(frozen=True, kw_only=True)
class _Made:
    """The tokens of a file, after some of the steps of its decoder."""

    first: Pieces
    later: Pieces
    has_runs: bool = False
    """whether some tokens are bytes"""
    is_whole: bool = False
    """whether the next step sees one text"""
    strip: LeadingStrip | None = None

    def mapped(self, change: Callable[[str], Piece]) -> "_Made":
        return replace(self, first=_mapped(self.first, change), later=_mapped(self.later, change))


def read(whole: Part) -> Decoding:
    """Raises ConfigError for a decoder that is not known."""
    pieces = _pieces(whole)
    made = _Made(first=pieces, later=pieces)
    decoder = whole.part("decoder")
    if decoder is None:
        made = replace(made, later=_mapped(pieces, lambda piece: f" {piece}"))
    for step in _flat(decoder) if decoder else ():
        made = _after(made, step)
    return Decoding(
        decoder=Decoder(first=made.first, later=made.later, decodes_runs=made.has_runs, strip=made.strip),
        tokens=all_tokens(whole),
        special=frozenset(special_tokens(whole).values()),
    )


def special_tokens(whole: Part) -> Mapping[str, int]:
    """Tokens that are no part of a text, by their names."""
    return {
        each.get("content", str): each.get("id", int)
        for each in whole.parts("added_tokens")
        if each.get("special", bool, False)
    }


def all_tokens(whole: Part) -> Mapping[str, int]:
    """Every token, special ones too, by its name."""
    model = whole.part("model")
    assert model is not None
    listed = model.value.get("vocab")
    if isinstance(listed, list):  # Unigram: pairs of a token and its score
        known = {str(token): number for number, (token, _) in enumerate(listed)}
    else:
        known = dict(model.get("vocab", dict))
    return known | {each.get("content", str): each.get("id", int) for each in whole.parts("added_tokens")}


def _pieces(whole: Part) -> Pieces:
    special = special_tokens(whole)
    return {number: token for token, number in all_tokens(whole).items() if token not in special}


def _flat(part: Part) -> Iterator[Part]:
    if part.type != "Sequence":
        yield part
        return
    for each in part.parts("decoders"):
        yield from _flat(each)


def _after(made: _Made, step: Part) -> _Made:
    """`made` after a step. One that looks at single tokens is known only where they are still single, and texts."""
    if step.type == "Fuse":
        return replace(made, is_whole=True)
    if step.type == "Strip" and made.is_whole and not made.strip and not step.get("stop", int, 0):
        return replace(made, strip=LeadingStrip(character=step.get("content", str), most=step.get("start", int, 0)))
    if made.is_whole or made.has_runs:
        raise step.unsupported(f"the decoder {step.type!r} after others that make bytes or one text")
    match step.type:
        case "ByteLevel":
            return replace(made.mapped(_bytes), is_whole=True)
        case "ByteFallback":
            return replace(made.mapped(_byte_or_text), has_runs=True)
        case "Replace":
            return made.mapped(_replacement(step))
        case "Strip" if not step.get("stop", int, 0):
            return made.mapped(_stripping(step.get("content", str), step.get("start", int, 0)))
        case "Metaspace":
            return _metaspace(made, step)
        case "WordPiece":
            return _wordpiece(made, step)
    raise step.unsupported(f"the decoder {step.type!r}")


def _mapped(pieces: Pieces, change: Callable[[str], Piece]) -> Pieces:
    return {number: change(piece) if isinstance(piece, str) else piece for number, piece in pieces.items()}


def _bytes(token: str) -> bytes:
    """The bytes that its characters encode; those of UTF-8 for a token with other characters."""
    known = [BYTES.get(each) for each in token]
    found = [each for each in known if each is not None]
    return bytes(found) if len(found) == len(known) else token.encode()


def _byte_or_text(token: str) -> Piece:
    found = BYTE_TOKEN.fullmatch(token)
    return bytes([int(found[1], 16)]) if found else token


def _replacement(step: Part) -> Callable[[str], str]:
    pattern = step.part("pattern")
    wanted = pattern.get("String", str, "") if pattern else ""
    if not wanted:
        raise step.unsupported("a decoder that replaces a regular expression")
    content = step.get("content", str)
    return lambda token: token.replace(wanted, content)


def _stripping(character: str, most: int) -> Callable[[str], str]:
    def stripped(token: str) -> str:
        count = len(token) - len(token.lstrip(character))
        return token[min(count, most) :]

    return stripped


def _metaspace(made: _Made, step: Part) -> _Made:
    mark = step.get("replacement", str, "\u2581")
    scheme = step.get("prepend_scheme", str, "always" if step.get("add_prefix_space", bool, True) else "never")
    later = _mapped(made.later, lambda token: token.replace(mark, " "))
    first = later if scheme == "never" else _mapped(made.first, lambda token: token.replace(mark, ""))
    return replace(made, first=first, later=later)


def _wordpiece(made: _Made, step: Part) -> _Made:
    prefix = step.get("prefix", str, "##")
    cleans = step.get("cleanup", bool, True)

    def cleaned(token: str) -> str:
        for found, content in CLEANED if cleans else ():
            token = token.replace(found, content)
        return token

    def joined(token: str) -> str:
        return cleaned(token.removeprefix(prefix) if token.startswith(prefix) else f" {token}")

    return replace(made, first=_mapped(made.first, cleaned), later=_mapped(made.later, joined))
