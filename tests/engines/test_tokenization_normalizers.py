"""Normalizers in the graph give the texts of Hugging Face's tokenizers, and the places that they come from."""

import unicodedata
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers

from packager.contract.tokenization import unicode
from packager.contract.tokenization.normalizing import maps
from packager.contract.tokenization.reading import charsmaps
from packager.core.errors import ConfigError
from tests.cases.drawn import drawn
from tests.cases.tokenizer_graphs import Graph, changed, of_bytes, same
from tests.nights import examples, spread
from tests.toolchain.charsmaps import charsmap

TABLE = {
    "a": "xyz",
    "b": "",
    "ab": "!",
    "e\u0301": "\u00e9",
    "\uff21": "A",
    "\u00e9": "e\u0301\u0301",
    "\r\n": "N",
    "\u0600": "p",
    "\u00a9": "(c)",
}
NORMALIZERS: dict[str, Callable[[], normalizers.Normalizer]] = {
    "NFC": normalizers.NFC,
    "NFD": normalizers.NFD,
    "NFKC": normalizers.NFKC,
    "NFKD": normalizers.NFKD,
    "Nmt": normalizers.Nmt,
    "strip": normalizers.Strip,
    "strip left": lambda: normalizers.Strip(left=True, right=False),
    "strip right": lambda: normalizers.Strip(left=False, right=True),
    "prepend": lambda: normalizers.Prepend("\u2581\u2582"),
    "replace a character": lambda: normalizers.Replace(" ", "\u2581"),
    "replace a text": lambda: normalizers.Replace("ab", "q"),
    "replace an expression": lambda: normalizers.Replace(Regex(" {2,}"), "xyz"),
    "remove an expression": lambda: normalizers.Replace(Regex("[a-c]+"), ""),
    "table": lambda: normalizers.Precompiled(charsmap(TABLE)),
    "sequence": lambda: normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Strip(),
            normalizers.Prepend("\u2581"),
        ]
    ),
}
MARKS = [chr(point) for point in range(0x300, 0x370)]
ODD = [
    *"abcde AB1.\u00e9\u00c0\u1ec6\uff11\u00bd\ufdfa\u337f\uff21\r\n\t\u00a0\u00a9\u0600",
    *"\u1100\u1161\u11a8\uac00\uac01\u09c7\u09be\u0dd9\u0dcf\u0dca\u3099\u304b\u1b05\u1b35\ufb2c\u0958\u094d\u0915",
    *"\u200d\ufe0f\u0345\u0334\u0328\u302a",
    "e\u0301",
    "  ",
    "ab",
]
LETTERS = st.sampled_from(ODD)
COMBINING = st.tuples(st.sampled_from([*"ae\u00e9 \uac00"]), st.text(st.sampled_from(MARKS), max_size=4)).map("".join)
ANY = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(st.one_of(LETTERS, COMBINING, ANY), max_size=12).map("".join)


@pytest.fixture(scope="module", params=NORMALIZERS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Tokenizer]:
    reference = of_bytes(NORMALIZERS[request.param]())
    return Graph(changed(reference, tmp_path_factory.mktemp("normalizer"))), reference


def test_normalizers_give_the_same_texts_and_places(pair: tuple[Graph, Tokenizer]) -> None:
    for text in drawn(TEXTS, examples(400)):
        same(*pair, text)


@pytest.mark.parametrize("text", ["", " ", "  ", "\0", "a" * 5000, "e\u0301" * 3000, "\u0301" * 3000])
def test_empty_and_long_texts_are_normalized(pair: tuple[Graph, Tokenizer], text: str) -> None:
    same(*pair, text)


REMOVING: dict[str, Callable[[], normalizers.Normalizer]] = {
    **NORMALIZERS,
    "BERT's": normalizers.BertNormalizer,
    "accents": normalizers.StripAccents,
    "one after the other": lambda: normalizers.Sequence([normalizers.Nmt(), normalizers.Strip(), normalizers.NFD()]),
}
SPLITTERS: dict[str, Callable[[], list[pre_tokenizers.PreTokenizer]]] = {
    "alone": list,
    "behind blanks": lambda: [pre_tokenizers.WhitespaceSplit()],
    "behind a removed letter": lambda: [pre_tokenizers.Split("c", "removed")],
}


@pytest.mark.parametrize(("normalizer", "splitters"), spread([*product(REMOVING, SPLITTERS)], 4))
def test_a_mark_of_the_first_piece_precedes_only_what_the_given_text_begins_with(
    normalizer: str, splitters: str, tmp_path: Path
) -> None:
    reference = of_bytes(REMOVING[normalizer]())
    first = pre_tokenizers.Metaspace(prepend_scheme="first")
    reference.pre_tokenizer = pre_tokenizers.Sequence([*SPLITTERS[splitters](), first])
    reference.add_special_tokens([AddedToken("e\u0301e", lstrip=True), AddedToken("AB", normalized=True)])
    graph = Graph(changed(reference, tmp_path))
    for text in (
        " a",
        "\0a",
        "\u0301a",
        "bb a",
        "ba",
        "ca",
        "  ",
        "a",
        "e\u0301e a",
        "ABa",
        *drawn(TEXTS, examples(40)),
    ):
        same(graph, reference, text)


def test_a_long_row_of_marks_is_sorted() -> None:
    """Of the order of classes, and of code points of one class: what the graph does with numbers of three digits."""
    classes = unicode.combining_classes()
    known = {point: unicodedata.combining(chr(point)) for point in classes}
    ordered = sorted((known[point], number) for point, number in classes.items() if known[point])
    numbers = [number for _, number in ordered]
    assert numbers == sorted(numbers)


def test_no_second_part_of_a_composite_begins_another_one() -> None:
    """The rounds of composition rely on it: a starter that is taken never takes another one in the same round."""
    pairs = unicode.compositions()
    seconds = {second for _, second in pairs} - unicode.combining_classes().keys()
    assert seconds
    assert not seconds & {first for first, _ in pairs}


def test_maps_are_composed_of_those_that_are_given_whatever_was_composed_before() -> None:
    swaps = [{1: (2, shift)} for shift in range(2, 2 + 2 * maps.KEPT)]
    for _ in range(2):
        for each in swaps:
            (last,) = each[1][1:]
            made = maps.composed([each, {2: (3,), last: ()}])
            assert made == {1: (3,) if last > 2 else (), 2: (3,) if last > 2 else (), last: ()}
            assert maps.composed([dict(each), {2: (3,), last: ()}]) is made
        assert len(maps._kept) == maps.KEPT


def test_tables_are_read_as_they_were_written() -> None:
    assert charsmaps.read(charsmap(TABLE), "place") == TABLE


@pytest.mark.parametrize("damage", [b"", b"\0", b"\xff\xff\xff\xff", charsmap(TABLE)[:-4], charsmap(TABLE)[:500]])
def test_damaged_tables_are_refused(damage: bytes) -> None:
    with pytest.raises(ConfigError, match="the table of the normalizer is damaged") as refused:
        charsmaps.read(damage, "place")
    assert refused.value.hint


def test_a_table_that_leads_in_a_circle_is_refused() -> None:
    circle = bytearray(charsmap({"a": "b"}))
    units = len(circle) - 2 - 4
    circle[4 : 4 + units] = (ord("a") | 0 << 10).to_bytes(4, "little") * (units // 4)
    with pytest.raises(ConfigError, match="damaged"):
        charsmaps.read(bytes(circle), "place")
