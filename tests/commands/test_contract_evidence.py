"""Evidence for a model with a contract, and the notes where there is none."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from PIL import Image

from packager.config import Config, from_document
from packager.contract import attachment
from packager.contract.attachment import Attached, Tables
from packager.core.console import Console
from packager.core.errors import ModelError
from packager.files.store import Store
from packager.verification import evidence
from packager.workflows import build
from packager.workflows.options import contracts_of
from packager.workflows.requested import BuildRequest
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import loaded, onnx_model, saved
from tests.unit.test_attachment import tables

OLD = "(float[1, 8] x) => (float[1, 8] y) { z = Mul (x, x) y = Softmax <axis = 1> (z) }"
FINDER = """(float[1, 3, 32, 32] x) => (float[1, 5, 64] d) <int64[3] shape = {1, 1, 64}> {
    p = AveragePool <kernel_shape = [4, 4], strides = [4, 4]> (x)
    s = ReduceMean <keepdims = 1> (p, axes)
    r = Reshape (s, shape)
    d = Concat <axis = 1> (r, r, r, r, r)
}"""
CLASSES: dict[str, Any] = {"y": {"kind": "classes", "activation": "none"}}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / "cache")))


def attached(folder: Path, opset: int) -> Attached:
    return attachment.attach(loaded(folder, onnx_model(OLD, opsets={"": opset})), tables({}, CLASSES))


def test_a_raised_model_that_computes_the_same_is_used(tmp_path: Path) -> None:
    found, store = attached(tmp_path, 13), Store(tmp_path / "store")
    assert found.is_raised
    evidence.refuse_changed(found, store)
    evidence.refuse_changed(found, store)  # from the store


def test_a_raised_model_that_computes_something_else_is_refused(tmp_path: Path) -> None:
    found = attached(tmp_path, 13)
    broken = onnx.ModelProto.FromString(found.core.graph)
    next(node for node in broken.graph.node if node.op_type == "Mul").op_type = "Add"
    changed = replace(found, core=replace(found.core, graph=broken.SerializeToString()))
    with pytest.raises(
        ModelError, match="raised its opset for the contract, and output 'y' is no longer the same"
    ) as refused:
        evidence.refuse_changed(changed, Store(tmp_path / "store"))
    assert "opset_version=18" in refused.value.hint


def test_what_was_not_raised_needs_no_proof(tmp_path: Path) -> None:
    found = attached(tmp_path, 18)
    evidence.refuse_changed(found, Store(tmp_path / "store"))
    assert not (tmp_path / "store" / "raised").exists()


def project(folder: Path, outputs: dict[str, Any], **parity: Any) -> Config:
    net = onnx_model(FINDER, weights={"axes": numpy.array([1])}, opsets={"": 18})
    saved(folder / "net.onnx", net)
    document = {
        "package": {"name": "finder"},
        "model": {"finder": {"path": "net.onnx", "inputs": {"x": {"kind": "image"}}, "outputs": outputs}},
        "parity": parity,
        "check": {"kernels": "skip"},
        "target": {"android": {"providers": []}},
    }
    return from_document(document, folder, targets=(), settings=())


def warnings(config: Config, folder: Path) -> list[str]:
    request = BuildRequest(targets=("android",), out=folder / "dist")
    return list(build.check(config, request, Console(quiet=True)).warnings)


def test_boxes_are_evidence_where_there_are_any(tmp_path: Path) -> None:
    boxes = {"d": {"kind": "boxes", "format": "yolo", "score-threshold": 0.9}}
    found = [text for text in warnings(project(tmp_path, boxes), tmp_path) if "empty" in text]
    assert len(found) == 1
    assert "outputs 'd.boxes', 'd.scores', 'd.classes' are empty on every sample (3 random, seed 0, x." in found[0]
    assert "set [parity] samples to files in which it finds something" in found[0]
    (tmp_path / "samples").mkdir()
    Image.new("RGB", (40, 40), (255, 255, 255)).save(tmp_path / "samples" / "white.png")
    boxes = {"d": {"kind": "boxes", "format": "yolo", "score-threshold": 0.9}}
    config = project(tmp_path, boxes, samples="samples")
    assert [text for text in warnings(config, tmp_path) if "empty" in text] == []


@pytest.mark.parametrize(("outputs", "is_said"), [("int64[2,k] y", True), ("int64[2,k] y, float[n,4] z", False)])
def test_nor_is_a_model_without_contract_or_numbers(tmp_path: Path, outputs: str, is_said: bool) -> None:
    nodes = "limit = Constant <value_float = 100.0> () over = Greater (x, limit) y = NonZero (over) z = Neg (x)"
    saved(tmp_path / "net.onnx", onnx_model(f"(float[n,4] x) => ({outputs}) {{ {nodes} }}"))
    config = from_document(
        {
            "package": {"name": "finder"},
            "model": {"finder": {"path": "net.onnx"}},
            "check": {"kernels": "skip"},
            "target": {"android": {"providers": []}},
        },
        tmp_path,
        targets=(),
        settings=(),
    )
    found = [text for text in warnings(config, tmp_path) if "outputs 'y' are empty on every sample" in text]
    assert len(found) == is_said


def test_a_sound_whose_length_is_random_is_not_compared_and_named(tmp_path: Path) -> None:
    voice = """(float[1, n] x) => (float[1, m] y) <int64[1] one = {1}> {
        drawn = RandomUniform <shape = [1], high = 4000.0, low = 10.0> () length = Cast <to = 7> (drawn)
        sizes = Concat <axis = 0> (one, length) silence = ConstantOfShape (sizes) y = RandomNormalLike (silence) }"""
    saved(tmp_path / "net.onnx", onnx_model(voice, opsets={"": 18}))
    document = {
        "package": {"name": "voice"},
        "model": {"voice": {"path": "net.onnx", "outputs": {"y": {"kind": "sound", "rate": 22050}}}},
        "check": {"kernels": "skip"},
        "target": {"android": {"providers": []}},
    }
    found = warnings(from_document(document, tmp_path, targets=(), settings=()), tmp_path)
    assert "model 'voice': output 'y.samples' is random and was not compared" in found
    assert [text for text in found if "instead of" in text] == []


def test_the_manifest_holds_contracts_without_folders(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("thing\n", encoding="utf-8")
    config = project(tmp_path, {"d": {"kind": "boxes", "format": "yolo", "labels": "labels.txt"}})
    found = json.loads(json.dumps(contracts_of(config)))["contract"]["finder"]
    assert found["inputs"]["x"]["kind"] == "image"
    assert (found["outputs"]["d"]["labels"], found["outputs"]["d"]["format"]) == ("labels.txt", "yolo")
    assert found["outputs"]["d"]["labels-sha256"] == sha256(b"thing\n").hexdigest()
    config = project(tmp_path, {})
    plain = config.model["finder"].model_copy(update={"inputs": {}})
    assert contracts_of(config.model_copy(update={"model": {"finder": plain}})) == {}
    assert Tables(inputs={}, outputs={}).are_empty
