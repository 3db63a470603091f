"""Outputs that calibration adds to a graph for the tensors that it asks for."""

import onnx
import pytest

from packager.core.errors import ModelError
from packager.quantization.calibration.taps import tap
from tests.cases.calibration_cases import BLOCK
from tests.cases.onnx_text import onnx_model, weight

BRANCHES = """(bool c, float[2] x) => (float[2] y) {
    y = If (c) <
        then_branch = yes () => (float[2] a) { inside = Neg (x) a = Abs (inside) },
        else_branch = no () => (float[2] b) { b = Relu (x) }
    >
}"""


def block() -> bytes:
    return bytes(onnx_model(BLOCK, weights={"w": weight(4, 4, 3, 3)}).SerializeToString())


def test_only_what_is_there_and_asked_for_is_an_output() -> None:
    taps = tap(block(), ["s", "c"])
    assert taps.fetched == ("c", "s")
    assert [each.name for each in onnx.ModelProto.FromString(taps.graph).graph.output] == ["c", "s"]
    model = onnx_model("(float[2] input) => (float[2] logits) { logits = Relu (input) }")
    with pytest.raises(ModelError, match="no tensor 'logit'") as caught:
        tap(model.SerializeToString(), ["input", "logit"])
    assert caught.value.hint == "did you mean 'logits'?"
    with pytest.raises(ModelError, match="'w' is a weight"):
        tap(block(), ["w"])
    with pytest.raises(ModelError, match="'inside' is inside a branch"):
        tap(onnx_model(BRANCHES).SerializeToString(), ["inside"])
    assert tap(onnx_model(BRANCHES).SerializeToString(), ["y"]).fetched == ("y",)


def test_what_moves_elements_is_fetched_where_they_come_from() -> None:
    taps = tap(block(), ["y", "m", "x"])
    assert taps.fetched == ("m",)
    assert taps.inputs == ("x",)
    assert taps.sources == {"y": "m", "m": "m", "x": "x"}
    graph = (
        "(float[2, 3] x) => (float[6] y) { n = Neg (x) t = Transpose (n) f = Flatten <axis = 0> (t) y = Squeeze (f) }"
    )
    assert tap(onnx_model(graph).SerializeToString(), ["y", "t"]).sources == {"y": "n", "t": "n"}
    model = onnx_model(
        "(float[2, 3] x) => (float[2, 3] y) { t = Transpose (w) f = Identity (t) y = Add (x, f) }",
        weights={"w": weight(3, 2)},
    )
    assert tap(model.SerializeToString(), ["f"]).sources == {"f": "t"}


def test_outputs_are_those_of_the_graph_where_two_runs_give_the_same() -> None:
    assert tap(block(), ["c"]).outputs == ("y",)
    drawn = "(float[2] x) => (float[2] y) { r = RandomNormalLike (x) y = Add (x, r) }"
    assert tap(onnx_model(drawn).SerializeToString(), ["r"]).outputs == ()
    listed = "(float[2] x) => (float[2] y, seq(float[2]) s) { y = Neg (x) s = SequenceConstruct (y) }"
    assert tap(onnx_model(listed).SerializeToString(), ["y"]).outputs == ()
    passed_on = "(float[2] x) => (float[2] y, float[2] x) { y = Neg (x) }"
    assert tap(onnx_model(passed_on).SerializeToString(), ["y"]).outputs == ()
