"""Graphs compiled for one SoC: self-contained, the same bytes every time, and computing what the graph computes."""

from pathlib import Path

import pytest

from packager.compile.ep_context import SOC_MODELS, compile_context
from packager.core.errors import ConfigError, ToolError
from packager.engines.environments import ENVIRONMENTS
from tests.engines.test_assign import quantized


def test_an_unknown_soc_is_refused_and_every_known_one_has_its_names(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown SoC model '58'") as error:
        compile_context(tmp_path / "absent.onnx", None, "58", tmp_path / "out.onnx", tmp_path)
    assert "57 (SM8650)" in error.value.hint
    names = [name for names in SOC_MODELS.values() for name in names]
    assert len(set(names)) == len(names)
    assert {key: SOC_MODELS[key][0] for key in ("43", "57", "69", "87")} == {
        "43": "SM8550",
        "57": "SM8650",
        "69": "SM8750",
        "87": "SM8850",
    }


def test_a_missing_compiler_is_a_tool_error_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ToolError, match="the environment qnn is missing") as error:
        compile_context(quantized(tmp_path), None, "57", tmp_path / "out.onnx", tmp_path)
    assert error.value.hint == ENVIRONMENTS["qnn"]().missing()
