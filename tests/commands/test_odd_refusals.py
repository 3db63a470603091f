"""Refusals of unusual models: before any conversion or output, with a clear message."""

import json
import sys
from pathlib import Path

import pytest
from onnx import TensorProto

from packager import models
from packager.cli import main
from packager.core.errors import ModelError
from packager.engines.session.refusals import explain, hint_for
from packager.models.opsets import max_opset
from tests.cases.caches import empty_cache
from tests.cases.odd_cases import CASES, NEWER_OPSET, PER_TENSOR, SCALE
from tests.cases.onnx_text import loaded, onnx_model, saved


@pytest.mark.parametrize("name", [name for name, each in CASES.items() if each.early])
def test_what_the_graph_itself_tells_is_refused_before_anything_is_converted(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match=CASES[name].early) as error:
        models.refuse_blocked(loaded(tmp_path, CASES[name].model))
    assert error.value.hint


@pytest.mark.parametrize(("element", "size_bytes"), [("FLOAT8E5M2", 4096), ("FLOAT4E2M1", 2048), ("UINT2", 1024)])
def test_a_data_file_that_ends_within_few_bits_is_refused(tmp_path: Path, element: str, size_bytes: int) -> None:
    model = onnx_model(PER_TENSOR, opsets={"": 25}, ir_version=13, weights=SCALE)
    number = TensorProto.DataType.Value(element)
    tensor = model.graph.initializer.add(name="w", data_type=number, dims=[64, 64], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="w.data")
    (tmp_path / "w.data").write_bytes(bytes(size_bytes - 1))
    with pytest.raises(ModelError, match=f"{size_bytes - 1:,} bytes, but tensor 'w' reaches to byte {size_bytes:,}"):
        loaded(tmp_path, model)


def test_refusals_of_onnx_runtime_are_told_without_its_source_lines() -> None:
    for error, said in [
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
    ]:
        assert explain(error) == said


def test_a_refusal_without_advice_of_its_own_points_to_inspect() -> None:
    assert hint_for("something else") == "mobpack inspect shows what the model uses"


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("unknown domain", "operators of acme are not in ONNX Runtime's mobile packages: acme::Magic", "functions of"),
        (NEWER_OPSET, f"{NEWER_OPSET} is newer than the runtime knows", f"opset_version={max_opset()}"),
        ("sequence outputs", "'y' is not a tensor of a type that mobile APIs carry", "cast it inside the graph"),
        ("int4 per tensor", "the model has 4-bit weights that ORT format cannot hold", 'format = "auto" or "onnx"'),
        ("training", "Adagrad(-1) is not a registered function/op", "export for inference"),
    ],
)
def test_a_refused_build_leaves_the_output_folder_as_it_was(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
    message: str,
    hint: str,
) -> None:
    saved(tmp_path / "m.onnx", CASES[name].model)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "manifest.json").write_text(json.dumps({"mobpack": "0.0.1"}), encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / ".cache")))
    monkeypatch.chdir(tmp_path)
    arguments = ["m.onnx", "--target", "android", "--set", "target.android.format=ort"]
    monkeypatch.setattr(sys, "argv", ["mobpack", "build", *arguments])
    with pytest.raises(SystemExit) as exited:
        main()
    printed = " ".join(capfd.readouterr().err.split())
    assert exited.value.code == ModelError.EXIT_CODE
    assert message in printed
    assert hint in printed.partition("hint: ")[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".cache", "dist", "m.onnx"]
    assert [path.read_text(encoding="utf-8") for path in (tmp_path / "dist").iterdir()] == ['{"mobpack": "0.0.1"}']
