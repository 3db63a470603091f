"""Bisections with the runners that a build has: converted files, a real model, and processors that differ."""

import platform
import sys
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile.compile import FP16, compile_variant
from packager.engines.runners.arm64 import Arm64
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.x86_64 import X8664
from packager.files.store import Store
from packager.models.traits import derived
from packager.quantizers.float16 import Float16
from packager.verification.bisection import BisectionKind, Side
from tests.cases.bisection_cases import bisected, overflowing, side
from tests.cases.bisection_runners import converted
from tests.cases.onnx_text import loaded, onnx_model, quantized_by, weight
from tests.toolchain.environments import have


def test_a_number_too_large_for_float16_is_found_where_arm_computes_it(tmp_path: Path) -> None:
    have("arm64")
    model = overflowing()
    described = loaded(tmp_path / "half", model)
    graph = quantized_by(Float16(), described.graph, described.path.parent)
    variant = derived(described, name="fp16", graph=graph, quantizer="float16")
    made = compile_variant(variant, Store(tmp_path / "store"), processor=FP16)
    runner = Arm64(cpu="cortex-a76")
    b = Side(label="b", path=made.path, data_folder=None, runner=runner, settings=made.settings, needs_fp16=True)
    a = side(tmp_path, model, "a", runner=Cpu(), is_optimized=False)
    found = bisected(tmp_path, a, b, {"x": weight(1, 64)}, tolerance=1e-2)
    assert (found.kind, found.node, found.operator) == (BisectionKind.NODE, "l2", "MatMul")
    assert found.local_error
    assert found.local_error.mismatch_count > 0


SATURATING = """(uint8[1, 64] x) => (float[1, 16] y) {
    [first] a = QLinearMatMul (x, s, z, w0, s, c, t, z)
    [extreme] b = QLinearMatMul (a, s, z, w1, s, c, u, z)
    [last] d = QLinearMatMul (b, s, z, w2, s, c, t, z)
    y = DequantizeLinear (d, t, z)
}"""
"""In `extreme` two products exceed the 16-bit sums of AVX2."""


def saturating() -> onnx.ModelProto:
    return onnx_model(
        SATURATING,
        weights={
            "w0": numpy.full((64, 64), 30, "int8"),
            "w1": numpy.full((64, 64), 127, "int8"),
            "w2": numpy.full((64, 16), 12, "int8"),
            "s": numpy.array(0.02, "float32"),
            "t": numpy.array(1.0, "float32"),
            "u": numpy.array(4.0, "float32"),
            "z": numpy.array(0, "uint8"),
            "c": numpy.array(0, "int8"),
        },
    )


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="emulates x86_64 on x86_64")
def test_int8_numbers_that_saturate_on_older_x86_are_found(tmp_path: Path) -> None:
    have("arm64")
    have("x86_64")
    arm = converted(tmp_path, saturating(), "arm64", runner=Arm64(cpu="cortex-a53"))
    sample = {"x": numpy.full((1, 64), 255, "uint8")}
    x86 = replace(arm, label="x86_64", runner=X8664(), settings={"session.x64quantprecision": "0"})
    found = bisected(tmp_path, arm, x86, sample, tolerance=1e-2)
    assert (found.kind, found.node, found.operator) == (BisectionKind.NODE, "extreme", "QLinearMatMul")
    assert [row.value for row in found.layers] == ["a", "b"]
