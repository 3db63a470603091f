"""Models of tokenizers in the graph: byte-pair encoding of characters, Unigram, words; and added tokens."""

import importlib
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from packager.contract import tokenization
from packager.core.errors import ConfigError
from tests.cases.drawn import drawn
from tests.cases.tokenizer_graphs import CODE_POINTS, Graph, changed, same, vocabulary
from tests.nights import examples, spread

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
LETTERS = "abc\u2581\u00e9\u6771"
TEXTS = st.text(st.sampled_from([*"abcd  \u00e9\u6771\u4eac\U0001f600"]), max_size=40)


def graph(reference: Tokenizer, folder: Path) -> Graph:
    return Graph(changed(reference, folder))


def byte_pairs(seed: int, **keys: Any) -> Tokenizer:
    """Merges at random, as training makes them: of tokens that exist already."""
    chosen = random.Random(seed)
    affixes = {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"}
    prefix, suffix = (keys.get(key, "") for key in affixes)
    tokens = ["<unk>", *BYTES]
    letters = [letter + end for letter in LETTERS for end in {"", suffix}]
    letters += [prefix + each for each in letters] if prefix else []
    known = list(letters)
    merges: list[tuple[str, str]] = []
    while len(merges) < 30:
        first, second = chosen.choice(known), chosen.choice(known)
        if (suffix and first.endswith(suffix)) or not second.startswith(prefix) or (first, second) in merges:
            continue
        merges.append((first, second))
        known.append(first + second[len(prefix) :])
    ids = {token: number for number, token in enumerate(dict.fromkeys([*tokens, *known]))}
    made = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", **keys))
    made.pre_tokenizer = pre_tokenizers.Metaspace(split=bool(seed % 2))
    return made


@pytest.mark.parametrize("seed", spread(range(6), 3))
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"byte_fallback": True},
        {"fuse_unk": True},
        {"ignore_merges": True},
        {"end_of_word_suffix": "</w>"},
        {"continuing_subword_prefix": "##"},
    ],
    ids=str,
)
def test_byte_pairs_of_characters_give_the_same_tokens(keys: dict[str, Any], seed: int, tmp_path: Path) -> None:
    reference = byte_pairs(seed, **keys)
    made = graph(reference, tmp_path)
    for text in (*drawn(TEXTS, examples(60)), "abc " * 2000):
        same(made, reference, text)


def with_runs(seed: int) -> Tokenizer:
    """Runs of blanks as tokens; seed 0 merges the longest first, as Gemma does, others nearly so or in any order."""
    chosen = random.Random(seed)
    longest = chosen.randint(3, 9)
    merges = [("_" * (size - last), "_" * last) for size in range(longest, 1, -1) for last in range(1, size)]
    for _ in range(seed % 5):
        place = chosen.randrange(len(merges) - 1)
        merges[place : place + 2] = merges[place : place + 2][::-1]
    if seed > 20:
        chosen.shuffle(merges)
        merges = merges[: chosen.randint(2, len(merges))]
    others = [("_", "t"), ("t", "h"), ("_", "_t"), ("_", "__t"), ("__", "_t"), ("_", "th"), ("h", "_"), ("x", "x")]
    for each in chosen.sample(others, 5):
        merges.insert(chosen.randrange(len(merges) + 1), each)
    tokens = ["<unk>", *"_thx", *dict.fromkeys("".join(pair) for pair in merges)]
    made = set(tokens)
    merges = [pair for pair in merges if made >= set(pair)]
    ids = {token: number for number, token in enumerate(tokens)}
    return Tokenizer(models.BPE(ids, merges, unk_token="<unk>"))


AROUND = (("", ""), ("x", "th"), ("th", "t"), ("h", "x"), ("", "tt__x"), ("_x", "_h__"))


@pytest.mark.parametrize("seed", spread(range(40), 3))
def test_runs_of_a_character_give_the_same_tokens(seed: int, tmp_path: Path) -> None:
    """Runs of all lengths, with all that is AROUND them in one text: what is unknown keeps them apart. With which of
    them the text begins and ends goes by the length."""
    reference = with_runs(seed)
    made = graph(reference, tmp_path)
    for size in range(1, 40):
        ends = AROUND[size % len(AROUND) :] + AROUND[: size % len(AROUND)]
        same(made, reference, "?".join(head + "_" * size + tail for head, tail in ends))


def test_a_long_run_of_blanks_takes_few_rounds(tmp_path: Path) -> None:
    """As one piece it would take a round for each blank: hours."""
    reference = with_runs(0)
    same(graph(reference, tmp_path), reference, "_" * 200_000 + "th")


