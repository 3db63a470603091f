"""SentencePiece's files, against its own library."""

import io
import itertools
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.contract import tokenization
from packager.contract.tokenization.reading import sentencepiece as reading
from packager.contract.tokenization.reading import sentencepiece_proto
from packager.core.errors import ConfigError
from tests.cases.drawn import drawn
from tests.cases.tokenizer_graphs import Graph
from tests.nights import examples

SENTENCES = (
    "the quick brown fox jumps over the lazy dog",
    "the dog and the fox are friends, and the fox is quick",
    "she sells sea shells by the sea shore; the shells she sells are sea shells",
    "Höhe und Tiefe der Berge und Täler",
    "東京は日本の首都です。 東京と京都",
    "1 2 3 4 5 12 123 1234 12345",
)
RULES = "a b\tX\na\ty\nagh\tg\nh\t\nz\tz z\n"
"""texts that become others"""
MODELS: Mapping[str, Mapping[str, Any]] = {
    "unigram": {"model_type": "unigram"},
    "pairs": {"model_type": "bpe"},
    "characters": {"model_type": "char", "normalization_rule_name": "identity"},
    "words": {"model_type": "word"},
    "words with symbols": {
        "model_type": "word",
        "user_defined_symbols": ["<sep>", "ea", "\u2581the", "\u2581\u2581"],
        "normalization_rule_tsv": RULES,
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
    },
    "unigram with bytes": {
        "model_type": "unigram",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "vocab_size": 330,
    },
    "pairs with bytes": {
        "model_type": "bpe",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "vocab_size": 380,
    },
    "unigram with symbols": {
        "model_type": "unigram",
        "user_defined_symbols": ["<sep>", "<se", "ea", "京", "\u2581\u2581"],
        "normalization_rule_tsv": RULES,
        "add_dummy_prefix": False,
    },
    "pairs with symbols": {
        "model_type": "bpe",
        "user_defined_symbols": ["<sep>", "<se", "ea", "京", "\u2581\u2581"],
        "normalization_rule_tsv": RULES,
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
    },
    "rules that leave nothing": {
        "model_type": "unigram",
        "normalization_rule_tsv": RULES,
        "remove_extra_whitespaces": False,
    },
    "characters with symbols and bytes": {
        "model_type": "char",
        "byte_fallback": True,
        "user_defined_symbols": ["<sep>", "the"],
        "normalization_rule_tsv": RULES,
        "vocab_size": 330,
    },
}
PIECES = ("<sep>", "<se", "ea", "the", "a b", "agh", "  ", " ", "\u2581", "\u3000", "\u00a0", "\u0001", "e\u0301", "¨")
TEXTS = st.lists(
    st.sampled_from(
        [*PIECES, *"abefghlnostuxyz", *"東京都①ﬁＡガ\u3099ö", "\U0001f600", "\n", "\t", "<s>", "<unk>", "<0x0A>"]
    )
    | st.characters(exclude_categories=["Cs"]),
    max_size=24,
).map("".join)


class Pair:
    """A file's tokenizer in the library and in a graph."""

    def __init__(self, path: Path) -> None:
        self.library = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.graph = Graph(path)

    def check(self, text: str) -> None:
        assert self.graph(text)["ids"] == self.library.encode(text), text


def trained(path: Path, **options: Any) -> Path:
    rules = options.pop("normalization_rule_tsv", None)
    if rules:
        lines = (line.split("\t") for line in rules.splitlines())
        table = path.with_suffix(".tsv")
        table.write_text(
            "".join("\t".join(" ".join(f"{ord(each):x}" for each in text) for text in line) + "\n" for line in lines)
        )
        options["normalization_rule_tsv"] = str(table)
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 2),
        model_writer=made,
        minloglevel=2,
        hard_vocab_limit=False,
        **{"vocab_size": 90, **options},
    )
    path.write_bytes(made.getvalue())
    return path


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Pair]:
    folder = tmp_path_factory.mktemp("sentencepiece")
    return cache(lambda name: Pair(trained(folder / f"{name.replace(' ', '-')}.model", **MODELS[name])))


@pytest.mark.parametrize("name", MODELS)
def test_a_trained_model_gives_the_tokens_of_its_library(name: str, pairs: Callable[[str], Pair]) -> None:
    pair = pairs(name)
    for text in (*drawn(TEXTS, examples(300)), *SENTENCES, *MADE, " ".join(SENTENCES) * 4):
        pair.check(text)


