"""Graphs, samples and metrics for the tests of measurement, and the functions that its child processes call."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx

from packager.core.quantized import Range
from packager.graph.rewriting.draft import Draft
from packager.quantization.measurement import MeasuredGraph, Samples
from packager.quantizers import Calibration, Quantizer, StaticQdq
from tests.cases.onnx_text import onnx_model, weight

READER = "tests.cases.measurement_cases:open_described"
CLASSIFIER = """(float[n, 16] x) => (float[n, 8] y) {
    h = Gemm (x, w1, b1)
    r = Relu (h)
    y = MatMul (r, w2)
}"""


def classifier(*, seed: int = 0) -> onnx.ModelProto:
    """A Gemm with its activation, whose values get quantized, and a MatMul, which gives float."""
    weights = {"w1": weight(16, 32, seed=seed), "b1": weight(32, seed=seed + 1), "w2": weight(32, 8, seed=seed + 2)}
    return onnx_model(CLASSIFIER, weights=weights)


def subject(model: onnx.ModelProto, folder: Path) -> MeasuredGraph:
    return MeasuredGraph(graph=model.SerializeToString(deterministic=True), data_folder=folder)


def quantized(
    model: onnx.ModelProto, folder: Path, quantizer: Quantizer | None = None, *, widest: float = 30.0
) -> MeasuredGraph:
    """`model` quantized by `quantizer` (default: static-qdq); all values lie between -`widest` and `widest`."""
    own = onnx.shape_inference.infer_shapes(model)
    draft = Draft(proto=own, data_folder=folder)
    names = [name for node in own.graph.node for name in (*node.input, *node.output) if name]
    draft.ranges = {name: Range(low=-widest, high=widest) for name in names}
    (quantizer or StaticQdq(calibration=Calibration(samples="unused"))).quantize(draft)
    return MeasuredGraph(graph=draft.finish(), data_folder=folder)


def samples(count: int = 4, **more: object) -> Samples:
    return Samples(reader=READER, description={"count": count, **more}, count=count)


def inputs(count: int) -> list[dict[str, Any]]:
    generator = numpy.random.default_rng(3)
    return [{"x": generator.standard_normal((number + 1, 16)).astype(numpy.float32)} for number in range(count)]


def open_described(description: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """`count` samples of growing batches; `also` adds inputs that were not asked for."""
    print("this is not JSON")
    if folder := description.get("log"):
        with Path(folder, "read.log").open("a") as file:
            file.write("read\n")
    yield from inputs(description["count"] + description.get("also", 0))


def pictures(description: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """`count` pictures of 16x16."""
    generator = numpy.random.default_rng(5)
    for _ in range(description["count"]):
        yield {"x": generator.standard_normal((1, 3, 16, 16)).astype(numpy.float32)}


def mean_of(predict: Callable[[Any], Any]) -> float:
    """A user's metric: higher for lower outputs."""
    print("this is not JSON")
    return float(-numpy.abs(predict(inputs(1)[0])["y"]).mean() - numpy.random.uniform())


def crashing(predict: Callable[[Any], Any]) -> float:
    """Kills the process if outputs exceed all that the float model can give."""
    if numpy.abs(predict(inputs(1)[0])["y"]).max() > 1e6:
        os.kill(os.getpid(), signal.SIGSEGV)
    return 1.0


def failing(predict: Callable[[Any], Any]) -> float:
    return {"a": 1.0}["b"]


def nothing(predict: Callable[[Any], Any]) -> float:
    return float("nan")