def unigram(seed: int, *, is_single: bool, **keys: Any) -> Tokenizer:
    """Tokens with scores at random, many of them equal: of 32-bit floats as SentencePiece's, or of 64-bit ones."""
    chosen = random.Random(seed)
    tokens = {"".join(chosen.choices(LETTERS, k=chosen.randrange(1, 5))) for _ in range(40)}
    scores = [-1.5, -2.25, -3.0] if is_single else [-1.1, -2.3, -0.7]
    known = [
        ("<unk>", 0.0),
        *((each, -9.5) for each in BYTES if keys),
        *((token, chosen.choice(scores)) for token in sorted(tokens)),
    ]
    made = Tokenizer(models.Unigram(known, unk_id=0, **keys))
    made.pre_tokenizer = pre_tokenizers.Metaspace(split=bool(seed % 2))
    return made


@pytest.mark.parametrize("seed", spread(range(6), 3))
@pytest.mark.parametrize("is_single", [True, False])
@pytest.mark.parametrize("keys", [{}, {"byte_fallback": True}], ids=str)
def test_unigram_gives_the_same_tokens(keys: dict[str, Any], is_single: bool, seed: int, tmp_path: Path) -> None:
    reference = unigram(seed, is_single=is_single, **keys)
    made = graph(reference, tmp_path)
    longer_than_a_block_of_steps = ("a" * 500, "abc" * 100 + "dd" + "\u00e9a" * 100)
    for text in (*drawn(TEXTS, examples(60)), *longer_than_a_block_of_steps):
        same(made, reference, text)


@settings(max_examples=examples(100), deadline=None)
@given(text=TEXTS)
def test_words_give_the_same_tokens(words: tuple[Graph, Tokenizer], text: str) -> None:
    same(*words, text)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Tokenizer]:
    reference = Tokenizer(
        models.WordLevel({"<unk>": 0, "a": 1, "abc": 2, "\u6771\u4eac": 3, "b": 4}, unk_token="<unk>")
    )
    reference.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return graph(reference, tmp_path_factory.mktemp("words")), reference


NORMALIZERS = [
    None,
    normalizers.Lowercase(),
    normalizers.Prepend("\u2581"),
    normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("q", "r"), normalizers.Strip()]),
]
CONTENTS = ["<m>", "<mm>", "abc", "B", "a b", "<s>", "_x", "mask", "M"]


@pytest.mark.parametrize("seed", spread(range(16), 3))
def test_added_tokens_are_found_with_blanks_and_borders(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    known = {
        **vocabulary(),
        **{letter: 100 + number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz<>_\u2581. ")},
    }
    reference = Tokenizer(models.WordPiece(known, unk_token="[UNK]"))
    reference.pre_tokenizer = pre_tokenizers.Whitespace()
    if normalizer := NORMALIZERS[seed % 4]:
        reference.normalizer = normalizer
    contents = chosen.sample(CONTENTS, 4)
    flags = ("lstrip", "rstrip", "single_word", "normalized")
    reference.add_tokens([AddedToken(each, **{flag: chosen.random() < 0.5 for flag in flags}) for each in contents])
    made = graph(reference, tmp_path)
    pieces = [*contents, *contents, " ", " ", "\t", "\u3000", *"xabB_.\u00e9M<>"]
    for _ in range(150):
        same(made, reference, "".join(chosen.choices(pieces, k=chosen.randrange(12))))


def test_the_second_text_of_a_pair_has_its_own_type_without_a_template(tmp_path: Path) -> None:
    reference = unigram(0, is_single=True)
    made = Graph(changed(reference, tmp_path), is_pair=True)
    same(made, reference, "abc", "cab")
    assert json.loads(reference.to_str())["post_processor"] is None


def test_merges_out_of_order_open_without_warnings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    vocabulary = {token: number for number, token in enumerate(("a", "b", "c", "ab", "abc"))}
    reference = Tokenizer(models.BPE(vocabulary, [("ab", "c"), ("a", "b")]))
    proto = tokenization.alone(tokenization.read(changed(reference, tmp_path))).SerializeToString()
    onnxruntime.InferenceSession(proto, providers=["CPUExecutionProvider"])
    assert capfd.readouterr().err == ""
    same(Graph(tmp_path / "tokenizer.json"), reference, "abcabcababc" * 20 + "a" * 100)


SPLITTERS = {
    "scripts": pre_tokenizers.UnicodeScripts(),
    "scripts of words": pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.UnicodeScripts()]),
    "pieces of three": pre_tokenizers.FixedLength(3),
    "pieces of two in scripts": pre_tokenizers.Sequence(
        [pre_tokenizers.UnicodeScripts(), pre_tokenizers.FixedLength(2)]
    ),
    "single characters": pre_tokenizers.FixedLength(1),
}
SAID = (
    "",
    " ",
    "   ",
    "  a b",
    "abc \u6771\u4eac\u30fc\u3042\u30a2 \u0430\u0431",
    "a1-\u0391 2",
    "abcdefg",
    "<s>abcd",
    "ab<s> cd",
)


