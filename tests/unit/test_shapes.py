"""Dynamic dimensions with fixed sizes, by symbol or by input."""

from pathlib import Path

import pytest
from onnx import ModelProto, TensorProto, helper

from packager import models
from packager.core.errors import ConfigError
from packager.core.values import Dimension
from packager.models.shapes import Shapes
from tests.cases.onnx_text import onnx_model, saved

GRAPH = """(float[batch, 3, height, width] image, float[batch, N] vector)
    => (float[batch, c, h, w] y, float[batch, N] z, float[M] s) {
    y = Relu (image)
    z = Neg (vector)
    shape = Constant <value = int64[1] {-1}> ()
    s = Reshape (vector, shape)
}"""


def shapes(folder: Path, fixed: Shapes, graph: str = GRAPH) -> dict[str, tuple[Dimension, ...]]:
    loaded = models.load(saved(folder / "m.onnx", onnx_model(graph)), "m", fixed=fixed)
    return {spec.name: spec.shape for spec in (*loaded.signature.inputs, *loaded.signature.outputs)}


def test_sizes_are_fixed_in_every_input_that_has_them(tmp_path: Path) -> None:
    found = shapes(tmp_path, {"batch": 2})
    assert found["image"] == (2, 3, "height", "width")
    assert found["vector"] == (2, "N")
    assert shapes(tmp_path, {"image": (4, 3, 8, 8)})["vector"] == (4, "N")
    graph = """(float[h, w] x, float[h, w] state, float[h] z) => (float[h, w] y, float[h] k) {
        y = Add (x, state) k = Neg (z) }"""
    found = shapes(tmp_path, {"x": (8, 9), "state": (1, 9)}, graph)
    assert found == {"x": (8, 9), "state": (1, 9), "z": ("h",), "y": (8, 9), "k": ("h",)}
    found = shapes(tmp_path, {"x": (7, 2)}, "(float[?, 2] x) => (float[?, 2] y) { y = Relu (x) }")
    assert found == {"x": (7, 2), "y": (7, 2)}
    assert shapes(tmp_path, {"x": 16000}, "(float[?] x) => (float[?] y) { y = Relu (x) }")["x"] == (16000,)
    assert shapes(tmp_path, {"past": 0}, "(float[past, 2] x) => (float[past, 2] y) { y = Relu (x) }")["y"] == (0, 2)


def test_outputs_follow_from_inputs_of_sizes_that_agree(tmp_path: Path) -> None:
    found = shapes(tmp_path, {"image": (1, 3, 8, 9), "N": 5})
    assert (found["y"], found["z"], found["s"]) == ((1, 3, 8, 9), (1, 5), (5,))
    assert shapes(tmp_path, {"batch": 2})["y"] == (2, 3, "height", "width")
    assert shapes(tmp_path, {})["image"] == ("batch", 3, "height", "width")
    graph = "(float[2, 3] x) => (float[5, 5] y) { y = MatMul (x, x) }"
    assert shapes(tmp_path, {}, graph)["y"] == (5, 5)
    with pytest.raises(ConfigError, match="is fixed to 2, not 3"):
        shapes(tmp_path, {"x": (2, 3)}, "(float[n, n] x) => (float[n, n] y) { y = Relu (x) }")
    with pytest.raises(ConfigError) as error:
        shapes(tmp_path, {"batch": 1}, "(float[2] x) => (float[2] y) { y = Relu (x) }")
    assert error.value.hint == "known: none, all are fixed or unnamed"
    model = onnx_model("(float[1, 3, h, w] x) => (float[1, 3, h, w] y) { y = Relu (x) }")
    for value in (*model.graph.input, *model.graph.output):
        for dimension in value.type.tensor_type.shape.dim[2:]:
            dimension.dim_value = -1
    signature = models.load(saved(tmp_path / "m.onnx", model), "m").signature
    assert signature.inputs[0].shape == (1, 3, None, None)
    fixed = models.load(tmp_path / "m.onnx", "m", fixed={"x": (1, 3, 8, 8)}).signature
    assert fixed.outputs[0].shape == (1, 3, 8, 8)


def test_fixing_a_size_fixes_it_in_branches(tmp_path: Path) -> None:
    graph = """(float[n, 8] x, bool c) => (float[n, 8] y) { y = If (c) <
        then_branch = t () => (float[n, 8] a) { a = Neg (x) },
        else_branch = e () => (float[n, 8] b) { h = Relu (x) b = Abs (h) }> }"""
    model = onnx_model(graph)
    inner = model.graph.node[0].attribute[1].g
    inner.value_info.append(helper.make_tensor_value_info("h", TensorProto.FLOAT, ["n", 8]))
    found = ModelProto.FromString(models.load(saved(tmp_path / "m.onnx", model), "m", fixed={"n": 3}).graph)
    then, other = (each.g for each in found.graph.node[0].attribute)
    values = (*then.output, *other.value_info, *other.output)
    assert [value.type.tensor_type.shape.dim[0].dim_value for value in values] == [3, 3, 3]


@pytest.mark.parametrize(
    ("fixed", "message", "hint"),
    [
        ({"bach": 1}, "no dynamic dimension or input 'bach'", "did you mean 'batch'?"),
        ({"imag": (1, 3, 2, 2)}, "no dynamic dimension or input 'imag'", "did you mean 'image'?"),
        ({"zzz": 1}, "no dynamic dimension or input 'zzz'", "known: N, batch, height, width"),
        ({"zzz": (1, 1)}, "no dynamic dimension or input 'zzz'", "known: image, vector"),
        ({"image": (1, 3)}, "'image' has 4 dimensions, not 2", "run mobpack inspect to see the shapes"),
        (
            {"image": (1, 4, 2, 2)},
            "a dimension of 'image' is fixed to 3, not 4",
            "only dynamic dimensions can be fixed",
        ),
        (
            {"batch": 1, "vector": (2, 2)},
            "a dimension of 'vector' is fixed to 1, not 2",
            "only dynamic dimensions can be fixed",
        ),
        ({"y": (1, 1, 1, 1)}, "no dynamic dimension or input 'y'", "known: image, vector"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_in_place(tmp_path: Path, fixed: Shapes, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        shapes(tmp_path, fixed)
    assert error.value.message.startswith("[model.m.shapes]: ")
    assert message in error.value.message
    assert error.value.hint == hint


def test_dimensions_that_are_called_by_a_question_mark_need_not_be_equal(tmp_path: Path) -> None:
    model = onnx_model("(float[n, 3, h, w] x) => (float[n, 3, h, w] y) { y = Relu (x) }")
    for value in (*model.graph.input, *model.graph.output):
        for dimension in value.type.tensor_type.shape.dim[2:]:
            dimension.dim_param = "?"
    path = saved(tmp_path / "m.onnx", model)
    assert models.load(path, "m").signature.inputs[0].shape == ("n", 3, None, None)
    fixed = models.load(path, "m", fixed={"x": (1, 3, 48, 192)}).signature
    assert fixed.outputs[0].shape == (1, 3, 48, 192)
    named = models.load(path, "m", renamed={"x.2": "height", "x.3": "width"}, fixed={"height": 48}).signature
    assert named.inputs[0].shape == ("n", 3, 48, "width")
