"""Tokenizers for tests: a small vocabulary of BERT, and its graph in ONNX Runtime."""

import json
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from packager.contract import tokenization
from tests.nights import at_night

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    "the quick brown fox jump ##s ##ed over a lazy dog . , ! ? ' - [ ] ( ) un ##believ ##able ##a ##b b 1 ##2 ##3 "
    "cafe naive strasse ##ss 東 京 日 本 \u0131 i ##̇ e ##́ \U0001f600 ک ##تاب \u00e9 É İ 각 ᄀ ##ᅡ ##ᆨ"
)
CLS, SEP = 2, 3


def vocabulary() -> dict[str, int]:
    return {token: number for number, token in enumerate((*SPECIAL, *dict.fromkeys(WORDS.split())))}


def bert(**normalizer: bool) -> Tokenizer:
    """A tokenizer of BERT with the small vocabulary."""
    made = Tokenizer(models.WordPiece(vocabulary(), unk_token="[UNK]", max_input_chars_per_word=12))
    made.normalizer = normalizers.BertNormalizer(**normalizer)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return made


def of_bytes(normalizer: normalizers.Normalizer) -> Tokenizer:
    """A tokenizer whose tokens are the bytes of the normalized text, and show where each comes from."""
    vocabulary = {"<unk>": 0} | {f"<0x{byte:02X}>": byte + 1 for byte in range(256)}
    made = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizer
    return made


def same(graph: "Graph", reference: Tokenizer, *texts: str) -> None:
    """Fails if ids, types or offsets of texts differ."""
    first, second = (*texts, None)[:2]
    found, wanted = graph(*texts), reference.encode(first, second)
    assert found["ids"] == wanted.ids, texts
    assert found["types"] == wanted.type_ids, texts
    assert [tuple(each) for each in found["offsets"]] == wanted.offsets, texts


def changed(tokenizer: Tokenizer, folder: Path, **parts: Any) -> Path:
    """The file of `tokenizer` with other parts."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(tokenizer.to_str()), **parts}), encoding="utf-8")
    return path


class Graph:
    """The graph of a tokenizer's file."""

    def __init__(self, path: Path, *, is_pair: bool = False) -> None:
        proto = tokenization.alone(tokenization.read(path), is_pair=is_pair)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, *texts: str) -> Mapping[str, Any]:
        names = [each.name for each in self.session.get_inputs()]
        given = {name: points(text) for name, text in zip(names, texts, strict=True)}
        made = self.session.run(None, given)
        return {each.name: value.tolist() for each, value in zip(self.session.get_outputs(), made, strict=True)}


def points(text: str) -> numpy.ndarray[Any, Any]:
    return numpy.array([ord(each) for each in text], numpy.int32)


@cache
def scalars() -> tuple[str, ...]:
    """Every code point but surrogates."""
    return tuple(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))


@cache
def telling_scalars() -> tuple[str, ...]:
    """Code points without surrogates: all of planes 0 and 1; of the others, which are ideographs or not assigned, those
    next to the begin of a category, and every sixteenth."""
    categories = [unicodedata.category(each) for each in scalars()]
    begins = {place for place in range(1, len(categories)) if categories[place - 1] != categories[place]}
    near = {place + step for place in begins for step in (-2, -1, 0, 1)}
    return tuple(
        each for place, each in enumerate(scalars()) if ord(each) < 0x20000 or place % 16 == 0 or place in near
    )


CODE_POINTS = pytest.mark.parametrize(
    "chosen", [telling_scalars, *at_night(scalars)], ids=["telling", *at_night("all")]
)
