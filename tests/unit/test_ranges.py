"""Outputs of a known range are found behind operators that move numbers, and no others are."""

import onnx
from onnx import helper

from packager.models.ranges import DEEPEST, known_ranges
from tests.cases.onnx_text import onnx_model


def ranges(nodes: str, *, weights: str = "") -> dict[str, str]:
    return dict(known_ranges(onnx_model(f"(float[2, 4] x, bool c) => (float[?, ?] y){weights} {{ {nodes} }}")))


def test_known_ranges_are_passed_on_until_arithmetic_ends_them() -> None:
    for operator in ["Sigmoid", "HardSigmoid", "Softmax", "Tanh"]:
        assert ranges(f"y = {operator} (x)") == {"y": operator}
    for operator in ["Relu", "LogSoftmax", "Erf", "Exp"]:
        assert ranges(f"y = {operator} (x)") == {}
    text = (
        "a = Sigmoid (x) b = Reshape (a, s) d = Transpose (b) e = Cast <to = 10> (d) f = Identity (e)"
        "g = Squeeze (f, z) h = Slice (g, z, o) y = Cast <to = 1> (h)"
    )
    constants = " <int64[2] s = {1, 8}, int64[1] z = {0}, int64[1] o = {1}>"
    assert ranges(text, weights=constants) == {"y": "Sigmoid"}
    text = "a = Softmax (x) q = QuantizeLinear (a, s, z) y = DequantizeLinear (q, s, z)"
    assert ranges(text, weights=" <float s = {0.004}, uint8 z = {0}>") == {"y": "Softmax"}
    assert ranges("a = Sigmoid (x) y = Mul (a, x)") == {}
    assert ranges("a = Sigmoid (x) b = Tanh (x) y = Concat <axis = 0> (a, b)") == {"y": "Sigmoid"}
    assert ranges("a = Sigmoid (x) y = Concat <axis = 0> (a, x)") == {}
    text = "a = Sigmoid (x) v, i = TopK (a, k) y = Cast <to = 1> (i)"
    assert ranges(text, weights=" <int64[1] k = {2}>") == {}


def test_ranges_of_branches_functions_and_fused_activations_are_known() -> None:
    text = (
        "y = If (c) <then_branch = t () => (float[2, 4] p) {{ p = Sigmoid (x) }},"
        "else_branch = e () => (float[2, 4] q) {{ q = {} (x) }}>"
    )
    assert ranges(text.format("Softmax")) == {"y": "Sigmoid"}
    assert ranges(text.format("Relu")) == {}
    model = onnx_model("(float[1, 1, 2, 2] x, float[1, 1, 1, 1] w) => (float[1, 1, 2, 2] y) { y = Conv (x, w) }")
    (node,) = model.graph.node
    node.op_type, node.domain = "FusedConv", "com.microsoft"
    node.attribute.append(helper.make_attribute("activation", "Sigmoid"))
    assert known_ranges(model) == {"y": "Sigmoid"}
    node.attribute[-1].s = b"Relu"
    assert known_ranges(model) == {}
    assert known_ranges(with_functions(12, 10)) == {"y": "Sigmoid"}
    assert known_ranges(with_functions(DEEPEST + 2, 1)) == {}


def with_functions(count: int, calls: int) -> onnx.ModelProto:
    """`f0` is a Sigmoid; every further function joins what several calls of the one before give."""
    functions = []
    for number in range(count):
        body = [helper.make_node("Sigmoid", ["a"], ["b"])]
        if number:
            names = [f"c{place}" for place in range(calls)]
            body = [helper.make_node(f"f{number - 1}", ["a"], [name], domain="own") for name in names]
            body.append(helper.make_node("Concat", names, ["b"], axis=0))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        functions.append(helper.make_function("own", f"f{number}", ["a"], ["b"], body, opsets))
    model = onnx_model("(float[2, 4] x) => (float[?, 4] y) { y = Relu (x) }")
    model.graph.node[0].op_type, model.graph.node[0].domain = f"f{count - 1}", "own"
    model.functions.extend(functions)
    return model
