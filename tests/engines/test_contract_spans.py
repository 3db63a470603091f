"""Outputs of `kind = "spans"`: named parts of a text, as transformers' token-classification pipeline finds them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.contract.results import Entity, answer
from packager.contract.spans import Spans
from packager.contract.spans.schemes import Tag, tags
from packager.contract.tokenization.byte_level import CHARACTERS
from packager.contract.tokens import StringInput
from packager.core.contract import SpansOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.values import Model
from packager.models.graphs import read_graph
from packager.verification.partition.coreml.predict import predict
from tests.cases.contract_graphs import Ran
from tests.cases.onnx_text import loaded, onnx_model
from tests.cases.tokenizer_graphs import WORDS, bert, changed, points, vocabulary
from tests.nights import examples

NET = """(int64[batch, n] input_ids, float[ids, count] scores) => (float[batch, n, count] logits)
    { logits = Gather <axis = 0> (scores, input_ids) }"""
"""the scores of a token are its row"""
BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
BILOU = ("O", *(f"{letter}-{name}" for name in ("PER", "LOC") for letter in "BILU"))
BIOES = ("O", *(f"{letter}-{name}" for name in ("PER", "LOC") for letter in "BIES"))
PLAIN = ("person", "place", "O", "B-", "é")
SCHEMES = {"bio": BIO, "bilou": BILOU, "bioes": BIOES, "plain": PLAIN}
STRATEGIES = ("simple", "first", "average", "max")


def byte_level() -> Tokenizer:
    """A tokenizer of bytes, with some pairs of them."""
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("o", "x"), ("f", "ox"), ("Ġ", "fox"), ("Ġ", "a")]
    names = ["<s>", "</s>", *CHARACTERS, *(first + second for first, second in merges)]
    made = Tokenizer(models.BPE({name: number for number, name in enumerate(names)}, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    return made


def unigram() -> Tokenizer:
    """XLM-RoBERTa's kind: blanks begin words, and characters without a token are unknown."""
    tokens = "<s> </s> <unk> \u2581 \u2581the \u2581fo x t h e \u2581a s , \u00e9".split()
    made = Tokenizer(models.Unigram([(each, -float(number)) for number, each in enumerate(tokens)], 2, False))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    return made


TOKENIZERS = {"wordpiece": bert, "bytes": byte_level, "unigram": unigram}


@dataclass(frozen=True)
class Case:
    """A model around which mobpack has put a tokenizer and spans, and what they are compared with."""

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    strategy: str
    threshold: float | None
    model: Model
    ran: Ran

    def found(self, text: str, table: Any) -> tuple[Entity, ...]:
        assert self.model.contract
        given = {self.model.signature.inputs[0].name: points(text) if text else numpy.array([-1], numpy.int32)}
        (typed,) = self.model.contract.outputs
        found: Any = answer(typed, self.ran({**given, "scores": table}), inputs=given)
        return tuple(each for each in found if isinstance(each, Entity))

    def expected(self, text: str, table: Any) -> list[Entity]:
        readable = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text)
        found = pieces(self.tokenizer, readable, table, self.strategy)
        return grouped(text, found, self.labels, self.threshold)

    def table(self, seed: int) -> Any:
        size = self.tokenizer.get_vocab_size(with_added_tokens=True)
        random = numpy.random.default_rng(seed)
        if self.strategy == "average":
            return random.normal(size=(size, len(self.labels))).astype(numpy.float32)
        # few different numbers, so that some scores are equal
        return random.integers(0, 6, (size, len(self.labels))).astype(numpy.float32)


def made(
    folder: Path, tokenizer: Tokenizer, labels: Sequence[str], *, net: str = NET, inputs: Any = None, **keys: Any
) -> Model:
    """The model `net`, with the keys of its output, and of its input in `inputs`."""
    (folder / "labels.txt").write_text("\n".join(labels), encoding="utf-8")
    model = loaded(folder, onnx_model(net.replace("count", str(len(labels))), opsets={"": 18}))
    tables = Tables(
        inputs={"input_ids": StringInput(tokenizer=changed(tokenizer, folder), **(inputs or {}))},
        outputs={"logits": Spans(labels=folder / "labels.txt", **keys)},
    )
    return attachment.attach(model, tables).model