MADE = (
    "",
    " ",
    "   ",
    "h",
    "hh",
    " h ",
    "\u0001",
    "\u2581",
    "a\u2581 ",
    "a\u2581\u2581",
    " a  b   c ",
    "zz",
    "z a b",
    "hea",
)
"""texts of which little or nothing is left, and blanks"""


def model(
    pieces: Mapping[str, tuple[float, int]], *, trainer: Mapping[str, Any] | None = None, **normalizer: Any
) -> Any:
    """A file's message with these pieces: text -> score and type."""
    made = sentencepiece_proto.model()()
    for text, (score, kind) in pieces.items():
        made.pieces.add(piece=text.encode(), score=score, type=kind)
    for key, value in (trainer or {}).items():
        setattr(made.trainer_spec, key, value)
    made.normalizer_spec.add_dummy_prefix = False
    for key, value in normalizer.items():
        setattr(made.normalizer_spec, key, value)
    return made


def written(made: Any, folder: Path) -> Path:
    path = folder / "tokenizer.model"
    path.write_bytes(made.SerializeToString(deterministic=True))
    return path


LETTERS = {"<unk>": (0.0, 2), "<s>": (0.0, 3)}
VOCABULARY = st.dictionaries(
    st.text("abc", min_size=2, max_size=5), st.sampled_from([0.0, -1.0, -1.5, -2.0, -3.3]), min_size=1, max_size=12
)
SCORES = st.tuples(*[st.sampled_from([-1.0, -2.2, -4.0])] * 3)


@pytest.mark.parametrize("kind", [reading.UNIGRAM, reading.PAIRS])
def test_pieces_of_equal_scores_are_chosen_as_by_the_library(kind: int, tmp_path: Path) -> None:
    @settings(max_examples=examples(150), deadline=None)
    @given(
        vocabulary=VOCABULARY,
        letters=SCORES,
        symbols=st.sets(st.text("abc", min_size=1, max_size=3), max_size=2),
        texts=st.lists(st.text("abcd \u00e9", max_size=30), min_size=4, max_size=12),
    )
    def check(vocabulary: Mapping[str, float], letters: tuple[float, ...], symbols: set[str], texts: list[str]) -> None:
        normal = {
            text: (score, reading.NORMAL)
            for text, score in {**vocabulary, **dict(zip("abc", letters, strict=True))}.items()
        }
        defined = dict.fromkeys(symbols, (0.0, reading.DEFINED))
        made = model({**LETTERS, **normal, **defined, "e": (-9.0, 1)}, trainer={"model_type": kind})
        pair = Pair(written(made, tmp_path))
        for text in texts:
            pair.check(text)

    check()


@pytest.mark.parametrize("kind", [reading.UNIGRAM, reading.WORDS, reading.CHARACTERS])
def test_unused_pieces_are_found_as_by_the_library(kind: int, tmp_path: Path) -> None:
    """In no text."""
    normal = {text: (score, reading.NORMAL) for text, score in (("a", -1.0), ("bc", -1.0), ("b", -3.0), ("c", -2.0))}
    unused = dict.fromkeys(("ab", "d", "abc"), (-0.5, reading.UNUSED))
    pair = Pair(written(model({**LETTERS, **normal, **unused}, trainer={"model_type": kind}), tmp_path))
    for size in range(6):
        for text in itertools.product("abcd", repeat=size):
            pair.check("".join(text))


TOGETHER = 16
"""Longer texts that are one: what is unknown keeps their merges apart."""


@pytest.mark.parametrize(
    "scores", [(-1.0,) * 6, (-1.0, -1.0, -2.0, -2.0, -3.0, -3.0), (-6.0, -5.0, -4.0, -3.0, -2.0, -1.0)]
)
def test_merges_are_in_the_order_of_scores_and_from_the_left(scores: tuple[float, ...], tmp_path: Path) -> None:
    longer = dict(zip(("ab", "bc", "abc", "ca", "aa", "cab"), ((score, 1) for score in scores), strict=True))
    letters = dict.fromkeys("abc", (-9.0, 1))
    pair = Pair(written(model({**LETTERS, **letters, **longer}, trainer={"model_type": reading.PAIRS}), tmp_path))
    for size in range(8):
        texts = ["".join(text) for text in itertools.product("abc", repeat=size)]
        together = TOGETHER if size > 4 else 1
        for first in range(0, len(texts), together):
            pair.check("?".join(texts[first : first + together]))


