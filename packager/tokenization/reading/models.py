"""Reads the model of a `tokenizer.json`: what makes tokens of pieces."""

from collections.abc import Iterator, Mapping
from typing import Any

from packager.core.errors import ConfigError
from packager.tokenization.definition import BytePairs, WordPiece
from packager.tokenization.reading.part import Part

MOST_TOKENS = 2**22
"""of byte-pair encoding, whose table grows with the largest id"""


def read(model: Part, *, is_bytes: bool) -> WordPiece | BytePairs:
    """`is_bytes`: the splitter turns pieces into bytes. Raises ConfigError."""
    vocabulary = model.get("vocab", dict)
    _refuse_bad_ids(model, vocabulary)
    match model.type or "WordPiece":
        case "WordPiece" if not is_bytes:
            return _wordpiece(model, vocabulary)
        case "BPE" if is_bytes:
            return _byte_pairs(model, vocabulary)
        case "WordPiece" | "BPE":
            raise model.unsupported(f"{model.type!r} {'with' if is_bytes else 'without'} a splitter into bytes")
    raise model.unsupported()


def _refuse_bad_ids(model: Part, vocabulary: Mapping[str, Any]) -> None:
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
    if made.unknown not in vocabulary:
        raise ConfigError(
            f"{model.place}: '{made.unknown}' is not in the vocabulary", hint="add it, or correct unk_token"
        )
    return made


def _byte_pairs(model: Part, vocabulary: Mapping[str, int]) -> BytePairs:
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key, str, ""):
            raise model.unsupported(f"{key} {model.get(key, str)!r}")
    if model.get("dropout", float, 0.0):
        raise model.unsupported("dropout, which makes tokens at random,")
    if max(vocabulary.values(), default=0) >= MOST_TOKENS:
        raise ConfigError(f"{model.place}: an id is larger than {MOST_TOKENS}", hint="number tokens from 0 on")
    return BytePairs(
        vocabulary=vocabulary,
        merges=list(_merges(model, vocabulary)),
        takes_whole=model.get("ignore_merges", bool, False),
    )


def _merges(model: Part, vocabulary: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Pairs, written as `a b` by old versions of tokenizers, and as `["a", "b"]` by others."""
    for each in model.get("merges", list):
        pair = each.split(" ") if isinstance(each, str) else each
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(token, str) for token in pair):
            raise ConfigError(f"{model.place}: the merge {each!r} is no pair", hint="save the tokenizer again")
        first, second = pair
        for token in (first, second, first + second):
            if token not in vocabulary:
                raise ConfigError(
                    f"{model.place}: {token!r} of the merge {each!r} is not in the vocabulary",
                    hint="download or save the tokenizer again",
                )
        yield first, second
