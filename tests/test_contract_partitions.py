"""A contract does not split partitions: its nodes run on the CPU around the model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from onnx import ModelProto
from tokenizers import Tokenizer, normalizers

from packager import models, plan
from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.core.findings import Partition
from packager.core.values import baseline
from packager.files.store import Store
from packager.targets import Target
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.verification.partition.report import partitions
from tests.onnx_text import onnx_model, saved
from tests.test_attachment import tables
from tests.test_tokenization_models import unigram
from tests.tokenizer_graphs import bert, changed, of_bytes
from tests.toolchain.environments import have

pytestmark = pytest.mark.by_content

NET = """(float[batch, 3, height, width] x)
=> (float[batch, 4, 1, 1] y, float[batch, 4, h, w] d, float[batch, 8, m] b) {
    c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)
    r = Relu (c)
    e = Conv <pads = [1, 1, 1, 1]> (r, v)
    d = Relu (e)
    p = GlobalAveragePool (d)
    y = Conv (p, u)
    f = Conv (d, t)
    shape = Constant <value = int64[3] {1, 8, 256}> ()
    b = Reshape (f, shape)
}"""
WEIGHTS = {
    name: numpy.random.default_rng(0).standard_normal(shape).astype(numpy.float32)
    for name, shape in (("w", (8, 3, 3, 3)), ("v", (4, 8, 3, 3)), ("u", (4, 4, 1, 1)), ("t", (8, 4, 1, 1)))
}
OPSET = {"": 18}
WHOLE: Any = pytest.approx(1.0, abs=1e-3)
"""OpenCV's interpolation and the conversion of luma and chroma have MACs of their own."""
IMAGES: dict[str, dict[str, Any]] = {
    "stretch": {"kind": "image", "size": (32, 32)},
    "crop": {"kind": "image", "size": (32, 32), "resize": "crop", "resize_to": 36, "filter": "bicubic"},
    "letterbox": {"kind": "image", "size": (32, 32), "resize": "letterbox", "mean": (0.5, 0.4, 0.3), "colour": "bgr"},
    "as OpenCV": {"kind": "image", "size": (32, 32), "resize": "letterbox", "antialias": False},
}
OUTPUTS: dict[str, dict[str, dict[str, Any]]] = {
    "classes": {"y": {"kind": "classes", "activation": "softmax"}},
    "mask": {"d": {"kind": "mask", "activation": "softmax"}},
    "mask of the picture": {"d": {"kind": "mask", "activation": "softmax", "size": "picture"}},
    "boxes": {"b": {"kind": "boxes", "format": "yolo"}},
    "embedding": {"y": {"kind": "embedding"}},
}


HEARING = """(float[batch, 1, 4000] a) => (float[batch, 4, 1] y) {
    c = Conv <strides = [8]> (a, w)
    r = Relu (c)
    y = Conv <strides = [8]> (r, v)
}"""
HEARING_WEIGHTS = {"w": WEIGHTS["w"][:, :1, 0], "v": numpy.ones((4, 8, 500), numpy.float32)}
SOUNDS: dict[str, dict[str, Any]] = {
    "samples": {"kind": "audio", "rate": 8000},
    "16-bit samples": {"kind": "audio", "rate": 8000, "format": "pcm16", "scale": 2.0},
}


def partition(folder: Path, target: Target, inputs: Any, outputs: Any) -> Partition:
    """The partition of the target's provider for the image net."""
    shapes = {} if inputs else {"x": (1, 3, 32, 32)}
    return _partition(folder, target, tables(inputs, outputs), onnx_model(NET, weights=WEIGHTS, opsets=OPSET), shapes)


def heard(folder: Path, target: Target, inputs: Any) -> Partition:
    """The partition of the target's provider for the audio net."""
    net = onnx_model(HEARING, weights=HEARING_WEIGHTS, opsets=OPSET)
    return _partition(folder, target, tables(inputs, {}), net, {} if inputs else {"a": (1, 1, 4000)})


def _partition(folder: Path, target: Target, wanted: Tables, net: ModelProto, shapes: Any) -> Partition:
    path = saved(folder / "net.onnx", net)
    model = attachment.attach(models.load(path, "net", fixed=shapes), wanted).model
    model = models.hashed(model)
    made = plan.make(baseline(model), target, Store(folder / "store"), lambda text: None)
    scratch = folder / f"scratch-{len(wanted.inputs)}"
    scratch.mkdir()
    (only,) = partitions(made, scratch)
    return only


@pytest.fixture(scope="module")
def coreml(tmp_path_factory: pytest.TempPathFactory) -> Partition:
    """The net alone."""
    return partition(tmp_path_factory.mktemp("alone"), Ios(providers=("coreml",)), {}, {})


