"""A Gemm whose bias was an Add: it has the shape (1, columns), and every quantizer takes it."""

import pytest

from packager.quantizers import Quantizer
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.weight_only import WeightOnly
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import decibels, outcome, run, samples_for, static, weight

NET = "(float[4, 64] x) => (float[4, 32] y) { y = Gemm (x, w, b) }"


@pytest.mark.parametrize("quantizer", [static(), Dynamic(), WeightOnly(bits=8)], ids=["static", "dynamic", "blocks"])
def test_a_bias_of_one_row_is_a_number_per_column(quantizer: Quantizer) -> None:
    model = onnx_model(NET, weights={"w": weight(64, 32), "b": weight(1, 32, seed=1) * 50})
    samples = samples_for(model)
    found = outcome(model, quantizer, samples)
    assert not found.left
    pairs = [(run(model, each)["y"], run(found.model, each)["y"]) for each in samples]
    assert decibels(pairs) > 35
