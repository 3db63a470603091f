"""Tokenizers without a vocabulary: ByT5's bytes and CANINE's code points, against what transformers says of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.contract import attachment, tokenization
from packager.contract.attachment import Tables
from packager.contract.tokens import StringInput
from packager.core.errors import ConfigError
from tests.cases.onnx_text import loaded, onnx_model
from tests.cases.tokenizer_graphs import Graph, scalars
from tests.engines.test_contract_text import run
from tests.nights import examples

BLANKS = "".join(each for each in scalars() if each.isspace() and not "\x1c" <= each <= "\x1f")
"""Unicode's, of which Python has four more"""
SPECIAL = ("<pad>", "</s>", "<unk>")
TEXTS = st.lists(
    st.sampled_from([*SPECIAL, "<extra_id_0>", "<extra_id_124>", "<extra_id_125>", " ", "\n", "\u3000", "a", "<", "\0"])
    | st.characters(exclude_categories=["Cs"]),
    max_size=20,
).map("".join)


def file(folder: Path, name: str, **keys: Any) -> Path:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({"tokenizer_class": name, **keys}), encoding="utf-8", newline="\n")
    return path


def byt5(text: str, extra: int = 125) -> list[int]:
    """A byte and 3, and 1 at the end. Special tokens in a text take the blanks around them, sentinels do not."""
    known = {**{token: number for number, token in enumerate(SPECIAL)}}
    known |= {f"<extra_id_{each}>": 259 + each for each in range(extra)}
    made: list[int] = []
    left = ""
    while text:
        token = next((each for each in sorted(known, key=len, reverse=True) if text.startswith(each)), "")
        if not token:
            left, text = left + text[0], text[1:]
            continue
        text = text[len(token) :]
        if token in SPECIAL:
            left, text = left.rstrip(BLANKS), text.lstrip(BLANKS)
        made += [*(byte + 3 for byte in left.encode()), known[token]]
        left = ""
    made += [byte + 3 for byte in left.encode()]
    return made if made[-1:] == [1] else [*made, 1]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return Graph(file(tmp_path_factory.mktemp("byt5"), "ByT5Tokenizer"))


@settings(max_examples=examples(300), deadline=None)
@given(text=TEXTS)
def test_byt5_has_a_token_for_each_byte(graph: Graph, text: str) -> None:
    assert graph(text)["ids"] == byt5(text)


def test_texts_of_byt5_end_once_and_pairs_twice(tmp_path: Path) -> None:
    graph = Graph(file(tmp_path, "ByT5Tokenizer"), is_pair=True)
    for first, second in (("a", "b"), ("a</s>", "\u00e9 </s> "), ("", "")):
        assert graph(first or "\uffff", second)["ids"] == [*byt5(first or "\uffff"), *byt5(second)]
    net = "(int64[1, n] input_ids) => (int64[1, n] ids) { ids = Identity (input_ids) }"
    text = StringInput(tokenizer=file(tmp_path, "ByT5Tokenizer"), max_length=4)
    model = loaded(tmp_path, onnx_model(net, opsets={"": 18}))
    made = attachment.attach(model, Tables(inputs={"input_ids": text}, outputs={})).model
    for said, wanted in (("abcdef", "abc"), ("ab</s>cdef", "ab</s>"), ("ab", "ab")):
        assert run(made, said)["ids"].tolist() == [byt5(wanted)]


def test_the_file_says_how_many_sentinels_there_are_or_which(tmp_path: Path) -> None:
    assert Graph(file(tmp_path, "ByT5Tokenizer", extra_ids=1))("<extra_id_0><extra_id_1>")["ids"] == byt5(
        "<extra_id_0><extra_id_1>", extra=1
    )
    listed = {"300": {"content": "<a>", "lstrip": True}, "1": {"content": "</s>"}}
    graph = Graph(file(tmp_path, "ByT5Tokenizer", added_tokens_decoder=listed))
    assert graph("b  <a> </s>")["ids"] == [ord("b") + 3, 300, ord(" ") + 3, 1]


def test_canine_has_a_token_for_each_code_point(tmp_path: Path) -> None:
    graph = Graph(file(tmp_path, "CanineTokenizer"))
    for text in ("a\u00e9\u6771\U0001f600\0", "\ue000x\ue001", "\U0010ffff"):
        made = graph(text)
        assert made["ids"] == [0xE000, *map(ord, text), 0xE001]
        assert made["offsets"] == [[0, 0], *([each, each + 1] for each in range(len(text))), [0, 0]]
    assert graph("a \ue003 b")["ids"] == [0xE000, ord("a"), 0xE003, ord(" "), ord("b"), 0xE001]


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("T5TokenizerFast", {}, "T5Tokenizer has more than its tokenizer_config.json"),
        ("CanineTokenizer", {"added_tokens_decoder": {"x": {"content": "a"}}}, "not a token with its id"),
        ("CanineTokenizer", {"added_tokens_decoder": {"1": "a"}}, "'content' is missing"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, keys: Any, words: str) -> None:
    with pytest.raises(ConfigError, match="tokenizer_config") as refused:
        tokenization.read(file(tmp_path, name, **keys))
    assert words in refused.value.message
    assert refused.value.hint
