"""Tokenizers of every family in the graph give the tokens of Hugging Face's tokenizers."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, pre_tokenizers

from packager.contract.tokenization import patterns
from packager.contract.tokenization.definition import Split
from packager.contract.tokenization.reading import splitters
from tests.cases.drawn import drawn
from tests.cases.text_families import CORPUS, EXPRESSIONS, SPECIAL, Pieces, byte_level, characters, unigram
from tests.cases.tokenizer_graphs import CODE_POINTS, Graph, changed, same, telling_scalars
from tests.nights import AT_NIGHT, examples

FAMILIES: Mapping[str, Callable[[], Tokenizer]] = {
    "GPT-2": byte_level,
    "GPT-2, trimmed": lambda: byte_level(trims=True),
    "GPT-2, prefix, trimmed": lambda: byte_level(prefix=True, trims=True),
    "RoBERTa": lambda: byte_level(prefix=True, trims=True, roberta=True),
    "RoBERTa, not trimmed": lambda: byte_level(roberta=True),
    "cl100k": lambda: byte_level("cl100k"),
    "Qwen": lambda: byte_level("qwen", trims=True),
    "o200k": lambda: byte_level("o200k"),
    "Unigram": unigram,
    "Unigram, bytes": lambda: unigram(falls_back=True),
    "Llama 2": characters,
    "BPE of characters": lambda: characters(falls_back=False),
}
ODD = (
    "'\u0130\u0131\u017f\u212a\ufb01\u01c5\u0300\u0345\u200d\u00ad\u2028\u0085\u00a0\u3000\ufffd\0\u0e33"
    "\u1100\u1161\u11a8\uac01\u00bd"
)
WORDS = [word for line in CORPUS for word in line.split()]
BLANKS = (" ", "  ", "    ", "\n", "\r\n", "\n\n", "\t", " \n", "\n ")
ENDINGS = ("'s", "'S", "'ll", "'LL", "'\u017f", "'re", "'d", "'x")
PIECES = st.sampled_from([*WORDS, *BLANKS, *ODD, *ENDINGS, *SPECIAL, "<s", "s>", "1", "23456"])
MIXED = st.lists(st.one_of(PIECES, st.characters(exclude_categories=["Cs"]))).map("".join)


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Tokenizer]:
    reference = FAMILIES[request.param]()
    return Graph(changed(reference, tmp_path_factory.mktemp("family"))), reference


def test_any_text_gives_the_same_tokens(family: tuple[Graph, Tokenizer]) -> None:
    for text in drawn(MIXED, examples(300)):
        same(*family, text)


TWINS = ("GPT-2, trimmed", "GPT-2, prefix, trimmed", "RoBERTa, not trimmed", "Unigram", "BPE of characters")
"""Families that cut texts as others do."""
LARGE = pytest.mark.parametrize(
    "family", [name for name in FAMILIES if name not in TWINS or AT_NIGHT], indirect=True, scope="module"
)


@LARGE
def test_code_points_of_all_unicode_give_the_same_tokens(family: tuple[Graph, Tokenizer]) -> None:
    chosen = telling_scalars()[::9]
    for first in range(0, len(chosen), 4096):
        same(*family, "".join(f"a{each}b {each} " for each in chosen[first : first + 4096]))


def test_chosen_texts_give_the_same_tokens(family: tuple[Graph, Tokenizer]) -> None:
    for text in ("", " ", "  ", "   ", "\0", "a ", *CORPUS, *SPECIAL, "<s></s><s> a</s>", "\n" * 200, "a" * 5000):
        same(*family, text)


@LARGE
def test_a_hundred_thousand_characters_give_the_same_tokens(family: tuple[Graph, Tokenizer]) -> None:
    same(*family, " ".join(CORPUS * 160))


@pytest.fixture(scope="module", params=["RoBERTa", "GPT-2, trimmed", "cl100k"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Tokenizer]:
    reference = FAMILIES[request.param]()
    return Graph(changed(reference, tmp_path_factory.mktemp("pair")), is_pair=True), reference


TWO = st.tuples(MIXED, MIXED)


def test_pairs_give_the_same_tokens(pair: tuple[Graph, Tokenizer]) -> None:
    for first, second in drawn(TWO, examples(300)):
        same(*pair, first, second)


BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
SPLITS = [
    *((name, text, "isolated", False) for name, text in EXPRESSIONS.items() if text),
    ("o200k", EXPRESSIONS["o200k"], "removed", True),
    ("GPT-2", splitters.GPT2, "isolated", False),
    *(("words", r"\w+|[^\w\s]+", each, inverted) for each in BEHAVIORS for inverted in (False, True)),
    ("blanks", r"\s", "merged_with_previous", False),
    (
        "possessive",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s+(?!\S)|\s",
        "isolated",
        False,
    ),
    ("counted", r"\d{2,4}|[a-z&&[^aeiou]]{1,2}x?", "isolated", False),
    ("brackets", r"[\w&&\w]+|[^\W\d]|\W", "isolated", False),
    ("ahead", r"a(?=b)b?|\s+(?!\S)|[^a]b*c", "isolated", False),
]


@pytest.fixture(scope="module", params=SPLITS, ids=lambda each: f"{each[0]} {each[2]} {each[3]}")
def split(request: pytest.FixtureRequest) -> tuple[Pieces, pre_tokenizers.PreTokenizer]:
    _, text, behavior, is_inverted = request.param
    named = "".join(each.title() for each in behavior.split("_"))
    pieces = Pieces(Split(pattern=patterns.parsed(text), behavior=named, is_inverted=is_inverted))
    return pieces, pre_tokenizers.Split(Regex(text), behavior, is_inverted)


LETTERS = st.text(st.sampled_from("abcxyz 12\n\t\rAB'._\u00e9\u0301\u00a0\u6771"), max_size=20)


TEXTS = st.one_of(MIXED, LETTERS)


def test_expressions_split_as_those_of_oniguruma(split: tuple[Pieces, pre_tokenizers.PreTokenizer]) -> None:
    pieces, reference = split
    for text in drawn(TEXTS, examples(300)):
        assert pieces(text) == wanted(reference, text), text


@CODE_POINTS
@pytest.mark.parametrize("expression", [text for text in EXPRESSIONS.values() if text])
def test_every_code_point_is_in_the_same_classes(expression: str, chosen: Callable[[], Sequence[str]]) -> None:
    pieces = Pieces(Split(pattern=patterns.parsed(expression), behavior="Isolated"))
    reference = pre_tokenizers.Split(Regex(expression), "isolated")
    for first in range(0, len(chosen()), 4096):
        text = "".join(f"a{each}b " for each in chosen()[first : first + 4096])
        assert pieces(text) == wanted(reference, text)


def wanted(reference: pre_tokenizers.PreTokenizer, text: str) -> Sequence[tuple[int, int]]:
    return [places for piece, places in reference.pre_tokenize_str(text) if piece]
