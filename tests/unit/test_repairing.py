"""Models that ONNX's checker refuses and ONNX Runtime runs: they are repaired where that can mean one thing only."""

from pathlib import Path

import pytest
from onnx import numpy_helper

from packager import models
from packager.core.errors import ModelError
from tests.cases.onnx_text import loaded, onnx_model, saved, weight
from tests.cases.repairing import NET, net


def test_an_input_without_a_shape_is_refused_by_name_until_it_is_given_one(tmp_path: Path) -> None:
    model = net()
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelError, match="input 'x' has no shape") as refused:
        loaded(tmp_path, model)
    assert "--shape x=" in refused.value.hint
    found = models.load(saved(tmp_path / "net.onnx", model), "net", renamed={"x": "z"}, fixed={"z": (2, 8)})
    assert [spec.shape for spec in found.signature.inputs] == [(2, 8)]


def test_constants_of_one_name_that_differ_are_refused(tmp_path: Path) -> None:
    model = net()
    model.graph.initializer.append(numpy_helper.from_array(weight(8, 40, seed=1), "w"))
    with pytest.raises(ModelError, match="w initializer name is not unique"):
        loaded(tmp_path, model)


def test_a_model_of_no_opset_is_refused(tmp_path: Path) -> None:
    model = net(NET.replace("Relu", "com.microsoft.Gelu"), com_microsoft=1)
    with pytest.raises(ModelError, match="does not say which opset its operators are of") as refused:
        loaded(tmp_path, model)
    assert "opset_import" in refused.value.hint


def test_the_opsets_of_functions_are_their_own(tmp_path: Path) -> None:
    function = '<opset_import: ["com.microsoft" : 1], domain: "own"> bent (a) => (b) { b = com.microsoft.Gelu (a) }'
    model = onnx_model(
        "(float[2] x) => (float[2] y) { y = own.bent (x) }", opsets={"": 17, "own": 1}, functions=function
    )
    assert loaded(tmp_path, model).notes == ()