SCRIPTS = st.text(
    st.sampled_from("ab 1-\u0391\u0430\u6771\u3042\u30fc\u0301\u0e01") | st.characters(exclude_categories=["Cs"])
)


@CODE_POINTS
@pytest.mark.parametrize("name", SPLITTERS)
def test_texts_are_cut_at_scripts_and_after_some_characters(
    name: str, chosen: Callable[[], Sequence[str]], tmp_path: Path
) -> None:
    """Every piece is one unknown token: ids tell how many there are, and places where."""
    reference = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    reference.pre_tokenizer = SPLITTERS[name]
    reference.add_special_tokens([AddedToken("<s>", normalized=False)])
    made = graph(reference, tmp_path)
    for text in (*drawn(SCRIPTS, examples(100)), *SAID):
        same(made, reference, text)
    points = chosen()
    for first in range(0, len(points), 2**16):
        same(made, reference, "a".join(points[first : first + 2**16]))


def test_pieces_without_characters_are_refused(tmp_path: Path) -> None:
    reference = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    with pytest.raises(ConfigError, match="'FixedLength' is not supported"):
        Graph(changed(reference, tmp_path, pre_tokenizer={"type": "FixedLength", "length": 0}))


@CODE_POINTS
def test_words_end_where_rust_says_and_not_oniguruma(chosen: Callable[[], Sequence[str]], tmp_path: Path) -> None:
    """Every code point, between letters: joiners are part of a word, fractions are not."""
    reference = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1}, unk_token="<unk>"))
    reference.pre_tokenizer = pre_tokenizers.Whitespace()
    reference.add_tokens([AddedToken("qq", single_word=True, normalized=False)])
    made = graph(reference, tmp_path)
    for text in ("a\u200da", "a\u200ca", "a\u00bda", "\u00b2\u00b3", "qq\u200d", "qq\u00bc", "\u200cqq", "qqa", "qq"):
        same(made, reference, text)
    points = chosen()
    for first in range(0, len(points), 4096):
        same(made, reference, "".join(f"a{each}a " for each in points[first : first + 4096]))


def test_characters_that_are_left_out_do_not_keep_others_from_merging(tmp_path: Path) -> None:
    """Only ids: tokenizers counts places as if such characters were not there."""
    known = {token: number for number, token in enumerate(("a", "b", "c", "ab", "abc"))}
    reference = Tokenizer(models.BPE(known, [("a", "b"), ("ab", "c")]))
    made = graph(reference, tmp_path)
    for text in ("axb", "xab", "a\u6771\u4eacbxc", "xx", "abx", "cxab"):
        assert made(text)["ids"] == reference.encode(text).ids, text
    assert made("xab")["offsets"] == [[1, 3]]


@pytest.mark.parametrize("missing", [[0x09], [0x09, 0x0A], [0xC3]])
def test_bytes_that_are_characters_need_no_token_of_their_own(missing: list[int], tmp_path: Path) -> None:
    known = {"<unk>": 0, "\t": 1, "\n": 2, "a": 3}
    known |= {f"<0x{each:02X}>": 10 + each for each in range(256) if each not in missing}
    reference = Tokenizer(models.BPE(known, [], unk_token="<unk>", byte_fallback=True))
    if missing == [0xC3]:
        with pytest.raises(ConfigError, match="byte_fallback without all bytes is not supported"):
            graph(reference, tmp_path)
        return
    made = graph(reference, tmp_path)
    for text in ("\t\n", "a\t\u00e9", "\u6771\n\U0001f600", "b"):
        same(made, reference, text)


def test_unigram_without_an_unknown_token_is_refused(tmp_path: Path) -> None:
    reference = Tokenizer(models.Unigram([("a", -1.0)], None, False))
    with pytest.raises(ConfigError, match=r"without a token for what is unknown \(unk_id\) is not supported"):
        graph(reference, tmp_path)


@pytest.mark.parametrize("kind", ["models", "normalizers", "pre_tokenizers", "processors", "decoders"])
def test_the_page_says_of_every_part_of_the_library_whether_it_is_in_the_graph(kind: str) -> None:
    module = importlib.import_module(f"tokenizers.{kind}")
    others = {"Model", "Normalizer", "PreTokenizer", "PostProcessor", "Decoder", "DecodeStream"}
    names = {name for name, value in vars(module).items() if isinstance(value, type)} - others
    page = (Path(__file__).parents[2] / "docs" / "text.md").read_text(encoding="utf-8")
    words = {
        "pre_tokenizers": "pre-tokenizers",
        "processors": "post-processors",
        "decoders": "decoders, of generated texts",
    }
    _, table = page.split("### Parts of `tokenizers`")
    (row,) = [line for line in table.splitlines() if line.startswith(f"| {words.get(kind, kind)} |")]
    assert len(names) > 3
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", row)] == []
