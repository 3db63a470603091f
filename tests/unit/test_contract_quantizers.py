"""Quantizers leave a contract's nodes alone: sizes and boxes need full precision."""

from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager.contract import attachment
from packager.core.contract import ADDED
from packager.core.values import Model
from packager.graph.rewriting.draft import draft_of
from packager.quantizers import Calibration, StaticQdq
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.float16 import Float16
from packager.quantizers.quantizer import Quantizer
from packager.quantizers.weight_only import WeightOnly
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.unit.test_attachment import tables

NET = """(float[1, 3, 16, 16] x) => (float[1, 8] y) <int64[2] axes = {2, 3}> {
    c = Conv <pads = [1, 1, 1, 1]> (x, w)
    r = Relu (c)
    p = ReduceMean <keepdims = 0> (r, axes)
    y = MatMul (p, m)
}"""
FEEDS = {
    "x.pixels": numpy.random.default_rng(0).integers(0, 256, (40, 30, 4), dtype=numpy.uint8),
    "x.channels": numpy.array([0, 1, 2]),
    "x.orientation": numpy.array(6),
    "x.chroma": numpy.zeros((1, 1, 1), numpy.uint8),
    "x.conversion": numpy.zeros(3, numpy.int64),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    weights = {"w": weight(16, 3, 3, 3), "m": weight(16, 8, seed=1)}
    net = onnx_model(NET, weights=weights, opsets={"": 18})
    image = {"kind": "image", "resize": "letterbox", "mean": (0.5,), "std": (0.25,)}
    wanted = tables({"x": image}, {"y": {"kind": "classes", "activation": "softmax"}})
    return attachment.attach(loaded(tmp_path_factory.mktemp("net"), net), wanted).model


def added(graph: bytes) -> dict[str, tuple[str, list[str], list[str]]]:
    nodes = onnx.ModelProto.FromString(graph).graph.node
    return {n.name: (n.op_type, list(n.input), list(n.output)) for n in nodes if n.name.startswith(ADDED)}


def scores(model: Model, graph: bytes) -> Any:
    """Scores of `graph`, which lies beside its weights."""
    path = model.data_folder / "run.onnx"
    path.write_bytes(graph)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["y.scores"], FEEDS)[0]


@pytest.mark.parametrize(
    "quantizer", [Float16(), Dynamic(), WeightOnly(bits=8)], ids=["float16", "dynamic", "weight-only"]
)
def test_what_was_added_stays_as_it_is(model: Model, quantizer: Quantizer) -> None:
    draft = draft_of(model.graph, model.data_folder)
    quantizer.quantize(draft)
    made = draft.finish()
    before, after = added(model.graph), added(made)
    assert len(before) > 10
    assert {name: op for name, (op, _, _) in after.items()} == {name: op for name, (op, _, _) in before.items()}
    original, quantized = scores(model, model.graph), scores(model, made)
    assert quantized == pytest.approx(original, abs=0.05)
    assert not numpy.array_equal(quantized, original)


def test_what_was_added_has_no_range_and_is_not_noted(model: Model) -> None:
    draft = draft_of(model.graph, model.data_folder)
    Float16().quantize(draft)
    assert [each.name for each in draft.left if each.name.startswith(ADDED)] == []
    # The model's own input is measured: the first scale belongs there.
    draft = draft_of(model.graph, model.data_folder)
    found = StaticQdq(calibration=Calibration(samples="any")).measures(draft)
    assert "x" in found
    assert [name for name in found if name.startswith(ADDED)] == []