def case(folder: Path, tokenizer: Tokenizer, labels: tuple[str, ...], strategy: str = "simple", **keys: Any) -> Case:
    length = keys.pop("length", None)
    model = made(folder, tokenizer, labels, aggregation=strategy, inputs={"length": length}, **keys)
    return Case(tokenizer, labels, strategy, keys.get("threshold"), model, Ran(model.graph))


# The algorithm of transformers' documentation of TokenClassificationPipeline, with words as its code finds them.

Piece = tuple[int, int, Any]
"""first code point, the one after the last, and the scores of all labels"""


def pieces(tokenizer: Tokenizer, text: str, table: Any, strategy: str) -> list[Piece]:
    encoded = tokenizer.encode(text)
    is_wordpiece = "[UNK]" in tokenizer.get_vocab()
    words: list[list[Piece]] = []
    for token, number, (start, end), is_special in zip(
        encoded.tokens, encoded.ids, encoded.offsets, encoded.special_tokens_mask, strict=True
    ):
        if is_special:
            continue
        logits = table[number].astype(numpy.float64)
        scores = numpy.exp(logits - logits.max())
        piece = (start, end, scores / scores.sum())
        goes_on = token.startswith("##") if is_wordpiece else start > 0 and " " not in text[start - 1 : start + 1]
        goes_on = goes_on and number != tokenizer.token_to_id("<unk>")
        if words and goes_on and strategy != "simple":
            words[-1].append(piece)
        else:
            words.append([piece])
    return [(each[0][0], each[-1][1], of_word([scores for _, _, scores in each], strategy)) for each in words]


def of_word(scores: list[Any], strategy: str) -> Any:
    if strategy == "average":
        return numpy.mean(scores, axis=0)
    # in single precision, in which the graph compares them, too
    return max(scores, key=lambda each: numpy.float32(each.max())) if strategy == "max" else scores[0]


def grouped(text: str, found: list[Piece], labels: tuple[str, ...], threshold: float | None) -> list[Entity]:
    groups: list[list[tuple[str, int, int, float]]] = []
    has_schemes = labels is not PLAIN
    for start, end, scores in found:
        best = int(numpy.argmax(scores))
        label = labels[best]
        last = groups[-1][-1][0] if groups else ""
        begins = has_schemes and (label[0] in "BUS" or last[:1] in ("L", "E", "U", "S"))
        same = groups and name_of(last, has_schemes) == name_of(label, has_schemes) and not (begins and label != "O")
        if same:
            groups[-1].append((label, start, end, scores[best]))
        else:
            groups.append([(label, start, end, scores[best])])
    entities = [
        Entity(
            label=name_of(each[0][0], has_schemes),
            text=text[each[0][1] : each[-1][2]],
            start=each[0][1],
            end=each[-1][2],
            score=float(numpy.mean([score for *_, score in each])),
        )
        for each in groups
        if each[0][0] != "O"
    ]
    return [each for each in entities if threshold is None or each.score >= threshold]


def name_of(label: str, has_schemes: bool) -> str:
    return label[2:] if has_schemes and label != "O" else label


def same(found: Sequence[Entity], expected: Sequence[Entity]) -> None:
    shown = [[(each.label, each.text, each.start, each.end) for each in one] for one in (found, expected)]
    assert shown[0] == shown[1]
    assert [each.score for each in found] == pytest.approx([each.score for each in expected], abs=1e-6)


