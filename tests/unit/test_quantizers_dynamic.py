"""Dynamic quantization: the form that ONNX Runtime fuses, for every layer type that it knows."""

from typing import Any

import numpy
import onnx
import pytest

from packager.core.errors import ModelError
from packager.quantizers.dynamic import Dynamic, Operator
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import outcome, samples_for, session, weight

ALL: tuple[Operator, ...] = ("MatMul", "Gemm", "Conv", "LSTM", "Gather")


def test_matrices_in_integers_compute_nearly_the_same() -> None:
    for per_channel in [True, False]:
        for layer in [
            "MatMul (x, w)",
            "MatMul (x, batch)",
            "Gemm (x, w)",
            "Gemm (x, w, b)",
            "Gemm <transB = 1> (x, w, b)",
            "Gemm <transA = 1> (x, w)",
            "Gemm <transA = 1, transB = 1> (x, w, b)",
        ]:
            shape = "3,16,16" if "batch" in layer else "16,16"
            model = onnx_model(
                f"(float[16,16] x) => (float[{shape}] y) {{ y = {layer} }}",
                weights={"w": weight(16, 16), "batch": weight(3, 16, 16), "b": weight(16, seed=1)},
            )
            samples = samples_for(model)
            made = outcome(model, Dynamic(per_channel=per_channel), samples)
            assert made.operators.count("MatMulInteger") == 1
            assert made.decibels(samples[0]) > 35
            assert made.decibels(samples[0], is_optimized=False) > 35


def test_convolutions_in_integers_compute_nearly_the_same() -> None:
    for per_channel in [True, False]:
        for size, kernel, attributes in [
            ("4,12", (4, 4, 3), "pads = [1,1]"),
            ("4,8,8", (4, 4, 3, 3), "pads = [1,1,1,1]"),
            ("4,8,8", (4, 1, 3, 3), 'auto_pad = "SAME_UPPER", group = 4'),
            ("4,8,8", (4, 2, 3, 3), "group = 2, pads = [2,2,2,2], dilations = [2,2]"),
            ("4,4,4,4", (4, 4, 3, 3, 3), "pads = [1,1,1,1,1,1]"),
        ]:
            model = onnx_model(
                f"(float[1,{size}] x) => (float[1,{size}] y) {{ y = Conv <{attributes}> (x, k, b) }}",
                weights={"k": weight(*kernel), "b": weight(4, seed=1)},
            )
            samples = samples_for(model)
            made = outcome(model, Dynamic(operators=ALL, per_channel=per_channel), samples)
            assert "ConvInteger" in made.operators
            assert made.decibels(samples[0]) > 35


def test_onnx_runtime_fuses_values_that_are_quantized_once(tmp_path: Any) -> None:
    model = onnx_model(
        "(float[16,16] x) => (float[16,16] y) { a = Gemm (x, w, b) r = Relu (a) y = MatMul (r, w) }",
        weights={"w": weight(16, 16), "b": weight(16)},
    )
    made = outcome(model, Dynamic()).model
    fused = onnx.load_from_string(optimized(made, tmp_path))
    assert [node.op_type for node in fused.graph.node] == ["DynamicQuantizeMatMul", "Relu", "DynamicQuantizeMatMul"]
    model = onnx_model(
        "(float[4,16] x) => (float[4,16] y) { a = MatMul (x, w) b = MatMul (x, v) y = Add (a, b) }",
        weights={"w": weight(16, 16), "v": weight(16, 16, seed=1)},
    )
    assert outcome(model, Dynamic()).operators.count("DynamicQuantizeLinear") == 1


def optimized(model: onnx.ModelProto, folder: Any) -> bytes:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    content: bytes = (folder / "optimized.onnx").read_bytes()
    return content


def test_a_weight_that_layers_take_both_ways_is_right_for_each() -> None:
    """One of them needs it transposed, although both have the same operator."""
    model = onnx_model(
        "(float[16,16] x) => (float[16,16] y) { a = Gemm (x, w) b = Gemm <transB = 1> (a, w) y = MatMul (b, w) }",
        weights={"w": weight(16, 16) / 4},
    )
    samples = samples_for(model)
    made = outcome(model, Dynamic(), samples)
    assert made.decibels(samples[0]) > 30
    weights = [node.input[1] for node in made.model.graph.node if node.op_type == "MatMulInteger"]
    assert weights[0] == weights[2] != weights[1]


