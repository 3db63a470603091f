"""Ranks of tiktoken, against its algorithm as its README has it."""

import base64
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from packager.contract import tokenization
from packager.contract.tokenization.reading import tiktoken
from packager.core.errors import ConfigError
from tests.cases.tokenizer_graphs import Graph
from tests.nights import examples

WORDS = [
    b"the",
    b" the",
    b"th",
    b"he",
    b" t",
    b"er",
    b"ere",
    b" there",
    b"abab",
    b"ab",
    b"ba",
    b"aba",
    "\u00e9".encode(),
]
RANKS = {token: rank for rank, token in enumerate([*(bytes([each]) for each in range(256)), *WORDS])}
TEXTS = st.text(st.sampled_from([*"abtheres  \n1\u00e9\u6771'"]), max_size=30)


def write(folder: Path, name: str = "cl100k_base.tiktoken") -> Path:
    path = folder / name
    lines = [f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in RANKS.items()]
    path.write_text("".join(lines), encoding="ascii")
    return path


def encoded(text: str) -> list[int]:
    """The lowest rank of two neighbours first, of equal ones the leftmost."""
    made: list[int] = []
    splitter = pre_tokenizers.Split(Regex(tiktoken.CL100K), "isolated")
    for piece, _ in splitter.pre_tokenize_str(text):
        parts = [bytes([each]) for each in piece.encode()]
        while piece.encode() not in RANKS:
            ranks = [(RANKS[a + b], place) for place, (a, b) in enumerate(pairwise(parts)) if a + b in RANKS]
            if not ranks:
                break
            _, place = min(ranks)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        made += [RANKS[piece.encode()]] if piece.encode() in RANKS else [RANKS[each] for each in parts]
    return made


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return Graph(write(tmp_path_factory.mktemp("ranks")))


@settings(max_examples=examples(90), deadline=None)
@given(text=TEXTS)
def test_ranks_give_the_tokens_of_tiktoken(graph: Graph, text: str) -> None:
    assert graph(text)["ids"] == encoded(text)


@pytest.mark.parametrize("name", tiktoken.ENCODINGS)
def test_every_known_encoding_is_read(name: str, tmp_path: Path) -> None:
    assert tokenization.read(write(tmp_path, f"{name}.tiktoken")).splitting


def test_an_unknown_encoding_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'cl100k' is not a known encoding") as refused:
        tokenization.read(write(tmp_path, "cl100k.tiktoken"))
    assert "cl100k_base" in (refused.value.hint or "")


@pytest.mark.parametrize("line", ["YQ== x", "a 1", "YQ==", "YQ== -1", "YQ== 1048576", "\u00e9 1"])
def test_a_damaged_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "gpt2.tiktoken"
    path.write_text(f"Yg== 0\n{line}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"gpt2\.tiktoken:2: ") as refused:
        tokenization.read(path)
    assert refused.value.hint


def test_the_line_of_no_bytes_in_whispers_ranks_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "multilingual.tiktoken"
    path.write_text("YQ== 0\n= 1\n", encoding="ascii")
    assert Graph(path)("aa")["ids"] == [0, 0]