TEXTS = (
    "",
    " ",
    "The quick brown fox jumped over a lazy dog.",
    "\U0001f600 the fox\U0001f600\U0001f600unbelievable [SEP] don't",
    "e\u0301 cafe\u0301 ÉÉ 日本 東京",
    "\0\ud83d the",
    "the fox" * 40,
)
SAID = st.lists(
    st.one_of(st.sampled_from([*WORDS.split(), " ", "  ", "\n", "[SEP]", "\U0001f600"]), st.characters())
).map("".join)
CASES = [
    ("bio", "simple"),
    ("bio", "max"),
    ("bilou", "simple"),
    ("bilou", "first"),
    ("bioes", "average"),
    ("plain", "simple"),
    ("plain", "max"),
]


@cache
def known(name: str, strategy: str, folder: Path, tokenizer: str) -> Case:
    where = folder / f"{name} {strategy} {tokenizer}"
    where.mkdir()
    scheme = "plain" if name == "plain" else "auto"
    return case(where, TOKENIZERS[tokenizer](), SCHEMES[name], strategy, scheme=scheme)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spans")


@pytest.mark.parametrize(("name", "strategy"), CASES)
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_spans_are_those_of_transformers(folder: Path, name: str, strategy: str, tokenizer: str) -> None:
    tested = known(name, strategy, folder, tokenizer)
    for seed, text in enumerate(TEXTS):
        same(tested.found(text, tested.table(seed)), tested.expected(text, tested.table(seed)))


@settings(max_examples=examples(200), deadline=None)
@given(text=SAID, seed=st.integers(0, 1000), case=st.sampled_from(CASES), tokenizer=st.sampled_from(sorted(TOKENIZERS)))
def test_spans_of_any_text_are_those_of_transformers(
    folder: Path, text: str, seed: int, case: tuple[str, str], tokenizer: str
) -> None:
    tested = known(*case, folder, tokenizer)
    same(tested.found(text, tested.table(seed)), tested.expected(text, tested.table(seed)))


@settings(max_examples=examples(100), deadline=None)
@given(text=SAID, seed=st.integers(0, 1000), tokenizer=st.sampled_from(sorted(TOKENIZERS)))
def test_spans_are_in_the_order_of_the_text(folder: Path, text: str, seed: int, tokenizer: str) -> None:
    tested = known("bilou", "simple", folder, tokenizer)
    found = tested.found(text, tested.table(seed))
    assert all(each.start < each.end for each in found)
    # parts of a character that takes several tokens, its bytes or what it decomposes to, may be spans of their own
    assert all(before.end <= after.start + 1 for before, after in pairwise(found))
    assert all(before.start <= after.start for before, after in pairwise(found))
    assert all(each.text == text[each.start : each.end] for each in found)


def table(tokens: dict[str, dict[str, float]], labels: Sequence[str]) -> Any:
    """Scores of the tokens of the small vocabulary; `O` for others."""
    made = numpy.zeros((len(vocabulary()), len(labels)), numpy.float32)
    made[:, labels.index("O")] = 1
    for token, scores in tokens.items():
        for label, score in scores.items():
            made[vocabulary()[token], labels.index(label)] = score
    return made


def test_a_span_has_its_name_its_text_and_its_place(tmp_path: Path) -> None:
    tested = case(tmp_path, bert(), BIO, activation="none")
    scores = table({"quick": {"B-PER": 2}, "brown": {"I-PER": 4}, "dog": {"I-LOC": 3}, "[CLS]": {"B-PER": 9}}, BIO)
    assert tested.found("\U0001f600 the quick  Brown lazy dog", scores) == (
        Entity(label="PER", text="quick  Brown", start=6, end=18, score=3),
        Entity(label="LOC", text="dog", start=24, end=27, score=3),
    )


def test_spans_below_the_threshold_are_left_out(tmp_path: Path) -> None:
    tested = case(tmp_path, bert(), BIO, activation="none", threshold=2.5)
    scores = table({"quick": {"B-PER": 2}, "fox": {"B-LOC": 2.5}, "dog": {"I-LOC": 3}}, BIO)
    assert [each.text for each in tested.found("quick fox a dog", scores)] == ["fox", "dog"]


