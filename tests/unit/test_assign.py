"""Measured partitions: every node of a file is accounted for under its name in the file."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import ENVIRONMENTS
from packager.verification.partition.measured import measure
from tests.cases.assign import convolutions


def test_a_missing_environment_is_a_tool_error_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ToolError, match="the environment qnn is missing") as error:
        measure(convolutions(tmp_path), None, "qnn", {}, tmp_path)
    assert error.value.hint == ENVIRONMENTS["qnn"]().missing()
