"""Layers: which nodes are layers, their names, and why others are not."""

from pathlib import Path

import numpy
import onnx
import pytest

from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.layers import WeightedLayer, fit_layers, has_foldable_weights, layers
from packager.quantizers import Quantizer
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.float16 import Float16
from packager.quantizers.weight_only import WeightOnly
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import outcome, samples_for, static, weight

SCALAR = numpy.array(2.0, numpy.float32)
GRAPHS = {
    "its bias is computed": "(float[1,4,8,8] x, float[4] b) => (float[1,4,8,8] y) { y = Conv (x, k, b) }",
    "its weights are computed": "(float[1,4,8,8] x, float[4,4,1,1] b) => (float[1,4,8,8] y) { y = Conv (x, b) }",
    "multiplies two computed values": "(float[16,16] x) => (float[16,16] y) { y = MatMul (x, x) }",
    "multiplies constants": "(float[16,16] x) => (float[16,16] y) { c = MatMul (w, w) y = Add (x, c) }",
    "its weights are the first operand": "(float[16,16] x) => (float[16,16] y) { y = MatMul (w, x) }",
    "its weights are a vector": "(float[16,16] x) => (float[16] y) { y = MatMul (x, v) }",
    "its weights are empty": "(float[2,0] x) => (float[2,4] y) { y = MatMul (x, e) }",
    "its weights are not float32": "(double[2,2] x) => (double[2,2] y) { y = MatMul (x, d) }",
    "alpha or beta is not 1": "(float[16,16] x) => (float[16,16] y) { y = Gemm <alpha = 2.0> (x, w) }",
    "its bias is not one number per column": "(float[16,16] x) => (float[16,16] y) { y = Gemm (x, w, s) }",
}
WEIGHTS = {
    "k": weight(4, 4, 1, 1),
    "w": weight(16, 16),
    "v": weight(16),
    "e": weight(0, 4),
    "d": weight(2, 2).astype(numpy.float64),
    "s": SCALAR,
}


def draft_of(model: onnx.ModelProto) -> Draft:
    return Draft(proto=model, data_folder=Path())


@pytest.mark.parametrize("reason", GRAPHS)
def test_a_node_that_cannot_be_a_layer_is_left_with_the_reason(reason: str) -> None:
    draft = draft_of(onnx_model(GRAPHS[reason], weights=WEIGHTS))
    assert fit_layers(draft, ()) == []
    assert [each.reason for each in draft.left] == [reason]


@pytest.mark.parametrize(
    ("node", "axis"),
    [
        ("Conv (x, k)", 0),
        ("Conv <group = 2> (x, half)", 0),
        ("ConvTranspose (x, k)", 1),
        ("ConvTranspose <group = 2> (x, half_turned)", None),
    ],
)
def test_scales_lie_along_the_output_channels(node: str, axis: int | None) -> None:
    model = onnx_model(
        f"(float[1,4,8,8] x) => (float[1,4,8,8] y) {{ y = {node} }}",
        weights={**WEIGHTS, "half": weight(4, 2, 1, 1), "half_turned": weight(4, 2, 1, 1)},
    )
    assert [each.axis for each in fit_layers(draft_of(model), ())] == [axis]


@pytest.mark.parametrize(
    ("node", "axis"),
    [("Gemm (x, w)", 1), ("Gemm <transB = 1> (x, w)", 0), ("MatMul (x, w)", 1), ("MatMul (x, batch)", None)],
)
def test_scales_of_matrices_lie_along_their_columns(node: str, axis: int | None) -> None:
    model = onnx_model(
        f"(float[16,16] x) => (float y) {{ y = {node} }}", weights={"w": weight(16, 16), "batch": weight(3, 16, 16)}
    )
    assert [each.axis for each in fit_layers(draft_of(model), ())] == [axis]


