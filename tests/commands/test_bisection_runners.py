"""Bisections with the runners that a build has: converted files, a real model, and processors that differ."""

from pathlib import Path

import numpy

from packager.compile.compile import compile_variant
from packager.core.values import Style, baseline
from packager.engines.runners.cpu import Cpu
from packager.files.store import Store
from packager.verification.bisection import BisectionKind, Side
from packager.verification.bisection.subject import opened
from tests.cases.bisection_cases import Array, bisected, branching, chain, reproduced, side, x
from tests.cases.bisection_runners import converted
from tests.cases.onnx_text import loaded, onnx_model


def test_a_changed_weight_in_a_converted_file_is_found(tmp_path: Path) -> None:
    a = side(tmp_path, chain(), "the original", runner=Cpu(), is_optimized=False)
    found = bisected(tmp_path, a, converted(tmp_path, chain(changed=11), "the file"), x())
    assert (found.kind, found.node, found.operator, found.value) == (BisectionKind.NODE, "layer11", "MatMul", "m11")
    assert found.repro
    for line in reproduced(found.repro).splitlines():
        assert "off by 0," not in line


def test_two_converted_files_are_compared(tmp_path: Path) -> None:
    files = [converted(tmp_path, chain(changed=changed), f"file {changed}") for changed in (None, 4)]
    found = bisected(tmp_path, files[0], files[1], x())
    assert (found.kind, found.node) == (BisectionKind.NODE, "layer4")


def test_a_branch_in_a_converted_file_is_compared(tmp_path: Path) -> None:
    """ORT format keeps no names of its graphs."""
    models = [branching(constant) for constant in (2, 3)]
    a = side(tmp_path, models[0], "a", runner=Cpu(), is_optimized=False)
    sample = {**x(), "c": numpy.array(True)}
    found = bisected(tmp_path, a, converted(tmp_path, models[1], "b"), sample)
    assert (found.kind, found.node, found.notes) == (BisectionKind.NODE, "branch", ())


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