def test_why_a_layer_stays_in_float_is_noted() -> None:
    model = onnx_model(
        """(float[1,4,8,8] x) => (float[1,4,8,4] y) {
            a = Conv (x, k) b = ConvTranspose (a, k) c = MatMul (b, w) d = MatMul (c, v) y = MatMul (c, w4)
        }""".replace("w4", "w"),
        weights={"k": weight(4, 4, 1, 1), "w": weight(8, 8)[:, :8], "v": weight(8)},
    )
    del model.graph.output[0].type.tensor_type.shape.dim[3]
    model.graph.output[0].type.tensor_type.shape.dim.add(dim_value=8)
    made = outcome(model, Dynamic(exclude=("y",)))
    assert {name: reason.split(" with ")[0] for name, reason in made.reasons.items()} == {
        "d": "its weights are a vector",
        "y": "excluded by the configuration",
        "a": "an integer Conv",
        "b": "there is no operator for it",
    }


def test_opsets_from_11_on_run_and_older_ones_are_refused() -> None:
    for opset in [11, 12, 13, 17, 21, 26]:
        model = onnx_model(
            "(float[4,16] x) => (float[4,16] y) { a = MatMul (x, w) y = Gemm (a, w, b) }",
            weights={"w": weight(16, 16), "b": weight(16)},
            opsets={"": opset},
            ir_version=10,
        )
        samples = samples_for(model)
        assert outcome(model, Dynamic(), samples).decibels(samples[0]) > 30
    model = onnx_model(
        "(float[4,16] x) => (float[4,4] y) { y = MatMul (x, w) }", weights={"w": weight(16, 4)}, opsets={"": 10}
    )
    with pytest.raises(ModelError, match="opset 10; quantizer 'dynamic' writes operators of opset 11"):
        outcome(model, Dynamic())


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf])
def test_a_weight_that_is_not_finite_is_refused_by_name(bad: float) -> None:
    broken = weight(16, 4)
    broken[3, 3] = bad
    model = onnx_model("(float[4,16] x) => (float[4,4] y) { y = MatMul (x, w) }", weights={"w": broken})
    with pytest.raises(ModelError, match="'w'"):
        outcome(model, Dynamic())


def test_zeros_denormals_and_an_outlier_are_rounded_each_on_a_scale_of_its_own() -> None:
    odd = weight(16, 4)
    odd[:, 0], odd[:, 1], odd[:, 2] = 0, odd[:, 1] * 1e-40, odd[:, 2] * 1e6
    model = onnx_model("(float[4,16] x) => (float[4,4] y) { y = MatMul (x, w) }", weights={"w": odd})
    samples = samples_for(model)
    made = outcome(model, Dynamic(), samples)
    expected, found = (session(each).run(None, samples[0])[0] for each in (model, made.model))
    assert not found[:, 0].any()
    assert float(numpy.abs(found[:, 3] - expected[:, 3]).max()) < 0.1
    assert numpy.isfinite(found).all()


@pytest.mark.parametrize("shape", [(48, 64), (3, 700), (700, 3), (1100, 1)])
def test_a_matrix_that_lies_column_by_column_is_turned_around(shape: tuple[int, int]) -> None:
    columns, rows = shape
    model = onnx_model(
        f"(float[4,{rows}] x) => (float[4,{columns}] y) {{ y = Gemm <transB = 1> (x, w) }}",
        weights={"w": weight(*shape)},
    )
    samples = samples_for(model)
    made = outcome(model, Dynamic(), samples)
    scale, integers = made.constants["w_scale"], made.constants["w_quantized"]
    assert integers.shape == (rows, columns)
    assert float(numpy.abs(integers * scale - weight(*shape).T).max()) <= 0.501 * float(scale.max())
    assert made.decibels(samples[0]) > 30