def test_nodes_without_a_name_or_with_one_name_are_called_by_what_they_give() -> None:
    model = onnx_model(
        """(float[16,16] x) => (float[16,16] y) {
            [same] a = MatMul (x, w) [same] b = MatMul (a, w) y = MatMul (b, w)
        }""",
        weights={"w": weight(16, 16)},
    )
    assert [each.name for each in layers(draft_of(model))] == ["same", "b", "y"]
    assert [each.name for each in fit_layers(draft_of(model), ["b"])] == ["same", "y"]
    assert [each.name for each in fit_layers(draft_of(model), ["a"])] == ["b", "y"]


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ("y = Relu (c)", "Relu"),
        ("y = Clip (c, low, high)", "Clip"),
        ("y = Clip (c, , s)", None),
        ("y = Sigmoid (c)", None),
        ("r = Relu (c) y = Add (r, c)", None),
    ],
)
def test_a_layer_ends_with_the_limit_that_alone_takes_what_it_gives(behind: str, expected: str | None) -> None:
    model = onnx_model(
        f"(float[1,4,8,8] x, float s) => (float[1,4,8,8] y) {{ c = Conv (x, k) {behind} }}",
        weights={"k": weight(4, 4, 1, 1), "low": SCALAR * 0, "high": SCALAR * 3},
    )
    (layer,) = layers(draft_of(model))
    assert isinstance(layer, WeightedLayer)
    assert (layer.limit.op_type if layer.limit else None) == expected
    assert layer.output == ("y" if expected else "c")


BRANCHES = """(float[4,16] x, bool p) => (float[4,16] y) {
    a = MatMul (x, w)
    b = If (p) <then_branch = t () => (float[4,16] s) { [inner] s = MatMul (a, v) },
                else_branch = e () => (float[4,16] r) { z = Add (a, x) r = Max (z, x) }>
    y = Gemm (b, w)
}"""
LOOP = """(float[4,16] x, int64 n) => (float[4,16] y) {
    a = MatMul (x, w)
    b = Loop (n, , a) <body = l (int64 i, bool c, float[4,16] s) => (bool d, float[4,16] r) {
        d = Identity (c) [inner] q = MatMul (s, v) m = Mul (q, a) r = Tanh (m)
    }>
    y = Gemm (b, w)
}"""


@pytest.mark.parametrize("graph", [BRANCHES, LOOP], ids=["If", "Loop"])
@pytest.mark.parametrize(
    "quantizer", [static(), static(scope="all"), Dynamic(), Float16()], ids=["static", "all", "dynamic", "float16"]
)
def test_branches_and_loops_in_a_quantized_graph_stay_in_float(graph: str, quantizer: Quantizer) -> None:
    model = onnx_model(graph, weights={"w": weight(16, 16) / 4, "v": weight(16, 16, seed=1) / 4})
    samples = samples_for(model, count=6)
    made = outcome(model, quantizer, samples)
    assert min(made.decibels(each) for each in samples) > 25
    inner = "b" if isinstance(quantizer, Float16) else "inner"
    assert list(made.reasons) == [inner]
    assert "is inside" in made.reasons[inner] or "in 32 bits" in made.reasons[inner]


def test_nodes_of_functions_are_left_with_the_reason() -> None:
    model = onnx_model(
        "(float[16,16] x) => (float[16,16] y) { h = own.twice (x) y = MatMul (h, w) }",
        weights={"w": weight(16, 16)},
        opsets={"": 17, "own": 1},
        functions="""<domain: "own", opset_import: ["" : 17]> twice (a) => (b) {
            factor = Constant <value_float = 2.0> () [product] c = MatMul (a, a) b = Mul (c, factor)
        }""",
    )
    samples = samples_for(model)
    for quantizer in (static(), Dynamic(), WeightOnly(bits=8)):
        made = outcome(model, quantizer, samples)
        assert made.reasons == {"product": "it is inside function 'twice'"}
        assert made.decibels(samples[0]) > 30
    assert outcome(model, Float16()).decibels(samples[0]) > 50


@pytest.mark.parametrize(
    ("text", "is_foldable"),
    [
        ("t = Transpose (w) y = MatMul (x, t)", True),
        ("y = MatMul (x, w)", False),
        ("t = Transpose (x) y = MatMul (x, t)", False),
        ("t = Add (w, x) y = MatMul (x, t)", False),
        ("r = RandomNormalLike (w) y = MatMul (x, r)", False),
        ("c = Constant <value_float = 2.0> () t = Mul (w, c) y = Gemm (x, t)", True),
    ],
)
def test_weights_that_are_computed_from_constants_alone_can_be_folded(text: str, is_foldable: bool) -> None:
    model = onnx_model(f"(float[16, 16] x) => (float[16, 16] y) {{ {text} }}", weights={"w": weight(16, 16)})
    assert has_foldable_weights(draft_of(model)) is is_foldable
