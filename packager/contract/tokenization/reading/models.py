"""Reads the model of a `tokenizer.json`: what makes tokens of pieces."""

from collections.abc import Iterator, Mapping
from math import isfinite

from packager.contract.tokenization import units
from packager.contract.tokenization.definition import BytePairs, Model, Unigram, WordPiece, Words
from packager.contract.tokenization.pairs import Merge
from packager.contract.tokenization.reading.part import Part
from packager.contract.tokenization.unigram import PENALTY
from packager.core.errors import ConfigError
from packager.core.parsing import Json

ASCII = 0x80
"""bytes below it are characters, which need no token of the byte if they are tokens themselves"""
MOST_TOKENS = 2**20
"""of byte-pair encoding, whose table grows with the largest id"""


def read(model: Part, *, is_bytes: bool) -> Model:
    """`is_bytes`: the splitter turns pieces into bytes. Raises ConfigError."""
    if model.type == "Unigram":
        return _unigram(model)
    vocabulary = model.get("vocab", dict)
    _refuse_bad_ids(model, vocabulary)
    match model.type or "WordPiece":
        case "BPE":
            return _byte_pairs(model, vocabulary, is_bytes=is_bytes)
        case "WordPiece" | "WordLevel" if is_bytes:
            raise model.unsupported(f"{model.type!r} with a splitter into bytes")
        case "WordPiece":
            return _wordpiece(model, vocabulary)
        case "WordLevel":
            return Words(vocabulary=vocabulary, unknown=_known(model, vocabulary, model.get("unk_token", str, "<unk>")))
    raise model.unsupported()


def _unigram(model: Part) -> Unigram:
    tokens = list(_scores(model))
    if model.value.get("unk_id", "") is None:
        raise model.unsupported("a model without a token for what is unknown (unk_id)")
    unknown = model.get("unk_id", int)
    if not 0 <= unknown < len(tokens):
        raise ConfigError(f"{model.place}: unk_id {unknown} is not a token", hint="save the tokenizer again")
    falls_back = model.get("byte_fallback", bool, False)
    if falls_back and not {*units.BYTES} <= {token for token, _ in tokens}:
        raise model.unsupported("byte_fallback without all bytes")
    lowest = min(score for _, score in tokens)
    return Unigram(vocabulary=tokens, unknown=unknown, unknown_score=lowest - PENALTY, falls_back=falls_back)


def _scores(model: Part) -> Iterator[tuple[str, float]]:
    for each in model.get("vocab", list):
        match each:
            case [str(token), int(score) | float(score)] if isfinite(score):
                yield token, float(score)
            case _:
                raise ConfigError(
                    f"{model.place}: {each!r} is not a token with its score", hint="save the tokenizer again"
                )


def _known(model: Part, vocabulary: Mapping[str, int], token: str) -> int:
    """The id of a token. Raises ConfigError."""
    if token not in vocabulary:
        raise ConfigError(f"{model.place}: '{token}' is not in the vocabulary", hint="add it, or correct unk_token")
    return vocabulary[token]


def _refuse_bad_ids(model: Part, vocabulary: Json) -> None:
    for token, number in vocabulary.items():
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**31:
            raise ConfigError(f"{model.place}: the id of {token!r} is {number!r}", hint="ids are integers from 0 on")


def _wordpiece(model: Part, vocabulary: Mapping[str, int]) -> WordPiece:
    made = WordPiece(
        vocabulary=vocabulary,
        unknown=model.get("unk_token", str, "[UNK]"),
        prefix=model.get("continuing_subword_prefix", str, "##"),
        longest_word=model.get("max_input_chars_per_word", int, 100),
    )
    _known(model, vocabulary, made.unknown)
    return made


def _byte_pairs(model: Part, vocabulary: Mapping[str, int], *, is_bytes: bool) -> BytePairs:
    if model.get("dropout", float, 0.0):
        raise model.unsupported("dropout, which makes tokens at random,")
    if max(vocabulary.values(), default=0) >= MOST_TOKENS:
        raise ConfigError(f"{model.place}: an id is larger than {MOST_TOKENS}", hint="number tokens from 0 on")
    prefix, unknown = model.get("continuing_subword_prefix", str, ""), model.get("unk_token", str, "")
    merges = {
        (vocabulary[first], vocabulary[second]): Merge(rank=rank, product=vocabulary[first + second[len(prefix) :]])
        for rank, (first, second) in enumerate(_merges(model, vocabulary, prefix))
    }
    falls_back = model.get("byte_fallback", bool, False)
    if falls_back:
        _refuse_merged_bytes(model, vocabulary, merges)
    return BytePairs(
        vocabulary=vocabulary,
        merges=merges,
        is_bytes=is_bytes,
        takes_whole=model.get("ignore_merges", bool, False),
        prefix=prefix,
        suffix=model.get("end_of_word_suffix", str, ""),
        falls_back=falls_back,
        unknown=_known(model, vocabulary, unknown) if unknown else None,
        fuses_unknown=model.get("fuse_unk", bool, False),
    )


def _refuse_merged_bytes(model: Part, vocabulary: Mapping[str, int], merges: Mapping[tuple[int, int], Merge]) -> None:
    missing = [number for number, byte in enumerate(units.BYTES) if byte not in vocabulary]
    if any(number >= ASCII or chr(number) not in vocabulary for number in missing):
        raise model.unsupported("byte_fallback without all bytes")
    numbers = {vocabulary[each] for each in units.BYTES if each in vocabulary}
    if any(not numbers.isdisjoint(pair) for pair in merges):
        raise model.unsupported("byte_fallback with merges of bytes")


def _merges(model: Part, vocabulary: Mapping[str, int], prefix: str) -> Iterator[tuple[str, str]]:
    """Pairs, written as `a b` by old versions of tokenizers, and as `["a", "b"]` by others."""
    for each in model.get("merges", list):
        pair = each.split(" ") if isinstance(each, str) else each
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(token, str) for token in pair):
            raise ConfigError(f"{model.place}: the merge {each!r} is not a pair", hint="save the tokenizer again")
        first, second = pair
        for token in (first, second, first + second[len(prefix) :]):
            if token not in vocabulary:
                raise ConfigError(
                    f"{model.place}: {token!r} of the merge {each!r} is not in the vocabulary",
                    hint="download or save the tokenizer again",
                )
        yield first, second
