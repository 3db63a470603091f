"""Errors of layers: equal to numpy's for their outputs and weights, whichever quantizer made the integers."""

from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx.numpy_helper
import onnxruntime
import pytest

from packager.quantization.measurement import layer_errors
from packager.quantization.measurement.subject import MeasuredGraph
from tests.cases.measurement_cases import classifier, inputs, quantized, samples, subject

ROOT = Path(__file__).parents[2]


def constant(graph: MeasuredGraph, name: str) -> Any:
    proto = onnx.ModelProto.FromString(graph.graph)
    return next(onnx.numpy_helper.to_array(each) for each in proto.graph.initializer if each.name == name)


def sqnr(x: Any, y: Any) -> float:
    a, b = x.astype(numpy.float64), y.astype(numpy.float64)
    return float(10 * numpy.log10((a**2).sum() / ((a - b) ** 2).sum()))


def test_a_layer_has_the_errors_of_its_output_and_its_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    model = classifier()
    model.graph.node.append(onnx.helper.make_node("Cast", ["x"], ["i"], to=onnx.TensorProto.INT64))
    model.graph.node.append(onnx.helper.make_node("MatMul", ["i", "m"], ["k"]))  # a layer of no floats
    model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones((16, 2), numpy.int64), "m"))
    original, found = subject(model, tmp_path), quantized(model, tmp_path)
    done: list[tuple[int, int]] = []
    gemm, matmul = layer_errors(original, found, samples(), tmp_path, lambda *each: done.append(each))
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (gemm.name, gemm.operator, gemm.value, gemm.becomes) == ("h", "Gemm", "r", "DequantizeLinear")
    assert (matmul.value, matmul.becomes) == ("y", "MatMul")
    for error, name in ((gemm, "r"), (matmul, "y")):
        one, other = values(original, name), values(found, name)
        assert error.output_sqnr_db == pytest.approx(sqnr(one, other), abs=0.05)
    integers, scale = constant(found, "w2_quantized"), constant(found, "w2_scale")
    expected = sqnr(constant(original, "w2"), integers.astype(numpy.float32) * scale)
    assert matmul.weight_sqnr_db == pytest.approx(expected, abs=1e-4)


def values(graph: MeasuredGraph, name: str) -> Any:
    """All samples' values `name`, flat, node by node as the graph is written."""
    proto = onnx.ModelProto.FromString(graph.graph)
    del proto.graph.output[:]
    proto.graph.output.append(onnx.ValueInfoProto(name=name))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    return numpy.concatenate([session.run(None, each)[0].ravel() for each in inputs(4)])
