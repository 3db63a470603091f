"""Reads SentencePiece's `.model` files. Tokens are those of its `SentencePieceProcessor.encode`.

No template is in the file: which of `<s>` and `</s>` stand around a text is up to the model. As `encode` does unless it
is asked, none are added, and the texts of such pieces are not found in texts.

The library is of version 0.2.3. Earlier ones choose other pieces of Unigram where scores are nearly equal, and this one
subtracts from sums below -100,000 (texts of ten thousand tokens), which the graph does not: nearly equal ones may
differ from there on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from packager.contract.tokenization import units
from packager.contract.tokenization.definition import Added, BytePairs, Model, Padding, Split, Tokenizer, Unigram, Words
from packager.contract.tokenization.normalizing.steps import Charsmap, Each, Prepend, Replace, Step, Strip
from packager.contract.tokenization.pairs import Merge
from packager.contract.tokenization.patterns import Repeat, Set
from packager.contract.tokenization.reading import charsmaps, sentencepiece_proto
from packager.contract.tokenization.reading.models import MOST_TOKENS
from packager.contract.tokenization.reading.part import UNSUPPORTED
from packager.contract.tokenization.reading.processors import Processor
from packager.contract.tokenization.unigram import PENALTY
from packager.core.errors import ConfigError

NORMAL, UNKNOWN, CONTROL, DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
"""types of pieces"""
UNIGRAM, PAIRS, WORDS, CHARACTERS = 1, 2, 3, 4
"""types of models"""
SPACE, BLANK = " ", "\u2581"
"""what separates words in texts, and in pieces"""
_BLANKS = Split(pattern=Set(frozenset({ord(BLANK)})), behavior="MergedWithNext")
"""words begin with blanks"""
AGAIN = "download the file again"


@dataclass(frozen=True, kw_only=True)
class Piece:
    text: str
    score: float
    type: int


def read(path: Path, content: bytes) -> Tokenizer:
    """The tokenizer of a file. Raises ConfigError for one that is damaged, or has a part that is not supported."""
    file = _parsed(path, content)
    _refuse(path, file)
    pieces = tuple(_piece(path, each) for each in file.pieces)
    _check(path, pieces, falls_back=file.trainer_spec.byte_fallback)
    pad = file.trainer_spec.pad_piece.decode("utf-8", "replace")
    kind = file.trainer_spec.model_type
    found = {each.text: Added(id=number) for number, each in enumerate(pieces) if each.type == DEFINED}
    processor = Processor()
    return Tokenizer(
        added=({}, {} if kind in (UNIGRAM, WORDS) else found),
        normalization=tuple(_normalization(path, file.normalizer_spec, tuple(found))),
        splitting=(_BLANKS,) if kind == WORDS else (),
        model=_model(path, pieces, file.trainer_spec),
        trimming=None,
        single=processor.single,
        pair=processor.pair,
        truncation=None,
        padding=Padding(id=next((n for n, p in enumerate(pieces) if p.type == CONTROL and p.text == pad), 0)),
    )


def _parsed(path: Path, content: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        file = sentencepiece_proto.model().FromString(content)
    except DecodeError as error:
        raise ConfigError(f"{path}: not a model of SentencePiece", hint=AGAIN) from error
    if not file.pieces:
        raise ConfigError(f"{path}: a model of SentencePiece without pieces", hint=AGAIN)
    return file


def _refuse(path: Path, file: Any) -> None:
    trainer = file.trainer_spec
    reasons = {
        f"model_type {trainer.model_type}, which is not Unigram, BPE, words or characters,": trainer.model_type
        not in (UNIGRAM, PAIRS, WORDS, CHARACTERS),
        "byte_fallback of words": trainer.model_type == WORDS and trainer.byte_fallback,
        "treat_whitespace_as_suffix": trainer.treat_whitespace_as_suffix,
        "a denormalizer": bool(file.denormalizer_spec.precompiled_charsmap),
        "a vocabulary of that size": len(file.pieces) > MOST_TOKENS,
    }
    for reason, is_there in reasons.items():
        if is_there:
            raise _unsupported(path, reason)


def _unsupported(path: Path, words: str) -> ConfigError:
    return ConfigError(f"{path}: {words} is not supported", hint=UNSUPPORTED)


def _piece(path: Path, given: Any) -> Piece:
    try:
        made = Piece(text=given.piece.decode("utf-8"), score=given.score, type=given.type)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: the piece {given.piece!r} is not UTF-8", hint=AGAIN) from error
    if not made.text or "\0" in made.text or not isfinite(made.score):
        raise ConfigError(f"{path}: {made.text!r} with a score of {made.score} is not a piece", hint=AGAIN)
    if made.type not in (NORMAL, UNKNOWN, CONTROL, DEFINED, UNUSED, BYTE):
        raise _unsupported(path, f"{made.text!r}, a piece of type {made.type},")
    return made


def _check(path: Path, pieces: Sequence[Piece], *, falls_back: bool) -> None:
    """Raises ConfigError where SentencePiece does not open the file either."""
    text, count = Counter(each.text for each in pieces).most_common(1)[0]
    if count > 1:
        raise ConfigError(f"{path}: {text!r} is two pieces", hint=AGAIN)
    kinds = Counter(each.type for each in pieces)
    if kinds[UNKNOWN] != 1 or not kinds[NORMAL]:
        raise ConfigError(f"{path}: not one piece for what is unknown, and others", hint=AGAIN)
    found = {each.text for each in pieces if each.type == BYTE}
    if found != (set(units.BYTES) if falls_back else set()):
        raise ConfigError(f"{path}: {len(found)} pieces of bytes, and byte_fallback = {falls_back}", hint=AGAIN)


def _normalization(path: Path, spec: Any, symbols: Sequence[str]) -> Iterator[Step]:
    """`symbols` are not changed."""
    blank = BLANK if spec.escape_whitespaces else SPACE
    texts = dict(_texts(path, spec, symbols)) if spec.precompiled_charsmap else {}
    charsmap = (Charsmap(texts=texts, in_graphemes=False),) if texts else ()
    prefix = (Prepend(content=blank),) if spec.add_dummy_prefix else ()
    escaped = (Each(map={ord(SPACE): (ord(BLANK),)}),) if spec.escape_whitespaces else ()
    if spec.remove_extra_whitespaces:
        if any(SPACE * 2 in each for each in (*texts.values(), *symbols)):
            raise _unsupported(path, "a normalizer or a symbol with spaces side by side, which it would remove,")
        yield from charsmap
        yield Replace(pattern=Repeat(Set(frozenset({ord(SPACE)})), 1, None), content=SPACE)
        yield Strip(left=True, right=False, points=frozenset({ord(SPACE)}))
        yield from (*prefix, *escaped)
        yield Strip(left=False, right=True, points=frozenset({ord(blank)}))
    else:
        # a text of which nothing is left has the prefix, too
        if prefix and any(each.startswith(blank) for each in texts):
            raise _unsupported(path, f"a normalizer or a symbol that begins with {blank!r}, which precedes texts,")
        yield from (*prefix, *charsmap, *escaped)


def _texts(path: Path, spec: Any, symbols: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The texts that a normalizer's table replaces. Symbols come first: no text that begins with one is found."""
    known = set(symbols)
    for text, content in charsmaps.read(spec.precompiled_charsmap, str(path)).items():
        if not known or not any(text[:size] in known for size in range(1, len(text) + 1)):
            yield text, content
    yield from zip(symbols, symbols, strict=True)


