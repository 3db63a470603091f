"""Refusals of unusual models: before any conversion or output, with a clear message."""

from pathlib import Path

import pytest
from onnx import TensorProto

from packager import models
from packager.core.errors import ModelError
from packager.engines.session.refusals import explain, hint_for
from tests.cases.odd_cases import CASES, PER_TENSOR, SCALE
from tests.cases.onnx_text import loaded, onnx_model


@pytest.mark.parametrize("name", [name for name, each in CASES.items() if each.early])
def test_what_the_graph_itself_tells_is_refused_before_anything_is_converted(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match=CASES[name].early) as error:
        models.refuse_blocked(loaded(tmp_path, CASES[name].model))
    assert error.value.hint


@pytest.mark.parametrize(("element", "size_bytes"), [("FLOAT8E5M2", 4096), ("FLOAT4E2M1", 2048), ("UINT2", 1024)])
def test_a_data_file_that_ends_within_weights_of_few_bits_is_refused(
    tmp_path: Path, element: str, size_bytes: int
) -> None:
    model = onnx_model(PER_TENSOR, opsets={"": 25}, ir_version=13, weights=SCALE)
    number = TensorProto.DataType.Value(element)
    tensor = model.graph.initializer.add(name="w", data_type=number, dims=[64, 64], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="w.data")
    (tmp_path / "w.data").write_bytes(bytes(size_bytes - 1))
    with pytest.raises(ModelError, match=f"{size_bytes - 1:,} bytes, but tensor 'w' reaches to byte {size_bytes:,}"):
        loaded(tmp_path, model)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Relu(14) node",
            "Could not find an implementation for Relu(14) node",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Exception during initialization: /a/b.cc:235 onnxruntime::A::B::"
            "B(const std::string&)::<lambda()> Failed to construct locale with name:xx_XX: please",
            "Exception during initialization: Failed to construct locale with name:xx_XX: please",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : /a/b.h:46 void onnxruntime::check(const std::map<int, int>&, "
            "std::function<void(int)>) const [with T = int] opset 9 (of x) is under development",
            "opset 9 (of x) is under development",
        ),
        ("1 : FAIL : proto.cc:1609 Validate Initializer 'w': count (4)", "Initializer 'w': count (4)"),
        ("1 : FAIL : /a/b.cc:45 onnxruntime::A::A(int) !path.empty() was false. No path. Set it.", "No path. Set it."),
        ("/a/b.cc:45 onnxruntime::A::A(int) !path.empty() was false. ", "!path.empty() was false."),
        ("a text of its own", "a text of its own"),
        ("/a/b.cc:1 onnxruntime::cut(int", "(int"),
    ],
)
def test_refusals_of_onnx_runtime_are_told_without_its_source_lines(error: str, said: str) -> None:
    assert explain(error) == said


def test_a_refusal_without_advice_of_its_own_points_to_inspect() -> None:
    assert hint_for("something else") == "mobpack inspect shows what the model uses"
