"""An error may be atol + rtol * scale: outputs near 0 pass, and faults still fail."""

from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile.compile import FP16
from packager.config import from_document
from packager.core.findings import Parity
from packager.engines.runners.cpu import Cpu
from packager.models.traits import derived
from packager.quantizers.static_qdq import StaticQdq
from packager.verification import parity
from packager.verification.bisection import BisectionKind
from packager.verification.numbers import settings_for
from packager.verification.parity import ParitySettings, Subject, Tolerance
from tests.cases.bisection_cases import bisected, side
from tests.cases.onnx_text import compiled, loaded, onnx_model


def checked(
    folder: Path, right: str, wrong: str, *samples: list[float], settings: ParitySettings | None = None
) -> Parity:
    """Compare a file that computes `wrong` with an original that computes `right`, on `samples` of four numbers."""
    for name in ("right", "wrong", "samples", "check"):
        (folder / name).mkdir()
    for number, sample in enumerate(samples):
        numpy.savez(folder / "samples" / f"{number}.npz", x=numpy.array(sample, "f4"))
    models = [onnx_model(f"(float[4] x) => (float[4] y) {{ {text} }}") for text in (right, wrong)]
    file = compiled(folder / "right", models[0])
    forged = replace(file, path=compiled(folder / "wrong", models[1]).path)
    judged = replace(settings or ParitySettings(), samples=folder / "samples")
    return parity.check(Subject(variant=file.variant, compiled=forged), Cpu(), judged, folder / "check").parity


def line(factor: float, offset: float = 0.0) -> str:
    return (
        f"k = Constant <value = float {{{factor}}}> () o = Constant <value = float {{{offset}}}> ()"
        " a = Mul (x, k) y = Add (a, o)"
    )


ONES = [1.0, -1.0, 0.5, 0.25]


def test_an_output_near_zero_may_be_off_by_the_absolute_part(tmp_path: Path) -> None:
    found = checked(tmp_path, line(1e-6), line(1e-6, 5e-6), ONES)
    (output,) = found.outputs
    assert (found.over, output.scale_from) == ((), "its largest value")
    assert output.max_rel_error > 4, "as a share of its largest value it is far off"
    assert (output.rtol, output.atol, found.tolerance, found.atol) == (1e-3, 1e-5, 1e-3, 1e-5)


def test_what_is_over_both_parts_fails_and_says_them(tmp_path: Path) -> None:
    (output,) = checked(tmp_path, line(1e-6), line(1e-6, 2e-5), ONES).over
    assert (
        output.failure == "max abs error 2e-05 of 1e-06 (its largest value); allowed is 1e-05 + 0.001 x 1e-06 = 1e-05"
    )


def test_the_scale_is_the_largest_value_of_all_samples(tmp_path: Path) -> None:
    """The first sample alone would be off by 0.5 of its largest value."""
    found = checked(tmp_path, line(1), line(1, 0.05), [0.1, 0, 0, 0], [100, 0, 0, 0])
    (output,) = found.outputs
    assert (found.over, output.scale) == ((), 100)
    assert output.max_rel_error == pytest.approx(5e-4, rel=1e-3)


def test_a_fault_on_a_small_sample_is_found_beside_a_large_one(tmp_path: Path) -> None:
    right = "y = Identity (x)"
    wrong = "z = Constant <value = float {0.5}> () p = Greater (x, z) n = Abs (x) y = Where (p, x, n)"
    (output,) = checked(tmp_path, right, wrong, [9, 9, 9, 9], [0.4, -0.4, 0, 0]).over
    assert output.worst_sample == 1
    assert output.max_abs_error == pytest.approx(0.8)


SIGMOID = "o = Constant <value = float {{{}}}> () a = Add (x, o) s = Sigmoid (a) y = Identity (s)"


def test_what_comes_from_a_sigmoid_is_measured_by_its_range(tmp_path: Path) -> None:
    """All values are near 0, as in a detector's heat map for noise: an error of half of them is small."""
    found = checked(tmp_path, SIGMOID.format(-8), SIGMOID.format(-7.5), [-1, -1, 0, -2])
    (output,) = found.outputs
    assert found.over == ()
    assert (output.scale, output.scale_from) == (1, "the range of Sigmoid")
    assert 1e-4 < output.max_abs_error < 1e-3