def _model(path: Path, pieces: Sequence[Piece], trainer: Any) -> Model:
    if trainer.model_type == UNIGRAM:
        return _unigram(pieces, trainer)
    if trainer.model_type == WORDS:
        vocabulary = {each.text: number for number, each in enumerate(pieces) if each.type in (NORMAL, DEFINED)}
        return Words(vocabulary=vocabulary, unknown=_unknown(pieces), fuses_unknown=True)
    return _byte_pairs(path, pieces, trainer)


def _unigram(pieces: Sequence[Piece], trainer: Any) -> Unigram:
    import numpy

    lowest = numpy.float32(min(each.score for each in pieces if each.type == NORMAL))
    return Unigram(
        vocabulary=tuple((each.text, _score(each)) for each in pieces),
        unknown=_unknown(pieces),
        unknown_score=float(lowest - numpy.float32(PENALTY)),
        is_single=True,
        hidden=frozenset(number for number, each in enumerate(pieces) if each.type not in (NORMAL, DEFINED)),
        falls_back=trainer.byte_fallback,
    )


def _score(piece: Piece) -> float:
    """Symbols have the score of GetUserDefinedScore: 0.1 for each byte but the first."""
    import numpy

    if piece.type != DEFINED:
        return piece.score
    return float(numpy.float32(0.1 * (len(piece.text.encode()) - 1)))


def _unknown(pieces: Sequence[Piece]) -> int:
    return next(number for number, each in enumerate(pieces) if each.type == UNKNOWN)


def _byte_pairs(path: Path, pieces: Sequence[Piece], trainer: Any) -> Model:
    """Merges of characters, or characters alone. Raises ConfigError for merges that the library takes back."""
    if trainer.model_type == PAIRS and any(each.type == UNUSED for each in pieces):
        raise _unsupported(path, "a BPE model with unused pieces")
    return BytePairs(
        vocabulary={each.text: number for number, each in enumerate(pieces) if _is_found(each)},
        merges=dict(_merges(path, pieces)) if trainer.model_type == PAIRS else {},
        is_bytes=False,
        falls_back=trainer.byte_fallback,
        unknown=_unknown(pieces),
        fuses_unknown=not trainer.byte_fallback,
    )


def _is_found(piece: Piece) -> bool:
    """Characters that are no normal pieces are unknown."""
    return piece.type == NORMAL or len(piece.text) > 1


def _merges(path: Path, pieces: Sequence[Piece]) -> Iterator[tuple[tuple[int, int], Merge]]:
    """Every pair of pieces that is one, the highest score first. Raises ConfigError for unknown characters in pairs."""
    known = {each.text: number for number, each in enumerate(pieces) if each.type == NORMAL}
    symbols = {each.text for each in pieces if each.type == DEFINED}
    ranks = _ranks(pieces)
    for text, product in known.items():
        for size in range(1, len(text)):
            pair = text[:size], text[size:]
            if all(each in known for each in pair):
                yield (known[pair[0]], known[pair[1]]), Merge(rank=ranks[pieces[product].score], product=product)
            elif all(each in known or (len(each) == 1 and each not in symbols) for each in pair):
                raise _unsupported(path, f"{text!r}, a piece with a character that is none,")


def _ranks(pieces: Sequence[Piece]) -> Mapping[float, int]:
    scores = sorted({each.score for each in pieces if each.type == NORMAL}, reverse=True)
    return {score: rank for rank, score in enumerate(scores)}
