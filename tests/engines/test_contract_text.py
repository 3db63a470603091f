"""Inputs of `kind = "text"`: strings in, and ids, mask and types for the model."""

import json
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.contract.embedding import Embedding
from packager.contract.tokens import StringInput
from packager.core.contract import EmbeddingOutput, TextInput
from packager.core.errors import ConfigError, MobpackError, SettingError
from packager.core.values import Model
from packager.graph import traversal
from tests.cases.onnx_text import loaded, onnx_model
from tests.cases.onnx_text import session as opened
from tests.cases.tokenizer_graphs import bert, changed, points
from tests.toolchain import typed_texts

TOKENS = (
    "(int64[batch, n] input_ids, int32[batch, n] attention_mask, int64[batch, n] token_type_ids) => "
    "(int64[batch, n] ids, int32[batch, n] mask, int64[batch, n] types) "
    "{ ids = Identity (input_ids) mask = Identity (attention_mask) types = Identity (token_type_ids) }"
)
FIXED = TOKENS.replace("[batch, n]", "[1, 8]")
VECTORS = (
    "(int64[1, n] input_ids, int64[1, n] attention_mask) => (float[1, n, 2] hidden) { "
    "numbers = Cast <to = 1> (input_ids) mask = Cast <to = 1> (attention_mask) "
    "axis = Constant <value = int64[1] {2}> () first = Unsqueeze (numbers, axis) second = Unsqueeze (mask, axis) "
    "hidden = Concat <axis = 2> (first, second) }"
)


def attached(folder: Path, net: str = TOKENS, outputs: Any = None, parts: Any = None, **keys: Any) -> Model:
    path = changed(bert(), folder, **(parts or {}))
    model = loaded(folder, onnx_model(net, opsets={"": 18}))
    tables = Tables(inputs={"input_ids": StringInput(tokenizer=path, **keys)}, outputs=outputs or {})
    return attachment.attach(model, tables).model


def run(model: Model, *texts: str) -> dict[str, Any]:
    assert model.contract
    session = opened(model.graph)
    inputs = [each for each in model.contract.parameters if isinstance(each, TextInput)]
    given = {each.code_points.name: points(text) for each, text in zip(inputs, texts, strict=True)}
    return {each.name: value for each, value in zip(session.get_outputs(), session.run(None, given), strict=True)}


def test_a_text_fills_ids_mask_and_types(tmp_path: Path) -> None:
    model = attached(tmp_path)
    made, wanted = run(model, "the quick fox"), bert().encode("the quick fox")
    assert made["ids"].tolist() == [wanted.ids]
    assert made["mask"].tolist() == [wanted.attention_mask]
    assert made["mask"].dtype == numpy.int32
    assert made["types"].tolist() == [wanted.type_ids]
    assert [value.name for value in onnx.ModelProto.FromString(model.graph).graph.input] == ["input_ids.text"]


@pytest.mark.parametrize("keys", [{}, {"length": 8}, {"names": ("query", "document")}], ids=str)
def test_the_graph_has_no_nodes_that_nothing_needs(tmp_path: Path, keys: dict[str, Any]) -> None:
    graph = onnx.ModelProto.FromString(attached(tmp_path, **keys).graph).graph
    taken = {name for node in graph.node for name in traversal.taken_by(node)}
    needed = taken | {value.name for value in graph.output}
    assert [node.name for node in graph.node if not needed.intersection(node.output)] == []
    assert {each.name for each in graph.initializer} <= taken


def test_two_names_are_a_pair(tmp_path: Path) -> None:
    model = attached(tmp_path, names=("query", "document"))
    wanted = bert().encode("the fox", "dogs jump")
    made = run(model, "the fox", "dogs jump")
    assert made["ids"].tolist() == [wanted.ids]
    assert made["types"].tolist() == [wanted.type_ids]
    assert model.contract
    assert [each.identifier for each in model.contract.parameters] == ["query", "document"]


