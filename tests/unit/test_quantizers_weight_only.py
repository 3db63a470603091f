"""Weights alone in integers: MatMulNBits for matrices, GatherBlockQuantized for tables."""

from typing import Any

import pytest

from packager.quantizers.weight_only import WeightOnly
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import outcome, samples_for, weight


@pytest.mark.parametrize(("bits", "least"), [(4, 15), (8, 38)])
@pytest.mark.parametrize(
    "layer",
    [
        "MatMul (x, w)",
        "Gemm (x, w)",
        "Gemm (x, w, b)",
        "Gemm <transB = 1> (x, w, b)",
        "Gemm <transA = 1> (x, w, b)",
        "Gemm <transA = 1, transB = 1> (x, w)",
    ],
)
def test_matrices_in_blocks_compute_nearly_the_same(layer: str, bits: Any, least: float) -> None:
    model = onnx_model(
        f"(float[32,32] x) => (float[32,32] y) {{ y = {layer} }}", weights={"w": weight(32, 32), "b": weight(32)}
    )
    samples = samples_for(model)
    made = outcome(model, WeightOnly(bits=bits), samples)
    assert made.operators.count("MatMulNBits") == 1
    assert made.decibels(samples[0]) > least
    assert made.decibels(samples[0], is_optimized=False) > least


@pytest.mark.parametrize("level", [0, 1, 4])
def test_what_it_multiplies_in_is_written_unless_the_runtime_chooses(level: Any) -> None:
    model = onnx_model("(float[4,32] x) => (float[4,8] y) { y = MatMul (x, w) }", weights={"w": weight(32, 8)})
    samples = samples_for(model)
    made = outcome(model, WeightOnly(accuracy_level=level), samples)
    found = {each.name: each.i for each in made.node("MatMulNBits").attribute}
    assert found == {"K": 32, "N": 8, "bits": 4, "block_size": 32, **({"accuracy_level": level} if level else {})}
    assert made.decibels(samples[0]) > 14


def test_why_a_layer_stays_in_float_is_noted() -> None:
    model = onnx_model(
        """(float[1,4,8,8] x) => (float[1,4,8,8] y) {
            a = Conv (x, k) b = MatMul (a, batch) c = MatMul (b, w) y = MatMul (c, w)
        }""",
        weights={"k": weight(4, 4, 1, 1), "batch": weight(4, 8, 8), "w": weight(8, 8)},
    )
    made = outcome(model, WeightOnly(exclude=("y",)))
    assert made.operators == ["Conv", "MatMul", "MatMulNBits", "MatMul"]
    assert made.reasons == {
        "y": "excluded by the configuration",
        "a": "there is no operator for it with weights in blocks",
        "b": "its weights are more than one matrix",
    }


@pytest.mark.parametrize("operators", [("MatMul",), ("Gemm",), ("Gather",)])
def test_operators_that_are_not_named_stay(operators: Any) -> None:
    model = onnx_model(
        "(int64[4] i) => (float[4,8] y) { a = Gather (e, i) b = MatMul (a, w) y = Gemm (b, v) }",
        weights={"e": weight(100, 32), "w": weight(32, 16), "v": weight(16, 8)},
    )
    made = outcome(model, WeightOnly(operators=operators))
    expected = {"MatMul": ["MatMulNBits"], "Gemm": ["MatMulNBits"], "Gather": ["GatherBlockQuantized"]}[operators[0]]
    assert [each for each in made.operators if each not in ("MatMul", "Gemm", "Gather")] == expected


@pytest.mark.parametrize("opset", [9, 11, 13, 21, 26])
def test_opsets_of_all_ages_run(opset: int) -> None:
    model = onnx_model(
        "(float[4,32] x) => (float[4,8] y) { y = MatMul (x, w) }",
        weights={"w": weight(32, 8)},
        opsets={"": opset},
        ir_version=10,
    )
    samples = samples_for(model)
    assert outcome(model, WeightOnly(), samples).decibels(samples[0]) > 14
