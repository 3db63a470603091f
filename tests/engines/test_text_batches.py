"""Several texts in a run: the rows of `encode_batch` of Hugging Face's tokenizers, and a result for each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import strategies as st
from tokenizers import Tokenizer

from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.contract.classes import Classes
from packager.contract.embedding import Embedding
from packager.contract.kind import OutputTable
from packager.contract.pairs import PairScore
from packager.contract.results import answer, row
from packager.contract.spans import Spans
from packager.contract.tokens import StringInput
from packager.core.contract import BETWEEN, TextInput
from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.graph import traversal
from packager.graph.writer import Writer
from packager.samples.texts import code_points
from tests.cases.drawn import drawn
from tests.cases.onnx_text import loaded, onnx_model
from tests.cases.onnx_text import session as opened
from tests.cases.tokenizer_graphs import bert, changed
from tests.engines.test_contract_text import TOKENS
from tests.engines.test_text_families import FAMILIES, MIXED, TWINS
from tests.nights import AT_NIGHT, examples
from tests.toolchain import typed_texts

UNLIKE = ("the quick fox", "", "jumps over the lazy dog, un the", "a", " ", "\0", "[SEP] the")
LABELS = Path("labels.txt")
LONG = ("the " * 40, "", "a fox", "dogs jump over " * 9)


def attached(
    folder: Path, tokenizer: Tokenizer, net: str = TOKENS, outputs: Mapping[str, OutputTable] = {}, **keys: Any
) -> Model:
    """A model of texts with a batch, unless `keys` say otherwise."""
    text = StringInput(tokenizer=changed(tokenizer, folder), **{"batch": True, **keys})
    return attachment.attach(
        loaded(folder, onnx_model(net, opsets={"": 18})), Tables(inputs={"input_ids": text}, outputs=outputs)
    ).model


class Session:
    """A model that takes lists of texts."""

    def __init__(self, model: Model) -> None:
        assert model.contract
        self.texts = [each.code_points.name for each in model.contract.parameters if isinstance(each, TextInput)]
        self.session = opened(model.graph)

    def __call__(self, *lists: Sequence[str]) -> dict[str, Any]:
        fed = {name: code_points(texts) for name, texts in zip(self.texts, lists, strict=True)}
        return dict(zip((each.name for each in self.session.get_outputs()), self.session.run(None, fed), strict=True))


def same(session: Session, reference: Tokenizer, *lists: Sequence[str]) -> None:
    """Fails unless ids, mask and types of all texts are those of `encode_batch`."""
    found = session(*lists)
    wanted = reference.encode_batch(list(lists[0] if len(lists) == 1 else zip(*lists, strict=True)))
    assert found["ids"].tolist() == [each.ids for each in wanted], lists
    assert found["mask"].tolist() == [each.attention_mask for each in wanted], lists
    assert found["types"].tolist() == [each.type_ids for each in wanted], lists


@pytest.fixture(scope="module", params=[name for name in FAMILIES if name not in TWINS or AT_NIGHT])
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Tokenizer]:
    reference = Tokenizer.from_str(FAMILIES[request.param]().to_str())
    folder = tmp_path_factory.mktemp("family")
    session = Session(attached(folder, reference))
    reference.enable_padding()
    return session, reference


LISTS = st.lists(MIXED, min_size=1, max_size=6)


def test_any_texts_give_the_rows_of_the_library(family: tuple[Session, Tokenizer]) -> None:
    for texts in drawn(LISTS, examples(60)):
        same(*family, texts)


@pytest.mark.parametrize("texts", [UNLIKE, LONG, ["a"], ["", "a"], ["a", ""], ["a"] * 200], ids=lambda each: len(each))
def test_chosen_texts_give_the_rows_of_the_library(family: tuple[Session, Tokenizer], texts: Sequence[str]) -> None:
    same(*family, texts)


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("longest", [None, 7])
@pytest.mark.parametrize("length", [None, 12])
def test_rows_are_truncated_and_padded_as_the_file_says(
    tmp_path: Path, direction: str, longest: int | None, length: int | None
) -> None:
    reference = bert()
    reference.enable_padding(direction=direction, pad_id=4, pad_type_id=1)
    if longest:
        reference.enable_truncation(longest, direction=direction)
    session = Session(attached(tmp_path, reference, length=length))
    if length:
        reference.enable_padding(direction=direction, pad_id=4, pad_type_id=1, length=length)
        reference.enable_truncation(longest or length, direction=direction if longest else "right")
    for texts in (UNLIKE, LONG, ["", ""], ["the fox"]):
        same(session, reference, texts)


def test_a_model_of_a_fixed_length_gets_rows_of_it(tmp_path: Path) -> None:
    reference = bert()
    session = Session(attached(tmp_path, reference, TOKENS.replace("[batch, n]", "[batch, 8]")))
    reference.enable_padding(length=8)
    reference.enable_truncation(8)
    same(session, reference, LONG)


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("length", [None, 12])
def test_positions_count_the_tokens_of_each_text(tmp_path: Path, direction: str, length: int | None) -> None:
    net = (
        "(int64[batch, n] input_ids, int64[batch, n] attention_mask, int64[batch, n] position_ids) => "
        "(int64[batch, n] mask, int64[batch, n] places) "
        "{ mask = Mul (attention_mask, attention_mask) known = Mul (input_ids, attention_mask) "
        "zero = Sub (known, known) places = Add (position_ids, zero) }"
    )
    tokenizer = bert()
    tokenizer.enable_padding(direction=direction)
    found = Session(attached(tmp_path, tokenizer, net, length=length))(LONG[1:3])
    for mask, places in zip(found["mask"].tolist(), found["places"].tolist(), strict=True):
        kept = [place for place, is_token in zip(places, mask, strict=True) if is_token]
        assert kept == list(range(sum(mask)))
        assert all(0 <= place < sum(mask) for place in places)


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("direction", ["right", "left"])
def test_pairs_are_rows(tmp_path: Path, strategy: str, direction: str) -> None:
    reference = bert()
    reference.enable_padding(direction=direction)
    reference.enable_truncation(40, strategy=strategy, direction=direction)
    session = Session(attached(tmp_path, reference, names=("query", "document")))
    shorter, longer = ["the fox", "", "a", "dog"], ["a " * 9, "the", "", "the " * 70]
    same(session, reference, *((longer, shorter) if strategy == "only_first" else (shorter, longer)))


def test_one_text_of_a_pair_goes_with_every_other(tmp_path: Path) -> None:
    reference = bert()
    reference.enable_padding()
    session = Session(attached(tmp_path, reference, names=("query", "document")))
    documents = ["the fox", "", "a lazy dog jumps"]
    assert session(["dogs"], documents)["ids"].tolist() == session(["dogs"] * 3, documents)["ids"].tolist()
    assert session(documents, ["dogs"])["ids"].tolist() == session(documents, ["dogs"] * 3)["ids"].tolist()
    same(session, reference, ["dogs"] * 3, documents)


def test_awkward_texts_have_the_tokens_that_they_have_alone(tmp_path: Path) -> None:
    session = Session(attached(tmp_path, bert(strip_accents=False)))
    found = session(typed_texts.AWKWARD)
    kept = [
        tuple(number for number, is_token in zip(ids, mask, strict=True) if is_token)
        for ids, mask in zip(found["ids"].tolist(), found["mask"].tolist(), strict=True)
    ]
    assert kept == list(typed_texts.ids())


def test_the_graph_has_no_nodes_that_nothing_needs(tmp_path: Path) -> None:
    graph = onnx.ModelProto.FromString(attached(tmp_path, bert()).graph).graph
    taken = {name for node in graph.node for name in traversal.taken_by(node)}
    needed = taken | {value.name for value in graph.output}
    assert [node.name for node in graph.node if not needed.intersection(node.output)] == []
    assert {each.name for each in graph.initializer} <= taken


VECTORS = """(int64[batch, n] input_ids, int64[batch, n] attention_mask)
=> (float[batch, n, 2] hidden, float[batch, 3] logits, float[batch, 1] score)
<int64[1] last = {2}, int64[1] row = {1}> {
    numbers = Cast <to = 1> (input_ids) mask = Cast <to = 1> (attention_mask)
    first = Unsqueeze (numbers, last) second = Unsqueeze (mask, last) hidden = Concat <axis = 2> (first, second)
    known = Mul (numbers, mask) total = ReduceSum (known, row) count = ReduceSum (mask, row)
    score = Div (total, count) less = Sub (count, score) logits = Concat <axis = 1> (score, count, less) }"""
"""Numbers that do not depend on padding."""
OUTPUTS: Mapping[str, Mapping[str, OutputTable]] = {
    "mean": {"hidden": Embedding(pooling="mean")},
    "cls": {"hidden": Embedding(pooling="cls")},
    "last": {"hidden": Embedding(pooling="last")},
    "vector": {"logits": Embedding()},
    "softmax": {"logits": Classes(activation="softmax", top_k=2)},
    "sigmoid": {"score": Classes(activation="sigmoid", threshold=0.2)},
}


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_each_text_has_the_result_of_a_run_of_its_own(tmp_path: Path, output: str, direction: str) -> None:
    tokenizer = bert()
    tokenizer.enable_padding(direction=direction, pad_id=4)
    together = attached(tmp_path, tokenizer, VECTORS, OUTPUTS[output])
    alone = attached(tmp_path, tokenizer, VECTORS, OUTPUTS[output], batch=False)
    assert together.contract
    assert alone.contract
    (typed,) = (each for each in together.contract.outputs if each.identifier in OUTPUTS[output])
    (typed_alone,) = (each for each in alone.contract.outputs if each.identifier in OUTPUTS[output])
    assert together.contract.is_batch
    assert not alone.contract.is_batch
    found, single = Session(together)(UNLIKE), Session(alone)
    for number, text in enumerate(UNLIKE):
        made = answer(typed, row(typed, found, number))
        assert numbers(made) == pytest.approx(numbers(answer(typed_alone, single([text]))), rel=1e-6), text


def numbers(made: Any) -> list[float]:
    return [value for each in made for value in ([each] if isinstance(each, float) else [each.index, each.score])]


@pytest.mark.parametrize("keys", [{"activation": "sigmoid"}, {"activation": "softmax", "relevant": 0}], ids=str)
def test_pairs_have_a_score_each(tmp_path: Path, keys: Any) -> None:
    net = VECTORS.replace("float[batch, 3] logits", "float[batch, 2] logits").replace(
        "(score, count, less)", "(score, less)"
    )
    outputs = {"score" if keys["activation"] == "sigmoid" else "logits": PairScore(**keys)}
    names = ("query", "document")
    together = attached(tmp_path, bert(), net, outputs, names=names)
    alone = attached(tmp_path, bert(), net, outputs, names=names, batch=False)
    documents = ["the fox", "", "a lazy dog jumps"]
    (name,) = (each for each in Session(together)(["a"], documents) if each.endswith(".score"))
    found = Session(together)(["a"], documents)[name]
    assert found.shape == (3,)
    assert found == pytest.approx([Session(alone)(["a"], [each])[name].item() for each in documents], rel=1e-6)


@pytest.mark.parametrize(
    ("net", "keys", "outputs", "message"),
    [
        (TOKENS.replace("[batch, n]", "[1, n]"), {}, {}, "inputs.input_ids: batch: the model takes one text in a run"),
        (TOKENS.replace("[batch, n]", "[n]"), {}, {}, "inputs.input_ids: batch: the model takes one text in a run"),
        (
            "(int64[batch, n] input_ids) => (int64[batch, n] ids) { ids = Identity (input_ids) }",
            {},
            {},
            "the model has no mask",
        ),
        (
            "(int64[batch, n] input_ids, int64[batch, n] attention_mask) => (int64[1] ids) "
            "<int64[1] zero = {0}> "
            "{ x = Mul (input_ids, attention_mask) top = ReduceMax <keepdims = 0> (x) ids = Unsqueeze (top, zero) }",
            {},
            {},
            "outputs.ids: the output is int64 [1]: it has no row for each text",
        ),
        (VECTORS, {}, {"hidden": Classes(activation="none")}, "not one row of classes for each text of a batch"),
        (VECTORS, {}, {"logits": Embedding(pooling="mean")}, "not a vector for each token of each text"),
        (VECTORS, {}, {"hidden": Spans(labels=LABELS)}, "outputs.hidden: takes no batch of texts"),
        (
            VECTORS.replace("attention_mask)", "attention_mask, float[batch, 3] more)", 1).replace(
                "less = Sub (count, score)", "less = Sub (count, score) other = Identity (more)"
            ),
            {},
            {},
            "inputs.more: is beside a batch of texts",
        ),
    ],
)
def test_a_batch_that_the_model_cannot_take_is_refused(
    tmp_path: Path, net: str, keys: dict[str, Any], outputs: Mapping[str, OutputTable], message: str
) -> None:
    (tmp_path / LABELS).write_text("O\nB-A\n", encoding="utf-8", newline="\n")
    with pytest.raises(ConfigError) as refused:
        attached(tmp_path, bert(), net, {name: each.within(tmp_path) for name, each in outputs.items()}, **keys)
    assert message in refused.value.message
    assert refused.value.message.startswith("model.m.")
    assert refused.value.hint


def test_a_text_that_goes_on_is_no_batch(tmp_path: Path) -> None:
    text = StringInput(tokenizer=changed(bert(), tmp_path), batch=True)
    with pytest.raises(ConfigError, match="batch has no effect where a text is generated"):
        text.ids(Writer(scope="prompt"), ["text"], is_whole=False)


def test_random_inputs_of_a_batch_have_several_texts(tmp_path: Path) -> None:
    model = attached(tmp_path, bert())
    assert model.contract
    assert all(BETWEEN in values for values in model.contract.values.values())
    assert code_points(["a", "", "b"]).tolist() == [ord("a"), BETWEEN, BETWEEN, ord("b")]
    assert code_points([""]).tolist() == [-1]
