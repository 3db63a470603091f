"""Latency: two graphs that take turns, and the decision which is worth shipping."""

from pathlib import Path

import numpy
import pytest

from packager.core.errors import ConfigError, ModelError
from packager.quantization.measurement import Samples, latency
from tests.cases.measurement_cases import READER, inputs, samples, subject
from tests.cases.onnx_text import onnx_model, weight


def test_a_graph_of_more_work_takes_longer_on_this_machine(tmp_path: Path) -> None:
    small = subject(onnx_model("(float[n, 16] x) => (float[n, 16] y) { y = Relu (x) }"), tmp_path)
    large = onnx_model(
        "(float[n, 16] x) => (float[n, 2048] y) { a = MatMul (x, v) y = MatMul (a, w) }",
        weights={"v": weight(16, 2048), "w": weight(2048, 2048)},
    )
    found = latency(small, subject(large, tmp_path), samples(), tmp_path, runs=7)
    assert found.ratio > 5
    assert found.quantized_ms > found.float_ms > 0
    assert found.run_count == 7
    assert found.float_spread_ms[0] <= found.float_ms <= found.float_spread_ms[1]
    assert found.machine.endswith(", 1 thread")
    with numpy.load(tmp_path / "sample.npz") as arrays:
        numpy.testing.assert_array_equal(arrays["x"], inputs(1)[0]["x"])


def test_what_cannot_be_timed_is_refused(tmp_path: Path) -> None:
    fine = subject(onnx_model("(float[n, 16] x) => (float[n, 16] y) { y = Relu (x) }"), tmp_path)
    bad = subject(onnx_model("(float[n, 16] x) => (float[n, 16] y) { y = NoSuchThing (x) }"), tmp_path)
    with pytest.raises(ModelError, match=r"cannot run a graph for the latency measurement: .*NoSuchThing"):
        latency(fine, bad, samples(), tmp_path)
    none = Samples(reader=READER, description={"count": 0}, count=0)
    with pytest.raises(ConfigError, match="no sample to time the model on"):
        latency(fine, fine, none, tmp_path)
