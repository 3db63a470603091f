"""Texts, vectors and graphs that the generated code of every language is tested with, and what it has to give."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packager.contract.attachment import Tables, attach
from packager.contract.classes import Classes
from packager.contract.embedding import Embedding
from packager.contract.kind import OutputTable
from packager.contract.pairs import PairScore
from packager.contract.tokens import StringInput
from packager.core.values import Model
from tests.cases.onnx_text import loaded, onnx_model, saved
from tests.cases.tokenizer_graphs import bert, changed

TAGGER = """(int32[n] points) => (int64[m] classes, int64[m] starts, int64[m] ends, float[m] scores)
    <int32 zero = {48}, int32 nine = {57}, int64[1] flat = {-1}, int64 two = {2}, float ten = {10}> {
    low = GreaterOrEqual (points, zero) high = LessOrEqual (points, nine) is_digit = And (low, high)
    found = NonZero (is_digit) starts = Reshape (found, flat) ends = Add (starts, two)
    digits = Gather (points, starts) values = Sub (digits, zero) classes = Cast <to = 7> (values)
    numbers = Cast <to = 1> (values) scores = Div (numbers, ten) }"""
"""Every digit and the code point behind it are a span; the digit is its class, and a tenth of it its score."""
NOTER = (
    TAGGER.replace("(int32[n] points)", "(int32[k] other, int32[n] points)")
    .replace("float[m] scores)", "float[m] scores, int32[k] copied)")
    .replace("{\n", "{ copied = Identity (other)\n", 1)
)
"""The same with a text before that one, of which it says nothing but its code points."""
LABELS = ("none", "one", 'two "\\"', "größe")
TAGGED = "\U0001f600\U0001f6001\u00e9 e\u0301\U0001f4682\U0001f600x3\u05d04!"
"""a text with surrogate pairs before, in and between its spans"""
RANKER = """(int32[q] query, int32[d] document) => (float[1] score) <int64 first = {0}, int64[1] axis = {0}> {
    sought = Gather (query, first) equal = Equal (document, sought) counts = Cast <to = 1> (equal)
    score = ReduceSum <keepdims = 1> (counts, axis) }"""
"""How often the document has the first code point of the query."""
DOCUMENTS = ("b", "a", "banana", "", "\U0001f600ananas", "aa", "a")
"""for the query `a`"""
RANKED = ((2, 3.0), (4, 3.0), (5, 2.0), (1, 1.0), (6, 1.0), (0, 0.0), (3, 0.0))

AWKWARD = (
    "",
    " ",
    "\0",
    "the\0fox",
    "The quick brown fox",
    "\U0001f600 the \U0001f600\U0001f600fox\U0001f600",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1ee \u2764\ufe0f the",
    "\ud83d the",
    "the \ude00fox \ud83d",
    "\ude00\ud83d",
    "e\u0301 cafe\u0301 caf\u00e9 \u00c9",
    "i\u0307 \u0130 \u0131 I",
    "\uac01 \u1100\u1161\u11a8 \uac00",
    "\u06a9\u062a\u0627\u0628 the \u05e9\u05dc\u05d5\u05dd",
    "\u202ethe fox\u202c \u200fdog",
    "\ufeffthe \u00adfox \u200bdog\u2028over\u0085a",
    "\u65e5\u672c the\u6771\u4eac",
    "[SEP] the [CLS]fox[SEP][MASK",
    "a" * 12 + " " + "a" * 13,
    "\r\n\tthe\t fox\n",
    "\uff34\uff28\uff25 \ufb01 \u2460 \U0001d5d4",
    "\U0010ffff the \ufffe \ufdd0 \ufffd",
)
"""Texts that languages and their libraries are known to treat in ways of their own."""


def utf16(text: str) -> NDArray[np.uint16]:
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")


def written(texts: tuple[str, ...] = AWKWARD) -> NDArray[np.int32]:
    """`texts` for a program in another language: for each the number of its UTF-16 units, then these."""
    return np.concatenate([np.concatenate([[len(utf16(text))], utf16(text)]) for text in texts]).astype(np.int32)


TOKENS = "(int64[1, n] input_ids) => (int64[1, n] ids) { ids = Identity (input_ids) }"


def given(folder: Path) -> Path:
    """A model of token ids, beside the `tokenizer.json` that makes them of texts."""
    changed(bert(strip_accents=False), folder)
    return saved(folder / "tokens.onnx", onnx_model(TOKENS, opsets={"": 18}))


EMBEDDER = """
[model.embedder]
path = "embedder/embedder.onnx"

