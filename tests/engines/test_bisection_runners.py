"""Bisections with the runners that a build has: converted files, a real model, and processors that differ."""

import platform
import sys
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import onnx.numpy_helper
import pytest

from packager.engines.runners.arm64 import Arm64
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.x86_64 import X8664
from packager.verification.bisection import BisectionKind
from tests.cases.bisection_cases import bisected, side
from tests.cases.bisection_runners import converted
from tests.cases.onnx_text import onnx_model, weight
from tests.toolchain import models
from tests.toolchain.environments import have


def test_a_weight_changed_in_a_real_model_is_found(tmp_path: Path) -> None:
    original = onnx.load(models.orientation())
    changed = onnx.ModelProto()
    changed.CopyFrom(original)
    convolutions = [node for node in original.graph.node if node.op_type == "Conv"]
    node = convolutions[len(convolutions) // 2]
    tensor = next(each for each in changed.graph.initializer if each.name == node.input[1])
    numbers = onnx.numpy_helper.to_array(tensor).copy()
    numbers[0] = -2 * numbers[0] + numbers.std()
    tensor.CopyFrom(onnx.numpy_helper.from_array(numbers, tensor.name))
    a = side(tmp_path, original, "the original", runner=Cpu(), is_optimized=False)
    sample = {"x": weight(1, 3, 224, 224)}
    found = bisected(tmp_path, a, converted(tmp_path, changed, "the file"), sample, tolerance=1e-3)
    assert (found.kind, found.node, found.operator) == (BisectionKind.NODE, node.name or node.output[0], "Conv")
    assert found.repro
    assert len(onnx.load(found.repro / "node.onnx").graph.node) <= 2


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
