"""Biases have the scale of the product they are added to, and 32 bits for it."""

from typing import Any

import numpy
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnxruntime.quantization.base_quantizer import BaseQuantizer
from onnxruntime.quantization.qdq_quantizer import QDQQuantizer

from packager.core.errors import ModelError
from packager.graph.weights.bias import quantize_bias, weight_scale_factors
from tests.cases.onnx_text import weight

INPUT_SCALE = numpy.array(1e-3, numpy.float32)


class Theirs:
    """The attributes that ONNX Runtime's quantizer methods use."""

    def __init__(self, bias: NDArray[Any]) -> None:
        self.tensor = numpy_helper.from_array(bias, "b")
        self.model = self
        self.weight_qType = TensorProto.INT8
        self.made: list[TensorProto] = []

    def initializer(self) -> list[TensorProto]:
        return [self.tensor]

    def initializer_extend(self, tensors: list[TensorProto]) -> None:
        self.made += tensors


@pytest.mark.parametrize(
    "scales", [numpy.array(0.02, numpy.float32), numpy.linspace(1e-3, 0.1, 64, dtype=numpy.float32)]
)
def test_a_bias_has_the_integers_that_onnxruntime_gives_it(scales: NDArray[Any]) -> None:
    bias = weight(64)
    theirs = Theirs(bias)
    BaseQuantizer.quantize_bias_static_impl(theirs, "b", INPUT_SCALE, scales)
    integers, scale = (numpy_helper.to_array(tensor) for tensor in theirs.made[:2])
    ours = quantize_bias(bias, float(INPUT_SCALE), scales)
    assert ours.clipped == 0
    assert numpy.allclose(ours.parameters.scale, scale.reshape(scales.shape), rtol=1e-6)
    assert numpy.abs(ours.values.astype(numpy.int64) - integers).max() <= 1 + 1e-6 * numpy.abs(integers).max()


@pytest.mark.parametrize("is_per_channel", [True, False])
def test_weight_scales_grow_as_those_of_onnxruntime_do(is_per_channel: bool) -> None:
    bias = numpy.array([1e3, -5.0, 1e-3, 0.0], numpy.float32)
    scales = (
        numpy.array([1e-6, 1e-5, 1e-9, 1e-3], numpy.float32) if is_per_channel else numpy.array(1e-6, numpy.float32)
    )
    changed, theirs = QDQQuantizer._adjust_weight_scale_for_int32_bias(
        None, INPUT_SCALE, scales.copy(), "w", numpy_helper.from_array(bias, "b"), is_per_channel
    )
    factors = weight_scale_factors(bias, float(INPUT_SCALE), scales)
    assert changed
    assert (factors > 1).any()
    assert numpy.allclose(scales * factors, theirs, rtol=1e-6)


def test_a_bias_saturates_where_its_scale_cannot_grow() -> None:
    bias, scales = numpy.array([1e3, -1e3, 1.0], numpy.float32), numpy.array([1e-6, 1e-7, 1e-4], numpy.float32)
    assert quantize_bias(bias, 1e-3, scales).clipped == 2
    grown = (scales * weight_scale_factors(bias, 1e-3, scales)).astype(numpy.float32)
    found = quantize_bias(bias, 1e-3, grown)
    assert found.clipped == 0
    assert numpy.allclose(found.values * found.parameters.scale.astype(numpy.float64), bias, rtol=1e-3)
    assert quantize_bias(numpy.array([1.0, -1.0]), 1e-6, 1e-6).values.tolist() == [2**31 - 1, -(2**31)]
    bias = numpy.array([1e-30], numpy.float32)
    with pytest.raises(ModelError, match="bias 'b' or its scale"):
        quantize_bias(bias, 1e-30, 1e-30, name="b")
    factor = float(weight_scale_factors(bias, 1e-30, 1e-30))
    assert quantize_bias(bias, 1e-30, 1e-30 * factor).parameters.scale >= numpy.finfo(numpy.float32).tiny
    assert weight_scale_factors(numpy.zeros(3), 1e-3, numpy.full(3, 1e-38)).tolist() == [1.0] * 3
    assert weight_scale_factors(numpy.zeros(0), 1e-3, 1e-38) == 1.0
    with pytest.raises(ModelError, match="bias 'b'"):
        quantize_bias(numpy.array([numpy.nan]), 1e-3, 1e-3, name="b")