def test_a_sigmoid_that_is_wrong_is_found(tmp_path: Path) -> None:
    (output,) = checked(tmp_path, SIGMOID.format(-8), SIGMOID.format(-6), [-1, -1, 0, -2]).over
    assert output.failure.startswith("max abs error 0.00214 of 1 (the range of Sigmoid); allowed is 1e-05 + 0.001 x 1 ")


def test_every_output_and_side_has_both_parts(tmp_path: Path) -> None:
    (tmp_path / "tight").mkdir()
    (tmp_path / "wide").mkdir()
    tight = ParitySettings(tolerance=1e-6)
    assert checked(tmp_path / "tight", line(1e-6), line(1e-6, 5e-6), ONES, settings=tight).over
    wide = ParitySettings(tolerance=1e-6, atol=1e-5)
    assert not checked(tmp_path / "wide", line(1e-6), line(1e-6, 5e-6), ONES, settings=wide).over
    own = {"y": Tolerance(max_rel_error=1e-3, atol=0.0)}
    (output,) = checked(tmp_path, line(1e-6), line(1e-6, 5e-6), ONES, settings=ParitySettings(outputs=own)).over
    assert (output.rtol, output.atol) == (1e-3, 0.0)
    models = [onnx_model(f"(float[4] x) => (float[4] y) {{ {line(1e-6, offset)} }}") for offset in (0, 5e-6)]
    a, b = side(tmp_path, models[0], "a"), side(tmp_path, models[1])
    assert bisected(tmp_path, a, b, X, tolerance=1e-3).kind is BisectionKind.AGREEMENT


def test_a_variant_is_measured_by_the_range_that_the_model_says(tmp_path: Path) -> None:
    """The variant's graph need not have the operator any more."""
    model = loaded(tmp_path, onnx_model("(float[4] x) => (float[4] y) { y = Sigmoid (x) }"))
    other = onnx_model("(float[4] x) => (float[4] y) { a = Exp (x) y = Abs (a) }")
    variant = derived(model, name="own", graph=other.SerializeToString(), quantizer=StaticQdq.NAME)
    numpy.savez(tmp_path / "0.npz", x=numpy.full(4, -9, "f4"))
    settings = ParitySettings(samples=tmp_path / "0.npz")
    (scale,) = parity.OriginalOutputs(tmp_path).of(variant, settings).scales
    assert (scale.value, scale.source) == (1, "the range of Sigmoid")


X = {"x": numpy.array(ONES, "f4")}


def test_a_small_fault_that_later_nodes_enlarge_is_found_at_its_node(tmp_path: Path) -> None:
    def model(factor: float) -> onnx.ModelProto:
        return onnx_model(
            f"(float[4] x) => (float[4] y) <float k = {{{factor}}}, float m = {{1000000.0}}>"
            "{ [small] a = Mul (x, k) [large] y = Mul (a, m) }"
        )

    a, b = side(tmp_path, model(1e-6), "a"), side(tmp_path, model(1.1e-6))
    found = bisected(tmp_path, a, b, X, tolerance=1e-3)
    assert (found.kind, found.node) == (BisectionKind.NODE, "small")
    assert found.local_error is not None
    assert found.local_error.max_rel_error == pytest.approx(0.1, rel=1e-3)
    assert [row.value for row in found.layers] == ["a"]


def test_a_file_whose_sums_are_in_16_bits_may_be_off_by_what_they_lose(tmp_path: Path) -> None:
    weights = {"w": numpy.ones((8, 8), "f2")}
    text = "(float16[1, 8] x) => (float16[1, 8] y) { y = MatMul (x, w) }"
    file = compiled(tmp_path, onnx_model(text, weights=weights))
    document = {
        "package": {"name": "half"},
        "model": {file.variant.model.name: {"path": "half.onnx"}},
        "target": {"ios": {}},
    }
    config = from_document(document, tmp_path, targets=(), settings=())
    found = {}
    for processor in ("", FP16):
        subject = Subject(variant=file.variant, compiled=replace(file, processor=processor))
        found[processor] = settings_for(config, subject, Cpu()).tolerance
    assert found == {"": 1e-2, FP16: pytest.approx(4e-2)}
