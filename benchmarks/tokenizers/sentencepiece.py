"""Tokenizers of Hugging Face's library from SentencePiece's files, as transformers' SpmConverter writes them.

The format: sentencepiece_model.proto of SentencePiece.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

NORMAL, UNKNOWN, CONTROL, DEFINED = 1, 2, 3, 4
"""types of pieces"""
UNIGRAM = 1
BLANK = "\u2581"

Field = int | bytes


@dataclass(frozen=True, kw_only=True)
class Piece:
    text: str
    score: float
    type: int


@dataclass(frozen=True, kw_only=True)
class File:
    pieces: Sequence[Piece]
    is_unigram: bool
    falls_back: bool
    """whether unknown characters become bytes"""
    charsmap: bytes
    adds_prefix: bool
    removes_blanks: bool


def read(path: Path) -> File:
    parts: dict[int, list[Field]] = {}
    for number, value in _fields(path.read_bytes()):
        parts.setdefault(number, []).append(value)
    trainer, normalizer = (dict(_fields(_bytes(parts.get(number, [b""])[0]))) for number in (2, 3))
    return File(
        pieces=[_piece(dict(_fields(_bytes(each)))) for each in parts[1]],
        is_unigram=trainer.get(3, UNIGRAM) == UNIGRAM,
        falls_back=trainer.get(35, 0) == 1,
        charsmap=_bytes(normalizer.get(2, b"")),
        adds_prefix=normalizer.get(3, 1) == 1,
        removes_blanks=normalizer.get(4, 1) == 1,
    )


def _bytes(value: Field) -> bytes:
    assert isinstance(value, bytes)
    return value


def _piece(fields: Mapping[int, Field]) -> Piece:
    kind = fields.get(3, NORMAL)
    assert isinstance(kind, int)
    (score,) = struct.unpack("<f", _bytes(fields.get(2, b"\0" * 4)))
    return Piece(text=_bytes(fields[1]).decode("utf-8"), score=score, type=kind)


def _fields(content: bytes) -> Iterator[tuple[int, Field]]:
    """Numbers and values of a message in Protocol Buffers."""
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        size = {1: 8, 5: 4}.get(key & 7, 0)
        if key & 7 == 0:
            value, place = _varint(content, place)
            yield key >> 3, value
            continue
        if key & 7 == 2:
            size, place = _varint(content, place)
        yield key >> 3, content[place : place + size]
        place += size


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (content[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if content[place - 1] < 0x80:
            return value, place


def converted(path: Path) -> Tokenizer:
    """The tokenizer of SpmConverter: Metaspace, after the file's own map of characters."""
    file = read(path)
    made = Tokenizer(_unigram(file) if file.is_unigram else _pairs(file))
    steps: list[normalizers.Normalizer] = [normalizers.Precompiled(file.charsmap)] if file.charsmap else []
    if file.removes_blanks:
        steps += [normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), BLANK)]
    made.normalizer = normalizers.Sequence(steps)
    made.pre_tokenizer = pre_tokenizers.Metaspace(BLANK, "always" if file.adds_prefix else "never")
    return _with_added(made, file)


def llama(path: Path) -> Tokenizer:
    """The tokenizer of LlamaConverter: a blank before the text, and no splitter."""
    file = read(path)
    made = Tokenizer(_pairs(file))
    made.normalizer = normalizers.Sequence([normalizers.Prepend(BLANK), normalizers.Replace(" ", BLANK)])
    return _with_added(made, file)


def _with_added(made: Tokenizer, file: File) -> Tokenizer:
    special = [each.text for each in file.pieces if each.type in (UNKNOWN, CONTROL)]
    made.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in special])
    defined = [each.text for each in file.pieces if each.type == DEFINED]
    made.add_tokens([AddedToken(each, special=False, normalized=False) for each in defined])
    return made


def _unigram(file: File) -> models.Unigram:
    unknown = next(number for number, each in enumerate(file.pieces) if each.type == UNKNOWN)
    return models.Unigram([(each.text, each.score) for each in file.pieces], unknown, file.falls_back)


def _pairs(file: File) -> models.BPE:
    vocabulary = {each.text: number for number, each in enumerate(file.pieces)}
    merges = []
    for each in file.pieces:
        halves = [(each.text[:place], each.text[place:]) for place in range(1, len(each.text))]
        known = [pair for pair in halves if pair[0] in vocabulary and pair[1] in vocabulary]
        known.sort(key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
        merges += [(each.score, pair) for pair in known]
    merges.sort(key=lambda found: (found[0], len(found[1][0]), len(found[1][1])), reverse=True)
    unknown = next(each.text for each in file.pieces if each.type == UNKNOWN)
    pairs = [pair for _, pair in merges]
    return models.BPE(vocabulary, pairs, unk_token=unknown, fuse_unk=True, byte_fallback=file.falls_back)
