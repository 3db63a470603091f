"""Refusals of unusual models: before any conversion or output, with a clear message."""

import json
import sys
from pathlib import Path

import pytest

from packager.cli import main
from packager.core.errors import ModelError
from packager.models.opsets import max_opset
from tests.cases.caches import empty_cache
from tests.cases.odd_cases import CASES, NEWER_OPSET
from tests.cases.onnx_text import saved


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
