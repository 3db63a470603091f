"""Whole commands give the same results here and on an emulated Haswell, whose 8-bit products saturate."""

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
