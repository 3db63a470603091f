"""Children inherit the variables that their calls name, and no secrets; neither do crash files."""

import json
from pathlib import Path

import pytest

from benchmarks.abuse import secrets
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, saved

__all__ = ["mobpack"]


def test_no_child_of_any_kind_gets_a_secret_of_the_parent(tmp_path: Path) -> None:
    """Programs called adb, npm, gpg, git, openssl, gradle, java and xcrun on PATH, and Python of every kind."""
    result = secrets.attack(tmp_path / "children")
    assert result.exceptions == ()
    assert result.tries >= 14


FUNCTION = """
import json, os
import numpy

def samples():
    with open({file!r}, "w") as file:
        json.dump(dict(os.environ), file)
    yield {{"x": numpy.ones((1, 64), numpy.float32)}}
"""


def test_a_function_of_the_user_gets_the_users_variables_and_none_of_the_secrets(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "m.onnx", linear())
    (tmp_path / "mine.py").write_text(FUNCTION.format(file=str(tmp_path / "seen.json")), encoding="utf-8")
    for name in secrets.NAMES:
        monkeypatch.setenv(name, f"{secrets.MARK}{name}")
    monkeypatch.setenv("DATA_ROOT", "/data")
    answer = mobpack("quantize", "m.onnx", "-q", "static-qdq", "--calibration", "mine:samples", "--cache", "off")
    assert answer.code == 0, answer.err
    seen = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    assert seen["DATA_ROOT"] == "/data"
    assert [name for name, value in seen.items() if secrets.MARK in value] == []
