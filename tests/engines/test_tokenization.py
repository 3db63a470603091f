"""Tokenizers in the graph give the tokens of Hugging Face's tokenizers."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors

from packager.contract import tokenization
from packager.core.errors import ConfigError
from tests.cases.tokenizer_graphs import CLS, CODE_POINTS, SEP, WORDS, Graph, bert, changed, same
from tests.nights import examples

TEXTS = (
    "",
    " ",
    "\0",
    "The quick brown fox jumps over the lazy dog.",
    "unbelievable, unbelievabled",
    "a" * 12 + " " + "a" * 13 + " " + "é" * 13,
    "[SEP]the[MASK] [CLS][CLS] [sep] [MASK",
    "café e\u0301 E\u0301 ÉÉ İi \u0131",
    "東京 日本語 각 가\u11a8",
    "don't-do (that)!? \U0001f600\U0001f600",
    "کتاب x\u200dy\u00ady \ufffd z",
    "the\u00a0fox\u2003dog\tdog\r\ndog",
)


@pytest.mark.parametrize("flags", list(product((False, True), repeat=4)), ids=str)
def test_every_setting_of_berts_normalizer_gives_the_same_tokens(flags: tuple[bool, ...], tmp_path: Path) -> None:
    cleans, splits, strips, lowers = flags
    reference = bert(clean_text=cleans, handle_chinese_chars=splits, strip_accents=strips, lowercase=lowers)
    graph = Graph(changed(reference, tmp_path))
    for text in TEXTS:
        same(graph, reference, text)


@pytest.fixture(scope="module")
def uncased(tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Tokenizer]:
    reference = bert()
    return Graph(changed(reference, tmp_path_factory.mktemp("uncased"))), reference


PIECES = st.sampled_from([*WORDS.split(), "[SEP]", "[CLS]", " ", "  ", "\n", "jumps", "THE", "[", "]"])
MIXED = st.lists(st.one_of(PIECES, st.characters(exclude_categories=["Cs"]))).map("".join)


@settings(max_examples=examples(300), deadline=None)
@given(text=MIXED)
def test_any_text_gives_the_same_tokens(uncased: tuple[Graph, Tokenizer], text: str) -> None:
    same(*uncased, text)


MARKS = st.sampled_from(
    [*"ae \u00e9\u0340\u0344", *"\u0301\u0345\u0334\u0327", *"\u302e\u1baa\U0001d16d\U0001d16e\U00011235"]
)


@settings(max_examples=examples(200), deadline=None)
@given(text=st.lists(MARKS, max_size=12).map("".join))
def test_marks_that_stay_come_from_where_they_are_sorted_to(uncased: tuple[Graph, Tokenizer], text: str) -> None:
    """Removed marks (Mn) before spacing ones (Mc) of a lower class, which decomposition swaps."""
    same(*uncased, text)


@CODE_POINTS
def test_every_code_point_gives_the_same_tokens(
    uncased: tuple[Graph, Tokenizer], chosen: Callable[[], Sequence[str]]
) -> None:
    graph, reference = uncased
    for first in range(0, len(chosen()), 4096):
        same(graph, reference, "".join(f"a{each}b " for each in chosen()[first : first + 4096]))


def test_a_megabyte_gives_the_same_tokens(uncased: tuple[Graph, Tokenizer]) -> None:
    same(*uncased, "The quick brown fox jumps over unbelievable [MASK] dogs. " * 18_000)
    same(*uncased, "a" * 1_000_000)


def test_lone_surrogates_are_replacement_characters(tmp_path: Path) -> None:
    graph = Graph(changed(bert(clean_text=False), tmp_path))
    assert graph("a \ud83d fox")["ids"] == graph("a \ufffd fox")["ids"]


def test_negative_code_points_are_nothing(uncased: tuple[Graph, Tokenizer]) -> None:
    import numpy

    graph, _ = uncased
    (ids, *_rest) = graph.session.run(None, {"text": numpy.array([-1], numpy.int32)})
    assert ids.tolist() == [CLS, SEP]


@pytest.mark.parametrize("texts", [("the fox", "a dog"), ("", ""), ("[SEP]", "the [SEP] fox"), ("a", "")], ids=str)
def test_pairs_have_two_types(tmp_path: Path, texts: tuple[str, str]) -> None:
    reference = bert()
    same(Graph(changed(reference, tmp_path), is_pair=True), reference, *texts)


@pytest.mark.parametrize(
    ("normalizer", "splitter"),
    [
        (normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]), None),
        (normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase(), normalizers.StripAccents()]), None),
        (normalizers.Lowercase(), pre_tokenizers.WhitespaceSplit()),
        (
            normalizers.Lowercase(),
            pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("isolated")]),
        ),
        (
            normalizers.Lowercase(),
            pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Digits(individual_digits=True)]),
        ),
    ],
    ids=str,
)
def test_other_normalizers_and_splitters_give_the_same_tokens(tmp_path: Path, normalizer: Any, splitter: Any) -> None:
    reference = bert()
    reference.normalizer = normalizer
    reference.pre_tokenizer = splitter or reference.pre_tokenizer
    graph = Graph(changed(reference, tmp_path))
    for text in (*TEXTS, "12 ½ 1\u0661", "ﬁ ǅ Å"):
        same(graph, reference, text)


def test_berts_own_post_processor_and_vocabulary_file_give_the_same_tokens(tmp_path: Path) -> None:
    reference = bert()
    reference.post_processor = processors.BertProcessing(("[SEP]", SEP), ("[CLS]", CLS))
    same(Graph(changed(reference, tmp_path), is_pair=True), reference, "the fox", "dogs")
    path = tmp_path / "vocab.txt"
    tokens = sorted(reference.get_vocab().items(), key=lambda each: each[1])
    lower = [token if token.startswith("[") else token.lower() for token, _ in tokens]
    path.write_text("\n".join(lower) + "\n", encoding="utf-8")
    same(Graph(path), reference, "The lazy [MASK] dog")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"normalizer": {"type": "New"}}, "normalizer: 'New' is not supported"),
        (
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
            "the table of the normalizer is damaged",
        ),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "not base64"),
        (
            {"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "last"}},
            "the prepend_scheme 'last' is not supported",
        ),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, "model: 'WordPiece' with a splitter into bytes is not supported"),
        ({"post_processor": {"type": "New"}}, "post_processor: 'New' is not supported"),
        ({"model": {"type": "New", "vocab": {}}}, "model: 'New' is not supported"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": ["a b"]}}, "'a' of the merge 'a b' is not in the vocabulary"),
        (
            {"model": {"type": "BPE", "vocab": {}, "merges": [], "byte_fallback": True}},
            "byte_fallback without all bytes",
        ),
        ({"model": {"type": "BPE", "vocab": {"a": 2**20}, "merges": []}}, "an id is larger than 1048576"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1}}, "dropout"),
        ({"model": {"type": "Unigram", "vocab": [["a"]], "unk_id": 0}}, "['a'] is not a token with its score"),
        ({"model": {"type": "Unigram", "vocab": [["a", -1.0]]}}, "'unk_id' is missing"),
        ({"model": {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 1}}, "unk_id 1 is not a token"),
        ({"model": {"type": "WordLevel", "vocab": {"a": 0}}}, "'<unk>' is not in the vocabulary"),
        ({"model": {"type": "WordPiece", "vocab": {"a": "b"}}}, "the id of 'a' is 'b'"),
        ({"model": {"type": "WordPiece", "vocab": {"a": 0}}}, "'[UNK]' is not in the vocabulary"),
        (
            {"added_tokens": [{"id": 7, "content": "é", "normalized": True}]},
            "'é', which is normalized by these steps, is not",
        ),
        ({"added_tokens": [{"id": 7}]}, "'content' is missing"),
        ({"added_tokens": [7]}, "an entry of 'added_tokens' is not an object"),
        ({"truncation": {"max_length": "x"}}, "'max_length' is not int"),
        ({"model": None}, "'model'"),
    ],
    ids=str,
)
def test_what_is_not_known_is_refused_by_name(tmp_path: Path, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        tokenization.read(changed(bert(), tmp_path, **parts))
    assert message in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", b"{", "not JSON"),
        ("tokenizer.json", b"[" * 100_000, "not JSON"),
        ("tokenizer.json", b'{"do_lower_case": true}', "it has no 'model'"),
        ("tokenizer.json", b"\xff", "not UTF-8"),
        ("vocab.txt", b"a\nb\n", "'[CLS]' is missing"),
        ("spiece.vocab", b"", "not a known tokenizer file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"tokenizer|vocab|spiece") as refused:
        tokenization.read(path)
    assert message in refused.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        tokenization.read(tmp_path / "tokenizer.json")
