"""Traits of a graph, read from its operators; they decide which graph a provider gets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.contract.attachment import Tables, attach
from packager.contract.image import PictureInput
from packager.core.values import Precision, Traits, baseline
from packager.models.shapes import infer_shapes
from packager.models.traits import derived, traits
from tests.cases.onnx_text import loaded, onnx_model, weight

MICROSOFT = {"": 21, "com.microsoft": 1}


def traits_of(graph: str, opsets: Mapping[str, int] = MICROSOFT, **weights: Any) -> Traits:
    return traits(infer_shapes(onnx_model(graph, weights=weights, opsets=opsets, ir_version=10)))


def scale(number: float = 0.05, dtype: str = "float32") -> Any:
    return numpy.array(number, dtype)


def zero(dtype: str) -> Any:
    return numpy.array(0, dtype)


@pytest.mark.parametrize(
    ("graph", "precision"),
    [
        ("(float[2] x) => (float[2] y) { y = Relu (x) }", Precision.FLOAT32),
        ("(float16[2] x) => (float16[2] y) { y = Relu (x) }", Precision.FLOAT16),
        (
            "(float[2] x) => (float[2] y) { a = Cast <to = 10> (x) b = Relu (a) y = Cast <to = 1> (b) }",
            Precision.FLOAT16,
        ),
        # Stored as float16 and computed in float32.
        ("(float16[2] x) => (float[2] y) { a = Cast <to = 1> (x) y = Relu (a) }", Precision.FLOAT32),
        (
            "(uint8[2,2] x, uint8[2,2] w, float s, uint8 z) => (uint8[2,2] y) "
            "{ y = QLinearMatMul (x, s, z, w, s, z, s, z) }",
            Precision.QUANTIZED_OPERATORS,
        ),
        ("(uint8[2,2] x, uint8[2,2] w) => (int32[2,2] y) { y = MatMulInteger (x, w) }", Precision.QUANTIZED_OPERATORS),
        (
            "(float[2] x) => (uint8[2] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }",
            Precision.QUANTIZED_OPERATORS,
        ),
        (
            "(float[2,32] x, uint8[8,1,16] w, float[8] s) => (float[2,8] y) "
            "{ y = com.microsoft.MatMulNBits <K = 32, N = 8, bits = 4, block_size = 32> (x, w, s) }",
            Precision.WEIGHT_ONLY,
        ),
    ],
)
def test_numbers_are_told_by_operators_and_element_types(graph: str, precision: Precision) -> None:
    assert traits_of(graph) == Traits(precision=precision)


QDQ = """(float[2,16] x) => (float[2,8] y) {
    xq = QuantizeLinear (x, s, z)
    xd = DequantizeLinear (xq, s, z)
    wd = DequantizeLinear (w, s, v)
    bd = DequantizeLinear (b, s)
    y = Gemm (xd, wd, bd)
}"""


@pytest.mark.parametrize("activations", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("weights", ["int8", "uint8"])
def test_activations_and_weights_have_their_types_and_a_bias_says_nothing(activations: str, weights: str) -> None:
    found = traits_of(
        QDQ, s=scale(), z=zero(activations), v=zero(weights), w=numpy.ones((16, 8), weights), b=numpy.ones(8, "int32")
    )
    assert found == Traits(precision=Precision.QDQ, activations=activations, weights=weights)


def test_quantized_activations_are_told_by_their_types() -> None:
    graph = """(float[2] x) => (float[2] y) {
        a = QuantizeLinear (x, s, u)
        b = DequantizeLinear (a, s, u)
        c = QuantizeLinear (b, s, i)
        y = DequantizeLinear (c, s, i)
    }"""
    found = traits_of(graph, s=scale(), u=zero("uint16"), i=zero("int8"))
    assert (found.precision, found.activations) == (Precision.QDQ, "int8+uint16")
    found = traits_of(
        "(float[2] x) => (float[2] y) { a = QuantizeLinear (x, s) y = DequantizeLinear (a, s) }", s=scale()
    )
    assert (found.activations, found.weights) == ("uint8", "")
    graph = "(float16[2,2] x) => (float16[2,2] y) { f = DequantizeLinear (w, s) y = MatMul (x, f) }"
    found = traits_of(graph, s=scale(dtype="float16"), w=numpy.ones((2, 2), "int8"))
    assert (found.precision, found.weights) == (Precision.WEIGHT_ONLY, "int8")
    found = traits_of("(int8[2] x) => (float[2] y) { f = DequantizeLinear (x, s) y = Relu (f) }", s=scale())
    assert found == Traits(precision=Precision.FLOAT32)
    graph = """(float[2,2] x) => (float[2,2] y) {
        q = QuantizeLinear (x, s, z)
        m = QLinearMatMul (q, s, z, w, s, z, s, z)
        y = DequantizeLinear (m, s, z)
    }"""
    found = traits_of(graph, s=scale(), z=zero("uint8"), w=numpy.ones((2, 2), "uint8"))
    assert (found.precision, found.activations) == (Precision.QUANTIZED_OPERATORS, "uint8")


@pytest.mark.parametrize("is_node", [False, True], ids=["initializer", "Constant"])
def test_weights_alone_may_be_quantized(is_node: bool) -> None:
    constant = "w = Constant <value = int8[2,2] {1, 2, 3, 4}> ()" if is_node else ""
    graph = f"(float[2,2] x) => (float[2,2] y) {{ {constant} f = DequantizeLinear (w, s) y = MatMul (x, f) }}"
    weights = {} if is_node else {"w": numpy.ones((2, 2), "int8")}
    found = traits_of(graph, MICROSOFT, s=scale(), **weights)
    assert found == Traits(precision=Precision.WEIGHT_ONLY, weights="int8")


def branches(then: str) -> str:
    return f"""(bool c, float[2,2] x) => (float[2,2] y) {{
        y = If (c) <
            then_branch = t () => (float[2,2] a) {{ {then} }},
            else_branch = e () => (float[2,2] b) {{ b = Neg (x) }}
        >
    }}"""


def test_branches_count_and_prepared_inputs_do_not(tmp_path: Path) -> None:
    then = "q = QuantizeLinear (x, s, z) a = DequantizeLinear (q, s, z)"
    found = traits_of(branches(then), s=scale(), z=zero("int8"))
    assert found == Traits(precision=Precision.QDQ, activations="int8")
    graph = "(float[1,3,8,8] x, float[{}] t) => (float[1,3,8,8] y, float[{}] u) {{ y = Relu (x) u = Relu (t) }}"
    tables = Tables(inputs={"x": PictureInput()}, outputs={})
    for size, is_dynamic in (("4", False), ("n", True)):
        proto = onnx_model(graph.format(size, size), opsets={"": 21}, ir_version=10)
        made = attach(loaded(tmp_path, proto), tables).model
        assert not made.signature.inputs[0].is_static, "pictures vary in size"
        assert made.traits.has_dynamic_shapes == is_dynamic, "for what an app passes as it is"


@pytest.mark.parametrize(
    ("then", "precision", "weights"),
    [
        ("f = DequantizeLinear (w, s) a = MatMul (x, f)", Precision.WEIGHT_ONLY, "int8"),
        (
            "v = Constant <value = uint8[2,2] {1, 2, 3, 4}> () f = DequantizeLinear (v, s) a = MatMul (x, f)",
            Precision.WEIGHT_ONLY,
            "uint8",
        ),
        ("h = Cast <to = 10> (x) r = Relu (h) a = Cast <to = 1> (r)", Precision.FLOAT16, ""),
    ],
)
def test_what_branches_compute_with_counts_on_either_side(then: str, precision: Precision, weights: str) -> None:
    found = traits_of(branches(then), s=scale(), w=numpy.ones((2, 2), "int8"))
    assert found == Traits(precision=precision, weights=weights)


@pytest.mark.parametrize(
    ("shape", "is_dynamic"), [("[1,3]", False), ("", False), ("[batch,3]", True), ("[?,3]", True), ("[]", True)]
)
def test_shapes_are_dynamic_when_the_run_decides_a_size_of_an_input(shape: str, is_dynamic: bool) -> None:
    found = traits_of(f"(float{shape} x) => (float{shape} y) {{ y = Relu (x) }}")
    assert found.has_dynamic_shapes == is_dynamic


def test_shapes_inside_a_graph_and_weights_are_not_dynamic(tmp_path: Path) -> None:
    found = traits_of("(float[4] x) => (int64[1,?] y) { y = NonZero (x) }")
    assert found.has_dynamic_shapes is False
    model = onnx_model(
        "(float[2,2] x, float[n,2] w) => (float[2,2] y) { y = MatMul (x, w) }", weights={"w": weight(2, 2)}
    )
    assert traits(infer_shapes(model)).has_dynamic_shapes is False
    quantized = "(float[n] x) => (float[n] y) { a = QuantizeLinear (x, s, z) y = DequantizeLinear (a, s, z) }"
    quantized_model = loaded(tmp_path, onnx_model(quantized, weights={"s": scale(), "z": zero("int8")}))
    assert quantized_model.traits == Traits(precision=Precision.QDQ, activations="int8", has_dynamic_shapes=True)
    assert baseline(quantized_model).traits is quantized_model.traits
    other = onnx_model("(float16[2] x) => (float16[2] y) { y = Relu (x) }").SerializeToString()
    made = derived(quantized_model, name="half", graph=other, quantizer="float16")
    assert made.traits == Traits(precision=Precision.FLOAT16, has_dynamic_shapes=True), (
        "inputs are the quantized_model's"
    )