[model.embedder.inputs.input_ids]
kind = "text"
tokenizer = "embedder/tokenizer.json"
batch = true

[model.embedder.outputs.result]
kind = "embedding"
pooling = "mean"
"""


def write_embedder(folder: Path) -> None:
    """The files of EMBEDDER below `folder`: the first of `LISTS`."""
    place = folder / "embedder"
    place.mkdir()
    changed(bert(strip_accents=False), place)
    saved(place / "embedder.onnx", onnx_model(LISTS["embedder"][0], opsets={"": 18}, ir_version=10))


def tokens(folder: Path) -> Model:
    """A model that gives the token ids of a text."""
    folder.mkdir(parents=True, exist_ok=True)
    text = StringInput(tokenizer=changed(bert(strip_accents=False), folder))
    model = loaded(folder, onnx_model(TOKENS, opsets={"": 18}), "tokens")
    return attach(model, Tables(inputs={"input_ids": text}, outputs={})).model


LISTED = ("the quick fox", "", "a lazy dog jumps over the fox", "\U0001f600 fox", "[SEP] the\ud83d")
"""texts of one run"""
SOUGHT = "the fox"
"""a text that goes with each of `LISTED`"""
ROWS = "(int64[batch, n] input_ids, int64[batch, n] attention_mask, int64[batch, n] token_type_ids)"
SUMS = """<int64[1] last = {1}, int64[1] depth = {2}, float ten = {10}> {
    whole = Mul (input_ids, attention_mask) known = Cast <to = 1> (whole) mask = Cast <to = 1> (attention_mask)
    sum = ReduceSum (known, last) size = ReduceSum (mask, last) mean = Div (sum, size)"""
LISTS: Mapping[str, tuple[str, OutputTable]] = {
    "embedder": (
        f"""{ROWS} => (float[batch, n, 2] result) {SUMS} first = Unsqueeze (known, depth)
        second = Unsqueeze (mask, depth) result = Concat <axis = 2> (first, second) }}""",
        Embedding(pooling="mean"),
    ),
    "topics": (
        f"{ROWS} => (float[batch, 3] result) {SUMS} "
        "less = Div (mean, ten) result = Concat <axis = 1> (mean, less, size) }",
        Classes(activation="none", top_k=2, labels=Path("topics.txt")),
    ),
    "judge": (
        f"""{ROWS} => (float[batch, 1] result) {SUMS} both = Mul (whole, token_type_ids) all = Cast <to = 1> (both)
        of_second = ReduceSum (all, last) result = Div (of_second, ten) }}""",
        PairScore(activation="none"),
    ),
    "rows": (
        f"{ROWS} => (float[batch, 2] result, int64[batch, n] ids) "
        f"{SUMS} result = Concat <axis = 1> (mean, size) ids = Identity (input_ids) }}",
        Embedding(),
    ),
}
"""nets for several texts whose numbers do not depend on padding, and the table of `result`"""


def lists(folder: Path) -> tuple[Model, ...]:
    """The models of `LISTS`: `judge` takes a query and a document, the others a text."""
    made = []
    for name, (net, table) in LISTS.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "topics.txt").write_text("one\ntwo\nthree\n", encoding="utf-8", newline="\n")
        names = ("query", "document") if name == "judge" else ("text",)
        text = StringInput(tokenizer=changed(bert(strip_accents=False), place), names=names, batch=True)
        model = loaded(place, onnx_model(net, opsets={"": 18}, ir_version=10), name)
        made.append(attach(model, Tables(inputs={"input_ids": text}, outputs={"result": table.within(place)})).model)
    return tuple(made)


@cache
def listed() -> Mapping[str, list[list[float]]]:
    """Numbers for each of `LISTED`, each in a run of its own: of `embedder`, the scores of `topics`, the ids of `rows`
    without padding, and the score of `judge` for `SOUGHT`."""
    tokenizer = bert(strip_accents=False)
    readable = ["".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text) for text in LISTED]
    ids = [tokenizer.encode(text).ids for text in readable]
    means = [(sum(each) / len(each), len(each)) for each in ids]
    pairs = [tokenizer.encode(SOUGHT, text) for text in readable]
    scores = [sum(number for number, role in zip(each.ids, each.type_ids, strict=True) if role) / 10 for each in pairs]
    return {
        "embedder": [[mean / np.hypot(mean, 1), 1 / np.hypot(mean, 1)] for mean, _ in means],
        "topics": [[mean, mean / 10, size] for mean, size in means],
        "rows": [list(map(float, each)) for each in ids],
        "judge": [[score] for score in scores],
    }


def topics() -> list[str]:
    """Labels of each of `LISTED`, as a program prints a list of them."""
    names = ("one", "two", "three")
    best = [sorted(range(3), key=lambda place: (-each[place], place))[:2] for each in listed()["topics"]]
    return [f"[{', '.join(names[place] for place in each)}]" for each in best]


def ranked(times: int) -> list[list[float]]:
    """Place and score of `LISTED`, so many times in a row, best first for `SOUGHT`."""
    scores = [score for (score,) in listed()["judge"]] * times
    return [[float(place), scores[place]] for place in sorted(range(len(scores)), key=lambda at: (-scores[at], at))]


def same(found: Any, wanted: list[list[float]]) -> None:
    """Fails unless the numbers of every text are the same, up to rounding."""
    assert [len(each) for each in found] == [len(each) for each in wanted]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6)


@cache
def ids() -> tuple[tuple[int, ...], ...]:
    """Token ids of `AWKWARD`, of Hugging Face's tokenizers, which take U+FFFD for a lone surrogate."""
    tokenizer = bert(strip_accents=False)
    readable = ["".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text) for text in AWKWARD]
    return tuple(tuple(tokenizer.encode(text).ids) for text in readable)


