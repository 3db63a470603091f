"""Models that ONNX's checker refuses and ONNX Runtime runs: they are repaired where that can mean one thing only."""

from collections.abc import Callable
from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from packager import models
from packager.core.errors import ModelError
from tests.cases.onnx_text import loaded, onnx_model, saved, session, weight

NET = "(float[n, 8] x) => (float[n, 40] y) { h = MatMul (x, w) y = Relu (h) }"


def net(graph: str = NET, **opsets: int) -> onnx.ModelProto:
    return onnx_model(
        graph,
        weights={"w": weight(8, 40)},
        opsets={name.replace("_", "."): each for name, each in opsets.items()} or {"": 17},
    )


def test_an_input_without_a_shape_is_refused_by_name_until_it_is_given_one(tmp_path: Path) -> None:
    model = net()
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelError, match="input 'x' has no shape") as refused:
        loaded(tmp_path, model)
    assert "--shape x=" in refused.value.hint
    found = models.load(saved(tmp_path / "net.onnx", model), "net", renamed={"x": "z"}, fixed={"z": (2, 8)})
    assert [spec.shape for spec in found.signature.inputs] == [(2, 8)]


def test_inputs_constants_and_opsets_are_repaired_or_refused(tmp_path: Path) -> None:
    model = net()
    model.graph.initializer.append(numpy_helper.from_array(weight(8, 40, seed=1), "w"))
    with pytest.raises(ModelError, match="w initializer name is not unique"):
        loaded(tmp_path, model)
    model = net(NET.replace("Relu", "com.microsoft.Gelu"), com_microsoft=1)
    with pytest.raises(ModelError, match="does not say which opset its operators are of") as refused:
        loaded(tmp_path, model)
    assert "opset_import" in refused.value.hint
    function = '<opset_import: ["com.microsoft" : 1], domain: "own"> bent (a) => (b) { b = com.microsoft.Gelu (a) }'
    model = onnx_model(
        "(float[2] x) => (float[2] y) { y = own.bent (x) }", opsets={"": 17, "own": 1}, functions=function
    )
    assert loaded(tmp_path, model).notes == ()


X = numpy.random.default_rng(0).standard_normal((3, 8)).astype(numpy.float32)


def without_shape() -> onnx.ModelProto:
    model = net()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


def without_type() -> onnx.ModelProto:
    model = net()
    model.graph.output[0].ClearField("type")
    return model


def without_type_of_some() -> onnx.ModelProto:
    model = net(NET.replace("y = Relu (h)", "y = Relu (h) k = Constant <value = int64[1] {2}> () v, i = TopK (h, k)"))
    model.graph.output.add(name="i")
    model.graph.output.add(name="x")
    model.graph.output.add(name="w")
    return model


def without_shape_of_a_contribution() -> onnx.ModelProto:
    model = net(NET.replace("Relu", "com.microsoft.Gelu"))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


def without_shape_of_a_default() -> onnx.ModelProto:
    model = net()
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, None))
    return model


def without_names() -> onnx.ModelProto:
    model = net()
    model.graph.name = ""
    return model


def in_a_branch() -> onnx.ModelProto:
    branches = "then_branch = t () => (float[n, 40] p) { p = com.microsoft.Gelu (h) }, else_branch = e () => "
    other = "(float[n, 40] q) { q = Neg (h) }"
    return net(NET.replace("y = Relu (h)", f"b = Constant <value = bool {{1}}> () y = If (b) <{branches}{other}>"))


def with_another_spelling() -> onnx.ModelProto:
    model = net()
    model.graph.node[1].domain = "ai.onnx"
    return model


def in_two_opsets() -> onnx.ModelProto:
    """Softmax flattens in the last of them."""
    model = net("(float[n, 8] x) => (float[n, 2, 4] y) <int64[3] s = {0, 2, 4}> { r = Reshape (x, s) y = Softmax (r) }")
    model.opset_import.add(domain="ai.onnx", version=11)
    return model


def of_an_old_version() -> onnx.ModelProto:
    model = net()
    model.ir_version, model.opset_import[0].version = 3, 8
    return model


def with_doubles() -> onnx.ModelProto:
    model = net()
    model.graph.initializer.extend([model.graph.initializer[0], numpy_helper.from_array(weight(2), "")])
    return model


NET_OF_TREES = """(float[n, 8] x) => (float[n, 8] y) {
    y = ai.onnx.ml.Scaler <scale = [2.0], offset = [1.0]> (x)
}"""


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (without_shape, "the shape of output 'y' is that of its operator"),
        (without_type, "the shape of output 'y' is that of its operator"),
        (without_type_of_some, "the shape of output 'i', 'x', 'w' is that of its operator"),
        (
            without_shape_of_a_contribution,
            "the missing opset of com.microsoft is 1; the shape of output 'y' is that of its operator",
        ),
        (without_shape_of_a_default, "inputs that have a value in the model are constants: 'w'"),
        (without_names, "a graph without a name has one"),
        (lambda: net(NET.replace("Relu", "com.microsoft.Gelu")), "the missing opset of com.microsoft is 1"),
        (in_a_branch, "the missing opset of com.microsoft is 1"),
        (lambda: net(NET_OF_TREES), "the missing opset of ai.onnx.ml is 1"),
        (with_another_spelling, ""),
        (in_two_opsets, "of two opsets of ai.onnx the last counts, 11"),
        (of_an_old_version, "constants that are no inputs need IR version 4"),
        (with_doubles, "constants that are there twice, or have no name, are dropped"),
    ],
)
def test_it_computes_what_onnx_runtime_does(tmp_path: Path, made: Callable[[], onnx.ModelProto], said: str) -> None:
    expected = session(made().SerializeToString()).run(None, {"x": X})
    model = loaded(tmp_path, made())
    assert model.notes == ((f"the model was repaired: {said}",) if said else ())
    graph = onnx.ModelProto.FromString(model.graph)
    for tensor in graph.graph.initializer:  # large ones lie in the user's file
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor, str(tmp_path)), tensor.name))
    onnx.checker.check_model(graph)
    for ours, theirs in zip(session(graph.SerializeToString()).run(None, {"x": X}), expected, strict=True):
        numpy.testing.assert_array_equal(ours, theirs)


def test_an_output_whose_shape_is_unknown_before_it_runs_is_refused_by_name(tmp_path: Path) -> None:
    model = onnx_model("(float[n] x, int64[k] s) => (float[1] y) { y = Reshape (x, s) }")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelError, match="output 'y' has no shape, and none follows from the graph") as refused:
        loaded(tmp_path, model)
    assert "number of dimensions" in refused.value.hint
