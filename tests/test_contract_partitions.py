"""Providers take a model with a contract as whole as without one: what was added runs on the CPU around the core."""

from pathlib import Path
from typing import Any

import numpy
import pytest

from packager import pipeline
from packager.config import from_document
from packager.console import Console
from packager.findings import Partition
from packager.pipeline import Request
from tests.caches import empty_cache
from tests.onnx_text import onnx_model, saved
from tests.toolchain.environments import have

NET = """(float[batch, 3, height, width] x) => (float[batch, 4] y, float[batch, 4, m] d) <int64[2] axes = {2, 3}> {
    c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)
    r = Relu (c)
    e = Conv <pads = [1, 1, 1, 1]> (r, v)
    s = Relu (e)
    p = GlobalAveragePool (s)
    y = Flatten (p)
    shape = Constant <value = int64[3] {1, 4, -1}> ()
    d = Reshape (s, shape)
}"""
WEIGHTS = {
    "w": numpy.random.default_rng(0).standard_normal((8, 3, 3, 3)).astype(numpy.float32),
    "v": numpy.random.default_rng(1).standard_normal((4, 8, 3, 3)).astype(numpy.float32),
}
IMAGES = {
    "stretch": {"kind": "image", "size": [32, 32]},
    "crop": {"kind": "image", "size": [32, 32], "resize": "crop", "resize-to": 36, "filter": "bicubic"},
    "letterbox": {"kind": "image", "size": [32, 32], "resize": "letterbox", "mean": [0.5, 0.4, 0.3]},
}
OUTPUTS: dict[str, dict[str, Any]] = {
    "y": {"kind": "classes", "activation": "softmax"},
    "d": {"kind": "mask", "activation": "softmax"},
}


def partition(folder: Path, target: str, provider: str, model: dict[str, Any], monkeypatch: Any) -> Partition:
    """What `mobpack check` says of the provider."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(folder / "cache")))
    saved(folder / "net.onnx", onnx_model(NET, weights=WEIGHTS, opsets={"": 18}))
    document = {
        "package": {"name": "any"},
        "model": {"net": {"path": "net.onnx", **model}},
        "target": {target: {"providers": [provider]}},
        "parity": {"random-samples": 1},
    }
    config = from_document(document, folder, targets=(), settings=())
    found = pipeline.check(config, Request(targets=(target,), out=folder / "dist"), Console(quiet=True))
    (only,) = found.report.partitions
    return only


def alone(folder: Path, target: str, provider: str, monkeypatch: Any) -> Partition:
    return partition(folder, target, provider, {"shapes": {"x": [1, 3, 32, 32]}}, monkeypatch)


@pytest.mark.processes
@pytest.mark.parametrize("resize", IMAGES)
def test_coreml_takes_the_core_in_one_piece(tmp_path: Path, resize: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = {"inputs": {"x": IMAGES[resize]}, "outputs": {"y": OUTPUTS["y"]}}
    core = alone(tmp_path, "ios", "coreml", monkeypatch)
    found = partition(tmp_path, "ios", "coreml", model, monkeypatch)
    assert (core.partition_count, found.partition_count, found.share) == (1, 1, 1.0)
    assert found.taken_count >= core.taken_count


@pytest.mark.environments
@pytest.mark.parametrize("provider", ["qnn", "nnapi", "xnnpack"])
def test_providers_of_android_take_the_core_in_as_many_pieces_as_without(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    have("qnn" if provider == "qnn" else "android")
    model = {"inputs": {"x": IMAGES["letterbox"]}, "outputs": {"y": OUTPUTS["y"]}}
    core = alone(tmp_path, "android", provider, monkeypatch)
    found = partition(tmp_path, "android", provider, model, monkeypatch)
    assert (found.partition_count, found.share) == (core.partition_count, core.share)
    assert core.share == 1.0
