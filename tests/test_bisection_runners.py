"""Bisections with the runners that a build has: converted files, a real model, and processors that differ."""

import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx.numpy_helper
import pytest

from packager.compile.compile import FP16, compile_variant
from packager.core.values import Style, baseline
from packager.engines.runners.arm64 import Arm64
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.x86_64 import X8664
from packager.files.store import Store
from packager.models.traits import derived
from packager.quantizers.float16 import Float16
from packager.verification.bisection import BisectionKind, Side
from packager.verification.bisection.subject import opened
from tests.bisection_cases import Array, bisected, branching, chain, overflowing, reproduced, side, x
from tests.onnx_text import compiled, loaded, onnx_model, quantized_by, weight
from tests.toolchain import models
from tests.toolchain.emulated import emulated
from tests.toolchain.environments import have
from tests.toolchain.forks import forked

__all__ = ["emulated", "forked"]
pytestmark = pytest.mark.by_content


def converted(folder: Path, model: onnx.ModelProto, label: str, **settings: Any) -> Side:
    made = compiled(folder / label, model)
    given = {"runner": Cpu(), "settings": made.settings, **settings}
    return Side(label=label, path=made.path, data_folder=None, **given)


@pytest.mark.processes
def test_a_changed_weight_in_a_converted_file_is_found(tmp_path: Path) -> None:
    a = side(tmp_path, chain(), "the original", runner=Cpu(), is_optimized=False)
    found = bisected(tmp_path, a, converted(tmp_path, chain(changed=11), "the file"), x())
    assert (found.kind, found.node, found.operator, found.value) == (BisectionKind.NODE, "layer11", "MatMul", "m11")
    assert found.repro
    for line in reproduced(found.repro).splitlines():
        assert "off by 0," not in line


@pytest.mark.processes
def test_two_converted_files_are_compared(tmp_path: Path) -> None:
    files = [converted(tmp_path, chain(changed=changed), f"file {changed}") for changed in (None, 4)]
    found = bisected(tmp_path, files[0], files[1], x())
    assert (found.kind, found.node) == (BisectionKind.NODE, "layer4")


@pytest.mark.processes
def test_a_branch_in_a_converted_file_is_compared(tmp_path: Path) -> None:
    """ORT format keeps no names of its graphs."""
    models = [branching(constant) for constant in (2, 3)]
    a = side(tmp_path, models[0], "a", runner=Cpu(), is_optimized=False)
    sample = {**x(), "c": numpy.array(True)}
    found = bisected(tmp_path, a, converted(tmp_path, models[1], "b"), sample)
    assert (found.kind, found.node, found.notes) == (BisectionKind.NODE, "branch", ())


@pytest.mark.processes
def test_a_converted_file_that_is_right_agrees(tmp_path: Path) -> None:
    a = side(tmp_path, chain(), "a", runner=Cpu(), is_optimized=False)
    b = converted(tmp_path, chain(), "b")
    assert not opened(b, tmp_path).is_optimized  # it was, when it was made
    assert bisected(tmp_path, a, b, x()).kind is BisectionKind.AGREEMENT


TIES = """(uint8[1, 8, 4, 4] x) => (float[1, 8, 4, 4] y) {
    d = DequantizeLinear (x, s, z)
    e = DequantizeLinear (w, s, c)
    m = Conv (d, e)
    q = QuantizeLinear (m, t, z)
    y = DequantizeLinear (q, t, z)
}"""
"""Half of the products lie between two numbers; the order of the steps decides which one results."""


@pytest.mark.processes
def test_ties_that_a_fusion_rounds_otherwise_are_no_fault_of_the_fusion(tmp_path: Path) -> None:
    """An unfused file holds the fusions as records, which the runtime follows as it opens it. The graph itself takes
    the other of two neighbours when what it computes changes in the last bits."""
    weights: dict[str, Array] = {
        "w": numpy.arange(64, dtype="int8").reshape(8, 8, 1, 1),
        "s": numpy.array(0.1, "float32"),
        "t": numpy.array(0.02, "float32"),
        "z": numpy.array(128, "uint8"),
        "c": numpy.array(0, "int8"),
    }
    described = loaded(tmp_path / "b", onnx_model(TIES, weights=weights))
    variant = baseline(described, "int8")
    made = compile_variant(variant, Store(tmp_path / "store"), style=Style.UNFUSED)
    a = Side(label="a", path=described.path, data_folder=None, runner=Cpu(), is_optimized=False)
    b = Side(label="b", path=made.path, data_folder=None, runner=Cpu(), settings=made.settings)
    numbers = numpy.random.default_rng(1).integers(120, 136, (1, 8, 4, 4)).astype("uint8")
    found = bisected(tmp_path, a, b, {"x": numbers}, tolerance=1e-9)
    assert (found.kind, found.node) == (BisectionKind.CONDITIONING, None)
    assert "no single node makes b part from a, which is ill-conditioned" in found.words


@pytest.mark.tool
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


@pytest.mark.nightly(
    "the same net on the CPU; processors that differ, on an emulated Haswell; 16 bits on an emulated Arm core"
)
@pytest.mark.environments
@pytest.mark.usefixtures("emulated")
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


@pytest.mark.environments
@pytest.mark.usefixtures("emulated")
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