def test_sums_of_scores_are_single_floats(tmp_path: Path) -> None:
    """In exact numbers the two orders of `a` and `aa` are equal."""
    pieces = {"<unk>": (0.0, 2), "b": (-8.323094367980957, 1), "a": (-2.1716766357421875, 1), "aa": (-4.3, 1)}
    pair = Pair(written(model(pieces), tmp_path))
    for before in range(40):
        for after in range(1, 8):
            pair.check("b" * before + "a" * after)


def test_the_padding_is_the_piece_of_that_name(tmp_path: Path) -> None:
    path = trained(tmp_path / "padded.model", pad_id=3, normalization_rule_name="identity")
    assert tokenization.read(path).padding.id == 3
    path = trained(tmp_path / "bare.model", normalization_rule_name="identity")
    assert tokenization.read(path).padding.id == 0


def test_all_pieces_have_their_text(tmp_path: Path) -> None:
    path = trained(tmp_path / "pairs.model", model_type="bpe", normalization_rule_name="identity")
    library = sentencepiece.SentencePieceProcessor(model_file=str(path))
    known = tokenization.read(path).tokens()
    assert known == {number: library.id_to_piece(number) for number in range(library.get_piece_size())}


PLAIN = {**LETTERS, "a": (-1.0, 1), "b": (-2.0, 1)}
REFUSED: Mapping[str, tuple[Any, str]] = {
    "other": (model(PLAIN, trainer={"model_type": 5}), "model_type 5"),
    "words": (
        model(PLAIN, trainer={"model_type": reading.WORDS, "byte_fallback": True}),
        "byte_fallback of words is not supported",
    ),
    "suffix": (model(PLAIN, trainer={"treat_whitespace_as_suffix": True}), "treat_whitespace_as_suffix"),
    "unused": (
        model({**PLAIN, "c": (0.0, reading.UNUSED)}, trainer={"model_type": reading.PAIRS}),
        "a BPE model with unused pieces",
    ),
    "unknown type": (model({**PLAIN, "c": (0.0, 7)}), "'c', a piece of type 7"),
    "unknown character": (
        model({**PLAIN, "ac": (-3.0, 1)}, trainer={"model_type": 2}),
        "'ac', a piece with a character that is none",
    ),
    "no unknown": (model({"a": (0.0, 1)}), "not one piece for what is unknown"),
    "nothing normal": (model(LETTERS), "not one piece for what is unknown, and others"),
    "no bytes": (model(PLAIN, trainer={"byte_fallback": True}), "0 pieces of bytes, and byte_fallback = True"),
    "bytes": (model({**PLAIN, "<0x0A>": (0.0, 6)}), "1 pieces of bytes, and byte_fallback = False"),
    "spaces": (model({**PLAIN, "a  b": (0.0, 4)}), "spaces side by side"),
    "table": (model(PLAIN, precompiled_charsmap=b"\x04\0\0\0\0"), "table of the normalizer is damaged"),
    "score": (model({**PLAIN, "c": (float("nan"), 1)}), "'c' with a score of nan is not a piece"),
    "zero": (model({**PLAIN, "\0": (0.0, 1)}), "is not a piece"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_by_name(name: str, tmp_path: Path) -> None:
    made, words = REFUSED[name]
    refused(written(made, tmp_path), words)


def refused(path: Path, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        tokenization.read(path)
    assert words in str(error.value)
    assert str(path) in str(error.value)
    assert error.value.hint


def test_a_denormalizer_is_refused(tmp_path: Path) -> None:
    made = model(PLAIN)
    made.denormalizer_spec.precompiled_charsmap = b"x"
    refused(written(made, tmp_path), "a denormalizer")


def test_two_pieces_of_one_text_are_refused(tmp_path: Path) -> None:
    made = model(PLAIN)
    made.pieces.add(piece=b"a", score=-1.0)
    refused(written(made, tmp_path), "'a' is two pieces")


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    made = model(PLAIN)
    made.pieces.add(piece=b"\xff", score=-1.0)
    refused(written(made, tmp_path), "is not UTF-8")


def test_a_normalizer_that_begins_with_the_prefix_is_refused(tmp_path: Path) -> None:
    path = trained(tmp_path / "rules.model", normalization_rule_tsv="\u2581x\ty\n", remove_extra_whitespaces=False)
    refused(path, "begins with '\u2581'")


def test_more_pieces_than_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_TOKENS", 3)
    refused(written(model(PLAIN), tmp_path), "a vocabulary of that size")


@pytest.mark.parametrize("content", [b"", b"\x08\x01", b"\x0a\xff", b"not a model of anything"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.model"
    path.write_bytes(content)
    refused(path, "a model of SentencePiece")
