"""Metrics of the user's own: `predict` and `predict.app`, as docs/quantization.md shows them."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from packager.config import load
from packager.contract.attachment import attach
from packager.contract.telling import from_json, to_json
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.files.store import Store
from packager.quantization.measurement import Evaluator, MeasuredGraph
from packager.quantization.measurement.predicting import Predict
from packager.quantization.measurement.running import opened
from packager.quantization.variants import BuiltVariant, build_variant
from packager.workflows.planning import load_model
from tests.cases.labelled_pictures import MEAN, STD, accuracy, classifier, folder_of, normalized, pictures
from tests.cases.onnx_text import loaded, onnx_model, saved, weight
from tests.unit.test_attachment import tables

DOCS = Path(__file__).parents[2] / "docs" / "quantization.md"
LABELS = [f"stripes {number}" for number in range(10)]
PROJECT = f"""
[package]
name = "vision"
[model.classifier]
path = "classifier.onnx"
[model.classifier.inputs.image]
kind = "image"
mean = {list(MEAN)}
std = {list(STD)}
[model.classifier.outputs.logits]
kind = "classes"
activation = "softmax"
labels = "labels.txt"
[variant.small]
quantizer = "auto"
calibration = "calib"
metric = "evaluate:METRIC"
max-drop = 0.02
methods = ["minmax"]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a contract, the example of the documentation as evaluate.py, and its data: one label of 40 is
    wrong."""
    folder = tmp_path_factory.mktemp("project")
    saved(folder / "classifier.onnx", classifier())
    folder_of(folder / "calib")
    (example,) = re.findall(r"```python\n(.*?def accuracy_of_tensors.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    (folder / "evaluate.py").write_text(example)
    (folder / "labels.txt").write_text("\n".join(LABELS) + "\n")
    shown = [(pixels, 1 if number == 0 else label) for number, (pixels, label) in enumerate(pictures(40, 8))]
    for number, (pixels, label) in enumerate(shown):
        path = folder / "validation" / LABELS[label] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
    images = numpy.stack([normalized(pixels) for pixels, _ in shown])
    numpy.savez(folder / "validation.npz", images=images, labels=[label for _, label in shown])
    assert accuracy(folder / "classifier.onnx", 40, 8) == 1.0
    return folder


def model_of(project: Path) -> Model:
    (project / "mobpack.toml").write_text(PROJECT)
    config = load(project / "mobpack.toml")
    return load_model("classifier", config.model["classifier"], Store(project / "store"), Console(quiet=True))


@pytest.mark.parametrize("metric", ["accuracy", "accuracy_of_tensors"])
def test_the_example_of_the_documentation_measures_a_project_with_a_contract(
    project: Path, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """39 of 40, in float and in a variant that a search has found."""
    monkeypatch.chdir(project)
    model = model_of(project)
    (project / "mobpack.toml").write_text(PROJECT.replace("METRIC", metric))
    recipe = load(project / "mobpack.toml").quantizer_of("small")
    made: BuiltVariant = build_variant(model, "small", recipe, Store(project / "store"), Console(quiet=True))
    assert made.found
    assert made.found.drop == 0
    assert any(b"QuantizeLinear" in each for each in [made.variant.graph])
    folder = project / metric
    folder.mkdir()
    original = MeasuredGraph(graph=made.graph, data_folder=model.data_folder)
    with Evaluator(original, f"evaluate:{metric}", folder, contract=model.contract) as evaluator:
        assert evaluator.original == 39 / 40
        found = MeasuredGraph(graph=made.variant.graph, data_folder=made.variant.data_folder)
        assert evaluator.score(found.written(folder / "found.onnx"), found.data_folder).value == 39 / 40


def test_the_helper_for_apps_says_what_a_model_without_a_contract_lacks(project: Path, tmp_path: Path) -> None:
    bare = MeasuredGraph(graph=classifier().SerializeToString(), data_folder=tmp_path)
    evaluator = Evaluator(bare, "evaluate:accuracy", tmp_path, code_folder=project)
    with pytest.raises(ConfigError, match="needs a model with a contract"), evaluator:
        pass
    with Evaluator(bare, "evaluate:accuracy_of_tensors", tmp_path, code_folder=project) as known:
        assert known.original == 39 / 40


TEXTS = """(int64[1, n] input_ids, int64[1, n] attention_mask) => (float[1, 4] y) {
    e = Gather (table, input_ids)
    y = ReduceMean <axes = [1], keepdims = 0> (e)
}"""
TONE = numpy.sin(numpy.arange(400) * 0.05).astype(numpy.float32)
CLASSES = {"y": {"kind": "classes", "activation": "softmax", "top_k": 4}}


@pytest.mark.parametrize("kind", ["text", "audio"])
def test_an_app_passes_texts_and_recordings_and_gets_what_the_tensors_give(tmp_path: Path, kind: str) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "film"]) + "\n")
    cases: dict[str, tuple[Any, Any, Any, Any]] = {
        "text": (
            onnx_model(TEXTS, weights={"table": weight(6, 4)}),
            {"input_ids": {"kind": "text", "tokenizer": tmp_path / "vocab.txt"}},
            {"text": "Good film"},
            {"input_ids": numpy.array([[2, 4, 5, 3]]), "attention_mask": numpy.ones((1, 4), numpy.int64)},
        ),
        "audio": (
            onnx_model("(float[1, 400] x) => (float[1, 4] y) { y = MatMul (x, w) }", weights={"w": weight(400, 4)}),
            {"x": {"kind": "audio", "rate": 16000}},
            {"x": (TONE, 16000)},
            {"x": TONE[None]},
        ),
    }
    net, table, given, own = cases[kind]
    model = attach(loaded(tmp_path, net), tables(table, CLASSES)).model
    assert model.contract
    contract = from_json(json.loads(json.dumps(to_json(model.contract))))
    assert contract == replace(model.contract, shapes={}, values={})

    def opened_beside(graph: bytes) -> Any:
        return opened(graph, str(model.data_folder))

    predict = Predict(opened_beside(model.graph), model.graph, opened_beside, contract)
    shares = numpy.exp(predict(own)["y"][0])
    expected = shares / shares.sum()
    classes: Any = predict.app(given)["y"]
    assert [each.index for each in classes] == (-expected).argsort().tolist()
    assert [each.score for each in classes] == pytest.approx(sorted(expected, reverse=True), abs=1e-4)
    with pytest.raises(ConfigError, match=r"predict\.app takes .*; got nothing"):
        predict.app({})