def test_padding_and_tokens_that_truncation_drops_count_as_nothing(tmp_path: Path) -> None:
    tested = case(tmp_path, bert(), BIO, activation="none", length=6)
    scores = table({each: {"B-PER": 2} for each in vocabulary()}, BIO)
    assert [each.text for each in tested.found("the fox", scores)] == ["the", "fox"]
    assert [each.text for each in tested.found("the fox a dog over", scores)] == ["the", "fox", "a", "dog"]


def test_labels_say_which_scheme_they_follow() -> None:
    assert tags(("O", "B-X", "I-X"), "auto", "O") == (Tag(name=""), Tag(name="X", begins=True), Tag(name="X"))
    assert tags(("B-X-Y", "U-X-Y", "L-X-Y"), "auto", "O") == (
        Tag(name="X-Y", begins=True),
        Tag(name="X-Y", begins=True, ends=True),
        Tag(name="X-Y", ends=True),
    )
    assert tags(("O", "B", "B-", "-X", "b-X", ""), "auto", "B") == tuple(
        Tag(name=each) for each in ("O", "", "B-", "-X", "b-X", "")
    )
    assert tags(("B-cell", "T-cell"), "plain", "O") == (Tag(name="B-cell"), Tag(name="T-cell"))
    assert tags(("B-X", "L-X", "X"), "bio", "O") == (Tag(name="X", begins=True), Tag(name="L-X"), Tag(name="X"))


@pytest.mark.parametrize(
    ("labels", "net", "inputs", "keys", "message"),
    [
        (("O", "B-X", "cell"), NET, {}, {}, "label 'cell' has no prefix such as B-, but others have"),
        (("O", "B-X"), NET.replace("count", "3"), {}, {}, "has 2 labels, but the model has 3 classes"),
        (("O", "B-X"), NET, {"names": ("a", "b")}, {}, "needs an input of 1 texts, but it has 2"),
        (("O", "B-X"), NET, {}, {"text": "ids"}, "text 'ids' is not an input with a text"),
        (("O", "B-X"), NET.replace("[batch, n, count]", "[n, 2, 1, 2]"), {}, {}, "not [1, tokens, labels]"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(
    tmp_path: Path, labels: tuple[str, ...], net: str, inputs: Any, keys: Any, message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        made(tmp_path, bert(), labels, net=net, inputs=inputs, **keys)
    assert message in refused.value.message
    assert refused.value.message.startswith("model.m.outputs.logits: ")


def test_an_output_of_a_model_without_texts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("O\nB-X", encoding="utf-8")
    model = loaded(tmp_path, onnx_model("(float[n, 2] x) => (float[n, 2] y) { y = Relu (x) }", opsets={"": 18}))
    with pytest.raises(ConfigError, match="the model takes no text"):
        attachment.attach(model, Tables(inputs={}, outputs={"y": Spans(labels=tmp_path / "labels.txt")}))


@pytest.mark.parametrize("keys", [{"threshold": float("nan")}, {"threshold": 2.0}])
def test_keys_without_sense_are_refused(keys: Any) -> None:
    with pytest.raises(SettingError):
        Spans(labels=Path("labels.txt"), **keys)


def test_the_contract_names_the_text_and_the_spans(tmp_path: Path) -> None:
    model = made(tmp_path, bert(), BILOU)
    assert model.contract
    assert model.contract.verb == "entities"
    (typed,) = model.contract.outputs
    assert isinstance(typed, SpansOutput)
    assert typed.labels == ("PER", "LOC")
    assert typed.text == model.signature.inputs[0]
    assert [each.name for each in model.signature.outputs] == [
        f"logits.{each}" for each in ("classes", "starts", "ends", "scores")
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_coreml_neither_chooses_labels_nor_moves_places(folder: Path, strategy: str, tmp_path: Path) -> None:
    model = made(tmp_path, bert(), BIO, aggregation=strategy)
    taken = {name for names in predict(read_graph(model.graph)).partitions for name in names}
    assert not any(name.startswith("mobpack/logits") for name in taken)