@pytest.mark.processes
@pytest.mark.parametrize("outputs", [name for name in OUTPUTS if "mask" not in name])
def test_coreml_takes_the_core_in_one_piece_ahead_of_every_output(
    tmp_path: Path, coreml: Partition, outputs: str
) -> None:
    found = partition(tmp_path, Ios(providers=("coreml",)), {"x": IMAGES["stretch"]}, OUTPUTS[outputs])
    assert (coreml.partition_count, found.partition_count, found.share) == (1, 1, WHOLE)
    assert found.taken_count >= coreml.taken_count


@pytest.mark.processes
@pytest.mark.parametrize("outputs", [name for name in OUTPUTS if "mask" in name])
def test_coreml_takes_the_best_class_of_each_place_as_a_second_piece(
    tmp_path: Path, coreml: Partition, outputs: str
) -> None:
    """In 16 bits it is still the best one, or an equal one."""
    found = partition(tmp_path, Ios(providers=("coreml",)), {"x": IMAGES["stretch"]}, OUTPUTS[outputs])
    assert (found.partition_count, found.share) == (2, WHOLE)
    assert found.taken_count >= coreml.taken_count


@pytest.mark.processes
@pytest.mark.parametrize("image", IMAGES)
def test_coreml_takes_the_core_in_one_piece_behind_every_picture(tmp_path: Path, coreml: Partition, image: str) -> None:
    found = partition(tmp_path, Ios(providers=("coreml",)), {"x": IMAGES[image]}, OUTPUTS["classes"])
    assert (found.partition_count, found.share) == (1, WHOLE)
    assert found.taken_count >= coreml.taken_count


@pytest.mark.environments
@pytest.mark.parametrize(
    ("provider", "image", "outputs"),
    [
        ("qnn", "stretch", "classes"),
        ("qnn", "crop", "mask of the picture"),
        ("qnn", "letterbox", "boxes"),
        ("qnn", "as OpenCV", "mask"),
        ("nnapi", "letterbox", "classes"),
        ("nnapi", "crop", "boxes"),
        ("xnnpack", "letterbox", "boxes"),
    ],
)
def test_providers_of_android_take_the_core_in_as_many_pieces_as_without(
    tmp_path: Path, provider: str, image: str, outputs: str
) -> None:
    have("qnn" if provider == "qnn" else "android")
    target = Android(providers=(provider,))
    alone = partition(tmp_path, target, {}, {})
    found = partition(tmp_path, target, {"x": IMAGES[image]}, OUTPUTS[outputs])
    assert (found.refusal, found.partition_count, found.share) == ("", alone.partition_count, WHOLE)
    assert alone.share == 1.0


@pytest.mark.processes
@pytest.mark.parametrize("sound", SOUNDS)
def test_coreml_takes_the_core_in_one_piece_behind_a_recording(tmp_path: Path, sound: str) -> None:
    target = Ios(providers=("coreml",))
    alone, found = heard(tmp_path, target, {}), heard(tmp_path, target, {"a": SOUNDS[sound]})
    assert (alone.partition_count, found.partition_count) == (1, 1)
    assert found.taken_count >= alone.taken_count


@pytest.mark.environments
@pytest.mark.parametrize("sound", SOUNDS)
def test_qnn_takes_the_core_in_one_piece_behind_a_recording(tmp_path: Path, sound: str) -> None:
    have("qnn")
    target = Android(providers=("qnn",))
    alone, found = heard(tmp_path, target, {}), heard(tmp_path, target, {"a": SOUNDS[sound]})
    assert (found.refusal, alone.partition_count, found.partition_count) == ("", 1, 1)


READING = """(int64[batch, n] input_ids) => (float[batch, n, 4] y) {
    e = Gather (w, input_ids)
    y = MatMul (e, v)
}"""
READING_WEIGHTS = {"w": numpy.ones((600, 4), numpy.float32), "v": numpy.eye(4, dtype=numpy.float32)}
TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "WordPiece": bert,
    "byte-pair encoding": lambda: of_bytes(normalizers.NFC()),
    "Unigram": lambda: unigram(1, is_single=True),
}


@pytest.mark.processes
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_coreml_takes_no_node_of_a_tokenizer(tmp_path: Path, tokenizer: str) -> None:
    net = onnx_model(READING, weights=READING_WEIGHTS, opsets=OPSET)
    path = changed(TOKENIZERS[tokenizer](), tmp_path)
    found = [
        _partition(tmp_path, Ios(providers=("coreml",)), tables(inputs, {}), net, {})
        for inputs in ({}, {"input_ids": {"kind": "text", "tokenizer": path}})
    ]
    assert [each.partition_count for each in found] == [1, 1]
    assert found[0].taken_count == found[1].taken_count
