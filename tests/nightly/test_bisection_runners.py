"""Bisections with the runners that a build has: converted files, a real model, and processors that differ."""

from pathlib import Path

from packager.compile.compile import FP16, compile_variant
from packager.engines.runners.arm64 import Arm64
from packager.engines.runners.cpu import Cpu
from packager.files.store import Store
from packager.models.traits import derived
from packager.quantizers.float16 import Float16
from packager.verification.bisection import BisectionKind, Side
from tests.cases.bisection_cases import bisected, overflowing, side
from tests.cases.onnx_text import loaded, quantized_by, weight
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
