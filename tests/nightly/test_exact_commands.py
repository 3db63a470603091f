"""Whole commands give the same results here and on an emulated Haswell, whose 8-bit products saturate."""

import json
import platform
from pathlib import Path

import pytest

from tests.cases.exact_commands import sides

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="qemu emulates x86_64 for x86_64 here")


def test_an_int8_build_leaves_the_same_bytes(tmp_path: Path) -> None:
    """Models, golden vectors, packages, the manifest and the report: everything that lies in dist."""
    here, there = (side.files("dist") for side in sides("build", tmp_path))
    assert any(each.endswith("golden.safetensors") for each in here)
    assert {".aar", ".zip", ".tgz"} <= {Path(each).suffix for each in here}
    assert here == there


def test_quantize_gives_the_same_figures_and_the_same_answer(tmp_path: Path) -> None:
    both = sides("quantize", tmp_path)
    here, there = (json.loads(side.said) for side in both)
    for found in (here, there):
        del found["latencies"]  # of the processor itself, and of one that `without` leaves out
        del found["warnings"]  # that it is slower
    assert {each["is-within"] for each in here["search"]["evaluations"]} == {True, False}
    assert here == there
    one, other = (side.files("out")["net.onnx"] for side in both)
    assert one == other
