"""Reads `tokenizer.json` of Hugging Face, and `vocab.txt` of BERT.

A part that mobpack does not know is refused by name. Format: the sources of that library, tokenizers.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.tokenization import normalizing, unicode
from packager.tokenization.definition import (
    Characters,
    Padding,
    Sequence,
    Special,
    Template,
    Tokenizer,
    Truncation,
    WordPiece,
)

LIMIT_BYTES = 64 * 2**20
KINDS = "a tokenizer.json with a WordPiece model, or BERT's vocab.txt"
UNSUPPORTED = 'use a tokenizer of BERT\'s family, or tokenize in the app and pass numbers: kind = "tensor"'
REQUIRED = object()


def read(path: Path) -> Tokenizer:
    """The tokenizer of a file. Raises ConfigError for one that is no tokenizer, or has a part that is not supported."""
    content = _content(path)
    if path.suffix == ".json":
        return _from_json(_Part.whole(path, content))
    if path.suffix == ".txt":
        return _from_vocabulary(path, content)
    raise ConfigError(f"{path}: not a known tokenizer file", hint=f"use {KINDS}")


def _content(path: Path) -> str:
    try:
        return user_files.read(path, limit_bytes=LIMIT_BYTES).decode("utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", hint="paths are relative to mobpack.toml") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint=f"use {KINDS}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8", hint=f"use {KINDS}") from error


class _Part:
    """A JSON object with its place in the file, which errors name."""

    def __init__(self, place: str, value: Mapping[str, Any]) -> None:
        self.place = place
        self.value = value

    @classmethod
    def whole(cls, path: Path, content: str) -> "_Part":
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: not JSON: {error}", hint="download or save the file again") from error
        if not isinstance(value, dict) or not isinstance(value.get("model"), dict):
            raise ConfigError(
                f"{path}: no tokenizer: it has no 'model'",
                hint="use tokenizer.json, which save_pretrained() of transformers writes",
            )
        return cls(str(path), value)

    def get(self, key: str, kind: type, default: Any = REQUIRED) -> Any:
        """The value at `key`, of type `kind`; `default` if it is absent or null. Raises ConfigError."""
        value = self.value.get(key)
        if value is None and default is not REQUIRED:
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ConfigError(
                f"{self.place}: '{key}' is {'missing' if value is None else 'not ' + kind.__name__}",
                hint="save the tokenizer again with a current version of tokenizers",
            )
        return value

    def part(self, key: str) -> "_Part | None":
        value = self.get(key, dict, None)
        return None if value is None else _Part(f"{self.place}: {key}", value)

    def parts(self, key: str) -> "list[_Part]":
        found = self.get(key, list, [])
        return [_Part(f"{self.place}: {key} {number}", self._object(each, key)) for number, each in enumerate(found)]

    def _object(self, value: Any, key: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise ConfigError(f"{self.place}: an entry of '{key}' is no object", hint="download or save the file again")
        return value

    @property
    def type(self) -> str:
        return str(self.get("type", str, ""))

    def unsupported(self, words: str = "") -> ConfigError:
        return ConfigError(f"{self.place}: {words or repr(self.type)} is not supported", hint=UNSUPPORTED)


def _from_json(whole: _Part) -> Tokenizer:
    model = whole.part("model")
    assert model is not None
    pieces = _wordpiece(model)
    added = {token.get("content", str): _added(token, pieces) for token in whole.parts("added_tokens")}
    normalizer, splitter = whole.part("normalizer"), whole.part("pre_tokenizer")
    spaces, alone = _splitting(splitter, whole)
    single, pair = _templates(whole.part("post_processor"))
    return Tokenizer(
        characters=Characters(
            maps=normalizing.composed(_maps(normalizer) if normalizer else ()), spaces=spaces, alone=alone
        ),
        model=pieces,
        added=added,
        single=single,
        pair=pair,
        truncation=_truncation(whole.part("truncation")),
        padding=_padding(whole.part("padding")),
    )


def _wordpiece(model: _Part) -> WordPiece:
    if model.get("type", str, "WordPiece") != "WordPiece":
        raise model.unsupported()
    vocabulary = model.get("vocab", dict)
    _refuse_bad_ids(model, vocabulary)
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


def _refuse_bad_ids(model: _Part, vocabulary: Mapping[str, Any]) -> None:
    for token, number in vocabulary.items():
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**31:
            raise ConfigError(f"{model.place}: the id of {token!r} is {number!r}", hint="ids are integers from 0 on")


def _added(token: _Part, pieces: WordPiece) -> int:
    for key in ("single_word", "lstrip", "rstrip", "normalized"):
        if token.get(key, bool, False):
            raise token.unsupported(f"{token.get('content', str)!r} with {key}")
    if not token.get("content", str):
        raise ConfigError(f"{token.place}: an added token is empty", hint="remove it")
    return int(token.get("id", int))


def _maps(part: _Part) -> Iterator[normalizing.Map]:
    match part.type:
        case "Sequence":
            for each in part.parts("normalizers"):
                yield from _maps(each)
        case "BertNormalizer":
            lowers = part.get("lowercase", bool, True)
            yield from normalizing.bert(
                cleans=part.get("clean_text", bool, True),
                splits_chinese=part.get("handle_chinese_chars", bool, True),
                strips_accents=part.get("strip_accents", bool, lowers),
                lowers=lowers,
            )
        case "Lowercase":
            yield unicode.lowercase()
        case "StripAccents":
            yield normalizing.removing(unicode.members("combining"))
        case "NFD" | "NFKD":
            yield unicode.decompositions(compatible=part.type == "NFKD")
        case _:
            raise part.unsupported()


def _splitting(part: _Part | None, whole: _Part) -> tuple[frozenset[int], frozenset[int]]:
    """Code points that separate words, and those that are words of their own."""
    if part is None:
        raise whole.unsupported("WordPiece without a pre_tokenizer")
    spaces: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()
    for each in part.parts("pretokenizers") if part.type == "Sequence" else [part]:
        match each.type:
            case "BertPreTokenizer":
                spaces |= unicode.members("white")
                alone |= unicode.members("bert-split")
            case "WhitespaceSplit":
                spaces |= unicode.members("white")
            case "Punctuation" if each.get("behavior", str, "Isolated") == "Isolated":
                alone |= unicode.members("punctuation")
            case "Digits" if each.get("individual_digits", bool, False):
                alone |= unicode.members("digit")
            case _:
                raise each.unsupported()
    return spaces, alone - spaces


def _templates(part: _Part | None) -> tuple[Template, Template]:
    """The templates of a text and of a pair of texts."""
    if part is None:
        return (Sequence(text=0, role=0),), (Sequence(text=0, role=0), Sequence(text=1, role=0))
    match part.type:
        case "BertProcessing":
            return _bert_templates(_pair_id(part, "cls"), _pair_id(part, "sep"))
        case "TemplateProcessing":
            return tuple(_pieces(part, "single")), tuple(_pieces(part, "pair"))
    raise part.unsupported()


def _bert_templates(first: int, last: int) -> tuple[Template, Template]:
    """`[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, with these ids."""
    single = (Special(id=first, role=0), Sequence(text=0, role=0), Special(id=last, role=0))
    return single, (*single, Sequence(text=1, role=1), Special(id=last, role=1))


def _pair_id(part: _Part, key: str) -> int:
    found = part.get(key, list)
    if len(found) != 2 or not isinstance(found[1], int):
        raise ConfigError(f"{part.place}: '{key}' is not a token with its id", hint="save the tokenizer again")
    return found[1]


def _pieces(part: _Part, key: str) -> Iterator[Special | Sequence]:
    known = part.get("special_tokens", dict, {})
    for each in part.parts(key):
        special, sequence = each.part("SpecialToken"), each.part("Sequence")
        if sequence:
            yield Sequence(text={"A": 0, "B": 1}[sequence.get("id", str)], role=sequence.get("type_id", int, 0))
        elif special:
            name = special.get("id", str)
            for number in _Part(f"{part.place}: {name}", known.get(name, {})).get("ids", list):
                yield Special(id=int(number), role=special.get("type_id", int, 0))


def _truncation(part: _Part | None) -> Truncation | None:
    if part is None:
        return None
    return Truncation(
        longest=part.get("max_length", int),
        strategy=part.get("strategy", str, "LongestFirst"),
        from_left=part.get("direction", str, "Right") == "Left",
    )


def _padding(part: _Part | None) -> Padding:
    if part is None:
        return Padding()
    return Padding(
        id=part.get("pad_id", int, 0),
        role=part.get("pad_type_id", int, 0),
        at_left=part.get("direction", str, "Right") == "Left",
    )


def _from_vocabulary(path: Path, content: str) -> Tokenizer:
    """BERT's defaults for a vocabulary with one token per line: uncased if no token but special ones has capitals."""
    tokens = [line.rstrip("\r") for line in content.removesuffix("\n").split("\n")]
    vocabulary: dict[str, int] = {}
    for number, token in enumerate(tokens):
        vocabulary.setdefault(token, number)
    special = ("[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]")
    for token in special[:3]:
        if token not in vocabulary:
            raise ConfigError(f"{path}: no vocabulary of BERT: '{token}' is missing", hint=f"use {KINDS}")
    words = [token for token in tokens if not (token.startswith("[") and token.endswith("]"))]
    lowers = not any(each.isascii() and each != each.lower() for each in words)
    single, pair = _bert_templates(vocabulary["[CLS]"], vocabulary["[SEP]"])
    maps = normalizing.bert(cleans=True, splits_chinese=True, strips_accents=lowers, lowers=lowers)
    spaces = unicode.members("white")
    return Tokenizer(
        characters=Characters(
            maps=normalizing.composed(maps), spaces=spaces, alone=unicode.members("bert-split") - spaces
        ),
        model=WordPiece(vocabulary=vocabulary, unknown="[UNK]", prefix="##", longest_word=100),
        added={token: vocabulary[token] for token in special if token in vocabulary},
        single=single,
        pair=pair,
        truncation=None,
        padding=Padding(id=vocabulary.get("[PAD]", 0)),
    )