def spans() -> list[tuple[str, str, int, int, float]]:
    """Label, text, first and last UTF-16 unit, and score of each part of `TAGGED`."""
    return [
        (
            LABELS[int(digit)] if int(digit) < len(LABELS) else "",
            TAGGED[place : place + 2],
            len(utf16(TAGGED[:place])),
            len(utf16(TAGGED[: place + 2])),
            float(np.float32(int(digit) / 10)),
        )
        for place, digit in enumerate(TAGGED)
        if digit in "0123456789"
    ]


def vectors() -> NDArray[np.float32]:
    """float [12, 33]: some are alike, one is zero."""
    made = ((np.arange(12 * 33).reshape(12, 33) * 7919 + 3) % 1000 - 500).astype(np.float32) / np.float32(7)
    made[4], made[7], made[9] = 0, made[2], -made[2]
    return made


def cosines() -> list[float]:
    """Of the third vector and each: sums in double precision, from the first number on."""

    def dot(first: Any, second: Any) -> float:
        total = 0.0
        for one, other in zip(first.tolist(), second.tolist(), strict=True):
            total += one * other
        return total

    query = vectors()[2]
    lengths = [np.sqrt(dot(query, query)) * np.sqrt(dot(each, each)) for each in vectors()]
    return [
        float(np.float32(dot(query, each) / length)) if length else 0.0
        for each, length in zip(vectors(), lengths, strict=True)
    ]


def nearest() -> list[int]:
    """The places of all vectors, those first that are most like the third."""
    found = cosines()
    return sorted(range(len(found)), key=lambda place: (-found[place], place))
