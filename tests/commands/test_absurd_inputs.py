"""Absurd inputs: a clear error with the matching exit code, or an ordinary build."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, saved

__all__ = ["mobpack"]

LONG = "o" * 300


def long_input(proto: onnx.ModelProto) -> None:
    proto.graph.input[0].name = LONG
    proto.graph.node[0].input[0] = LONG


def long_output(proto: onnx.ModelProto) -> None:
    proto.graph.output[0].name = LONG
    proto.graph.node[-1].output[0] = LONG


@pytest.mark.parametrize("change", [long_input, long_output])
def test_long_names_are_names(mobpack: Mobpack, tmp_path: Path, change: Callable[[onnx.ModelProto], None]) -> None:
    proto = linear()
    change(proto)
    saved(tmp_path / "m.onnx", proto)
    answer = mobpack("build", "m.onnx", "-t", "ios")
    assert answer.code == 0, answer.err
    assert LONG in (tmp_path / "dist" / "manifest.json").read_text(encoding="utf-8")
