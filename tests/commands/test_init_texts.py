"""`mobpack init` proposes tables for models of texts; what is not certain is commented out, with the reason."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest

from packager import config
from packager.cli import main, text_files, text_tables
from packager.cli.text_tables import Table
from tests.cases.onnx_text import loaded, onnx_model, saved
from tests.cases.tokenizer_graphs import bert, changed
from tests.toolchain import models

INPUTS = "int64[batch, tokens] input_ids, int64[batch, tokens] attention_mask"
NUMBERS = (
    "numbers = Cast <to = 1> (input_ids) mask = Cast <to = 1> (attention_mask) axis = Constant <value_ints = [2]> ()"
)
STATES = f"""({INPUTS}) => (float[batch, tokens, 2] last_hidden_state) {{ {NUMBERS}
    a = Unsqueeze (numbers, axis) b = Unsqueeze (mask, axis) last_hidden_state = Concat <axis = 2> (a, b) }}"""
CLASSES = f"""({INPUTS}) => (float[batch, 3] logits) {{ {NUMBERS} one = Constant <value_ints = [1]> ()
    row = Constant <value_floats = [0.1, 0.2, 0.3]> () x = Add (numbers, mask) y = ReduceMean <keepdims = 1> (x, one)
    logits = Mul (y, row) }}"""
POOLING = {
    "word_embedding_dimension": 384,
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": True,
    "pooling_mode_max_tokens": False,
    "pooling_mode_mean_sqrt_len_tokens": False,
}
"""of all-MiniLM-L6-v2, as are the others"""
MODULES = [{"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling", "Normalize")]
SETTINGS = {"do_lower_case": True, "pad_token": "[PAD]", "model_max_length": 512, "tokenizer_class": "BertTokenizer"}
BERT = {"architectures": ["BertModel"], "model_type": "bert", "max_position_embeddings": 512}
CLASSIFIER = {
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "bad", "1": "so-so", "2": "good"},
    "max_position_embeddings": 64,
}
SENTENCES = {
    "config.json": BERT,
    "tokenizer_config.json": SETTINGS,
    "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
    "modules.json": MODULES,
    "1_Pooling/config.json": POOLING,
}

Init = Callable[..., str]


@pytest.fixture
def init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Init:
    """`mobpack init` in `tmp_path` for a model with files beside it; returns what it said."""
    monkeypatch.chdir(tmp_path)

    def run(net: str | None, files: Mapping[str, Any], *arguments: str, model: str = "m.onnx", **parts: Any) -> str:
        if net:
            saved(tmp_path / model, onnx_model(net, opsets={"": 18}))
        write(tmp_path, files, **parts)
        monkeypatch.setattr(sys, "argv", ["mobpack", "init", model, *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        said = capfd.readouterr().err
        assert exited.value.code == 0, said
        return said

    return run


def write(folder: Path, files: Mapping[str, Any], **parts: Any) -> None:
    """Files of JSON, and a tokenizer with some other `parts`."""
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    changed(bert(), folder, **parts)


def tables(folder: Path) -> dict[str, dict[str, Any]]:
    """Input or output -> its keys, as a build reads them."""
    (model,) = config.load(folder / "mobpack.toml").model.values()
    return {name: vars(table) for name, table in {**model.inputs, **model.outputs}.items()}


def test_the_folder_of_a_sentence_transformer_has_its_limit_and_its_pooling(init: Init, tmp_path: Path) -> None:
    assert "commented out" not in init(STATES, SENTENCES)
    found = tables(tmp_path)
    assert list(found) == ["input_ids", "last_hidden_state"]
    assert found["input_ids"]["tokenizer"].resolve() == tmp_path / "tokenizer.json"
    assert found["input_ids"]["max_length"] == 256
    assert found["last_hidden_state"]["pooling"] == "mean"


def test_a_model_in_a_folder_called_onnx_has_its_files_above(init: Init, tmp_path: Path) -> None:
    init(STATES, SENTENCES, model="onnx/m.onnx")
    assert tables(tmp_path)["input_ids"]["tokenizer"].resolve() == tmp_path / "tokenizer.json"


def test_a_tokenizer_without_a_vocabulary_is_its_settings(tmp_path: Path) -> None:
    settings = {"tokenizer_class": "ByT5Tokenizer", "model_max_length": 1024, "pad_token": "<pad>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    saved(tmp_path / "m.onnx", onnx_model(STATES, opsets={"": 18}))
    found = text_files.Beside.of(tmp_path / "m.onnx")
    assert found.tokenizer == tmp_path / "tokenizer_config.json"
    assert found.limit == (1024, "tokenizer_config.json")
    assert found.doubt_on_padding() == ""
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, "tokenizer_class": "T5Tokenizer"}))
    assert text_files.Beside.of(tmp_path / "m.onnx").tokenizer is None


def test_the_proposal_for_a_real_model_computes_what_its_authors_compute(
    init: Init, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").symlink_to(models.minilm())
    init(None, SENTENCES)
    monkeypatch.setattr(sys, "argv", ["mobpack", "predict", "the quick brown fox", "--json"])
    with pytest.raises(SystemExit):
        main()
    ((_, found),) = json.loads(capfd.readouterr().out)["predictions"][0]["answers"].items()
    made = bert().encode("the quick brown fox")
    rows = {"input_ids": made.ids, "attention_mask": made.attention_mask, "token_type_ids": made.type_ids}
    session = onnxruntime.InferenceSession(models.minilm(), providers=["CPUExecutionProvider"])
    states = session.run(None, {name: numpy.array([row]) for name, row in rows.items()})[0]
    mean = states[0].mean(axis=0)
    numpy.testing.assert_allclose(found, mean / numpy.linalg.norm(mean), atol=1e-5)


def test_a_classifier_has_its_labels_in_a_file(init: Init, tmp_path: Path) -> None:
    assert "wrote labels.txt" in init(CLASSES, {"config.json": CLASSIFIER})
    found = tables(tmp_path)
    assert found["input_ids"]["max_length"] == 64
    assert found["logits"]["activation"] == "softmax"
    assert found["logits"]["labels"].read_text(encoding="utf-8") == "bad\nso-so\ngood\n"


def test_labels_of_another_model_are_not_replaced(init: Init, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("cat\n")
    with pytest.raises(AssertionError, match=r"labels.txt already exists"):
        init(CLASSES, {"config.json": CLASSIFIER})
    assert not (tmp_path / "mobpack.toml").exists()
    init(CLASSES, {"config.json": CLASSIFIER}, "--force")
    assert (tmp_path / "labels.txt").read_text() == "bad\nso-so\ngood\n"


def test_files_that_are_no_json_say_nothing(init: Init, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"\xff{")
    (tmp_path / "tokenizer_config.json").write_text("[1]")
    init(STATES, {})
    assert tables(tmp_path)["input_ids"]["max_length"] is None


def test_other_models_have_no_tables_for_texts(init: Init, tmp_path: Path) -> None:
    init("(int64[n, 3] x) => (int64[n, 3] y) { y = Identity (x) }", SENTENCES)
    assert "kind = " not in (tmp_path / "mobpack.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "activation"), [({}, "softmax"), ({"problem_type": "multi_label_classification"}, "sigmoid")]
)
def test_classes_without_names_have_no_labels(init: Init, tmp_path: Path, changes: Any, activation: str) -> None:
    names = {str(number): f"LABEL_{number}" for number in range(3)}
    init(CLASSES, {"config.json": {**CLASSIFIER, "id2label": names, **changes}})
    found = tables(tmp_path)["logits"]
    assert (found["labels"], found["activation"]) == (None, activation)
    assert not (tmp_path / "labels.txt").exists()


def test_a_tokenizer_that_is_refused_is_commented_out_with_the_reason(init: Init, tmp_path: Path) -> None:
    said = init(STATES, SENTENCES, normalizer={"type": "Magic"})
    reason = "inputs.input_ids: tokenizer.json: normalizer: 'Magic' is not supported"
    assert f"[model.m.inputs.input_ids] is commented out: {reason}" in said
    text = (tmp_path / "mobpack.toml").read_text(encoding="utf-8")
    assert f"# commented out: {reason}\n# [model.m.inputs.input_ids]" in text
    assert "# commented out: it goes with the text above\n# [model.m.outputs.last_hidden_state]" in text
    assert tables(tmp_path) == {}


def proposed(folder: Path, net: str, files: Mapping[str, Any]) -> dict[str, Table]:
    """Tables for a model with files beside it, by input or output."""
    keeps_own = files["tokenizer_config.json"].get("do_lower_case") is False
    write(folder, files, **({} if keeps_own else {"normalizer": {"type": "Lowercase"}}))
    return {each.name: each for each in text_tables.proposals(loaded(folder, onnx_model(net, opsets={"": 18})))}


WITH_POSITIONS = STATES.replace(
    "int64[batch, tokens] att", "int64[batch, tokens] position_ids, int64[batch, tokens] att"
)
FIXED = STATES.replace("batch, tokens", "1, 16")
OUTPUT = "last_hidden_state"


@pytest.mark.parametrize(
    ("net", "changes", "name", "reason"),
    [
        (WITH_POSITIONS, {}, "input_ids", "the model also takes position_ids, which no text gives"),
        (STATES, {"tokenizer_config.json": {"do_lower_case": False}}, "input_ids", "do_lower_case of tokenizer_config"),
        (FIXED, {"tokenizer_config.json": {"padding_side": "left"}}, "input_ids", "pads at the left"),
        (FIXED, {"tokenizer_config.json": {"pad_token": "[MASK]"}}, "input_ids", "the model pads with [MASK], token 4"),
        (STATES, {"1_Pooling/config.json": {}}, OUTPUT, "no 1_Pooling/config.json says how the model was trained"),
        (STATES, {"1_Pooling/config.json": {"pooling_mode_max_tokens": True}}, OUTPUT, "max_tokens, which is not"),
        (STATES, {"1_Pooling/config.json": {**POOLING, "pooling_mode_cls_token": True}}, OUTPUT, "cls_token, mean_tok"),
        (STATES, {"modules.json": [*MODULES, {"type": "models.Dense"}]}, OUTPUT, "has Dense after the model"),
        (STATES, {"config_sentence_transformers.json": {"similarity_fn_name": "dot"}}, OUTPUT, "their dot product"),
        (CLASSES, {"config.json": {**CLASSIFIER, "problem_type": "regression"}}, "logits", "a number, not classes"),
        (CLASSES, {"config.json": {}}, "logits", "no config.json says that these are classes"),
        (
            CLASSES,
            {"config.json": {**CLASSIFIER, "id2label": {"0": "a"}}},
            "logits",
            "names 1 classes, the model has 3",
        ),
        (
            CLASSES,
            {"config.json": {**CLASSIFIER, "id2label": {"0": "a", "1": "b", "2": "\u202ec"}}},
            "logits",
            "U+202E (right-to-left override) is not allowed in a label",
        ),
    ],
)
def test_what_is_not_certain_has_a_doubt(tmp_path: Path, net: str, changes: Any, name: str, reason: str) -> None:
    found = proposed(tmp_path, net, {**SENTENCES, **changes})
    assert reason in found[name].doubt
    assert bool(found["input_ids"].doubt) == (name == "input_ids")


@pytest.mark.parametrize(
    ("changes", "net", "limit"),
    [
        ({}, FIXED, None),
        ({"tokenizer_config.json": {"model_max_length": 10**30}, "sentence_bert_config.json": {}}, STATES, 512),
        ({"config.json": {"model_type": "roberta", "max_position_embeddings": 130}}, STATES, 128),
        ({"config.json": {}, "tokenizer_config.json": {}, "sentence_bert_config.json": {}}, STATES, None),
    ],
)
def test_the_limit_is_the_smallest_that_is_known(tmp_path: Path, changes: Any, net: str, limit: int | None) -> None:
    found = proposed(tmp_path, net, {**SENTENCES, **changes})["input_ids"]
    assert (found.doubt, found.keys.get("max-length")) == ("", limit)