@pytest.mark.parametrize("text", ["", "the fox", "the quick brown fox jumps over the lazy dog"])
@pytest.mark.parametrize("direction", ["right", "left"])
def test_a_fixed_length_truncates_and_pads(tmp_path: Path, text: str, direction: str) -> None:
    reference = bert()
    reference.enable_truncation(8, direction=direction)
    reference.enable_padding(length=8, direction=direction, pad_id=1, pad_type_id=1)
    parts = {
        "truncation": {"direction": direction.title(), "max_length": 64, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": "BatchLongest", "direction": direction.title(), "pad_id": 1, "pad_type_id": 1},
    }
    wanted = reference.encode(text)
    for net, keys in ((FIXED, {}), (TOKENS, {"length": 8})):
        made = run(attached(tmp_path, net, parts=parts, **keys), text)
        assert made["ids"].tolist() == [wanted.ids]
        assert made["mask"].tolist() == [wanted.attention_mask]
        assert made["types"].tolist() == [wanted.type_ids]


SHORT, LONG = "the fox", "a " * 20


@pytest.mark.parametrize(
    ("strategy", "texts"),
    [
        *(("longest_first", each) for each in ((SHORT, LONG), (LONG, SHORT), ("a " * 9, "the " * 12), ("a", "b"))),
        ("only_first", (LONG, SHORT)),
        ("only_second", (SHORT, LONG)),
    ],
)
@pytest.mark.parametrize("longest", [12, 13])
def test_pairs_are_truncated_as_the_file_says(
    tmp_path: Path, strategy: str, texts: tuple[str, str], longest: int
) -> None:
    reference = bert()
    reference.enable_truncation(longest, strategy=strategy)
    truncation = json.loads(reference.to_str())["truncation"]
    model = attached(tmp_path, parts={"truncation": truncation}, names=("a", "b"))
    assert run(model, *texts)["ids"].tolist() == [reference.encode(*texts).ids]


def test_awkward_texts_have_the_tokens_that_they_have_in_every_language(tmp_path: Path) -> None:
    model = typed_texts.tokens(tmp_path)
    found = [tuple(run(model, text)["ids"][0].tolist()) for text in typed_texts.AWKWARD]
    assert found == list(typed_texts.ids())


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize(("pooling", "expected"), [("mean", [14 / 4, 1]), ("cls", [2, 1]), ("last", [3, 1])])
def test_tokens_are_pooled(tmp_path: Path, pooling: Any, expected: list[float], direction: str) -> None:
    reference = bert()
    reference.enable_padding(direction=direction, length=9)
    parts = {"padding": json.loads(reference.to_str())["padding"]}
    model = attached(tmp_path, VECTORS, {"hidden": Embedding(pooling=pooling)}, parts, length=9)
    assert model.contract
    (output,) = model.contract.outputs
    assert isinstance(output, EmbeddingOutput)
    ids = bert().encode("the fox").ids
    if pooling == "mean":
        expected = [sum(ids) / len(ids), 1]
    made = run(model, "the fox")[output.vector.name]
    numpy.testing.assert_allclose(made, numpy.array(expected) / numpy.linalg.norm(expected), rtol=1e-6)


@pytest.mark.parametrize(
    ("net", "keys", "message"),
    [
        (TOKENS, {"max_length": 1}, "1 tokens have no room for the 2 special ones"),
        (FIXED, {"length": 9}, "takes 8 tokens, not 9"),
        (TOKENS, {"mask": "masks"}, "mask 'masks' is not an input"),
        ("(float[1, n] input_ids) => (float[1, n] y) { y = Identity (input_ids) }", {}, "cannot be token ids"),
        ("(int64[2, n] input_ids) => (int64[2, n] y) { y = Identity (input_ids) }", {}, "has another shape"),
    ],
)
def test_keys_that_do_not_fit_the_model_are_refused(
    tmp_path: Path, net: str, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        attached(tmp_path, net, **keys)
    assert message in refused.value.message
    assert "model.m.inputs.input_ids: " in refused.value.message


@pytest.mark.parametrize("keys", [{"names": ()}, {"names": ("a", "a")}, {"length": 0}, {"max_length": 0}])
def test_keys_without_sense_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        StringInput(tokenizer=Path("tokenizer.json"), **keys)


def test_an_input_that_another_table_fills_is_refused(tmp_path: Path) -> None:
    path = changed(bert(), tmp_path)
    model = loaded(tmp_path, onnx_model(TOKENS, opsets={"": 18}))
    text = StringInput(tokenizer=path)
    with pytest.raises(MobpackError, match="also fills input 'attention_mask'"):
        attachment.attach(model, Tables(inputs={"input_ids": text, "attention_mask": text}, outputs={}))


@pytest.mark.parametrize(
    ("pooling", "net", "message"),
    [
        ("mean", VECTORS.replace("attention_mask", "m"), "needs the mask"),
        ("mean", TOKENS, "not a vector for each token"),
    ],
)
def test_pooling_that_does_not_fit_is_refused(tmp_path: Path, pooling: Any, net: str, message: str) -> None:
    name = "hidden" if "hidden" in net else "ids"
    with pytest.raises(ConfigError, match=message):
        attached(tmp_path, net, {name: Embedding(pooling=pooling)})
