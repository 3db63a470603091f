"""Outputs of `kind = "pairs"`: a score that says how well a document fits a query."""

from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.contract.pairs import PairScore
from packager.contract.results import answer
from packager.contract.tokens import StringInput
from packager.core.contract import PairsOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.values import Model
from tests.cases.contract_graphs import run
from tests.cases.onnx_text import loaded, onnx_model
from tests.cases.tokenizer_graphs import bert, changed, points

ONE = """(int64[batch, n] input_ids, int64[batch, n] token_type_ids) => (float[batch, 1] logits)
    <int64[1] axis = {1}, float ten = {10}> {
    ids = Mul (input_ids, token_type_ids) sums = ReduceSum <keepdims = 1> (ids, axis) numbers = Cast <to = 1> (sums)
    logits = Div (numbers, ten) }"""
"""a tenth of the sum of the token ids of the document, and of the last token"""
TWO = ONE.replace("float[batch, 1]", "float[batch, 2]").replace(
    "logits = Div (numbers, ten)", "more = Div (numbers, ten) less = Neg (more) logits = Concat <axis = 1> (less, more)"
)
WRONG = ONE.replace("float[batch, 1]", "float[batch, 3]").replace(
    "logits = Div (numbers, ten)", "more = Div (numbers, ten) logits = Concat <axis = 1> (more, more, more)"
)
TEXTS = ("the fox", "\U0001f600 a")


def made(folder: Path, net: str = ONE, names: tuple[str, ...] = ("query", "document"), **keys: Any) -> Model:
    model = loaded(folder, onnx_model(net, opsets={"": 18}))
    text = StringInput(tokenizer=changed(bert(), folder), names=names)
    tables = Tables(inputs={"input_ids": text}, outputs={"logits": PairScore(**keys)})
    return attachment.attach(model, tables).model


def score(model: Model) -> Any:
    assert model.contract
    (typed,) = model.contract.outputs
    given = {spec.name: points(text) for spec, text in zip(model.signature.inputs, TEXTS, strict=True)}
    found = run(model.graph, given)
    assert [each.shape for each in found.values()] == [(1,)]
    return answer(typed, found)


def logit() -> float:
    encoded = bert().encode(*TEXTS)
    return sum(number for number, role in zip(encoded.ids, encoded.type_ids, strict=True) if role) / 10


@pytest.mark.parametrize(
    ("net", "keys", "expected"),
    [
        (ONE, {"activation": "none"}, lambda value: value),
        (ONE, {"activation": "sigmoid"}, lambda value: 1 / (1 + numpy.exp(-value))),
        (TWO, {"activation": "softmax"}, lambda value: 1 / (1 + numpy.exp(-2 * value))),
        (TWO, {"activation": "softmax", "relevant": 0}, lambda value: 1 / (1 + numpy.exp(2 * value))),
        (TWO, {"activation": "none", "relevant": 1}, lambda value: value),
    ],
)
def test_a_pair_has_one_score(tmp_path: Path, net: str, keys: Any, expected: Any) -> None:
    found = score(made(tmp_path, net, **keys))
    assert isinstance(found, float)
    assert found == pytest.approx(expected(logit()), rel=1e-6)


def test_the_contract_names_the_query_and_the_document(tmp_path: Path) -> None:
    model = made(tmp_path, activation="sigmoid")
    assert model.contract
    (typed,) = model.contract.outputs
    assert isinstance(typed, PairsOutput)
    assert (typed.query, typed.document) == model.signature.inputs
    assert [each.identifier for each in model.contract.parameters] == ["query", "document"]
    assert model.contract.verb == "score"
    assert model.contract.ranks


@pytest.mark.parametrize(
    ("net", "names", "keys", "message"),
    [
        (WRONG, ("query", "document"), {"activation": "none"}, "the output has 3 scores, not one or two"),
        (ONE, ("text",), {"activation": "none"}, "needs an input of 2 texts, but it has 1"),
        (ONE, ("query", "document"), {"activation": "softmax"}, "the softmax of a single score is always 1"),
        (ONE, ("query", "document"), {"activation": "none", "relevant": 1}, "relevant has no effect"),
        (ONE, ("query", "document"), {"activation": "none", "text": "ids"}, "'ids' is not an input with a text"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(
    tmp_path: Path, net: str, names: tuple[str, ...], keys: Any, message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        made(tmp_path, net, names, **keys)
    assert message in refused.value.message
    assert refused.value.message.startswith("model.m.outputs.logits: ")


def test_a_class_that_there_is_not_is_refused() -> None:
    with pytest.raises(SettingError):
        PairScore(activation="softmax", relevant=2)
