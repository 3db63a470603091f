"""`mobpack export` without PyTorch: refusals, the written graph, and the comparison."""

from pathlib import Path

import numpy
import onnx
import onnx.external_data_helper
import pytest

from packager.core.errors import ParityError
from packager.core.values import baseline
from packager.samples.sample import write_arrays
from packager.verification.parity import Tolerance, default_tolerance
from packager.workflows.conversion import comparison
from packager.workflows.conversion.comparison import RecordedOutputs
from packager.workflows.export import steps
from tests.cases.onnx_text import loaded, onnx_model, saved

DOUBLED = "(float[n, 3] x) => (float[n, 3] twice, float[n, 3] more) { twice = Add (x, x) more = Add (x, one) }"

ONE = {"one": numpy.ones(1, numpy.float32)}


def recorded(folder: Path, *batches: int, wrong: float = 0.0) -> RecordedOutputs:
    """Samples of DOUBLED and its outputs, one number of which is wrong."""
    for kind in ("samples", "recorded"):
        (folder / kind).mkdir()
    for number, batch in enumerate(batches):
        x = numpy.arange(3 * batch, dtype=numpy.float32).reshape(batch, 3)
        twice = x * 2
        twice[-1, -1] += wrong * number
        write_arrays(folder / "samples" / f"sample-{number}.npz", {"x": x})
        write_arrays(folder / "recorded" / f"sample-{number}.npz", {"more": x + 1, "twice": twice})
    sizes = tuple({"n": batch} for batch in batches)
    exported = steps.Exported(
        inputs=("x",), outputs=("twice", "more"), axes=(), sizes=sizes, torch="", weight_bytes=0, shared=()
    )
    return steps.recorded_in(folder, exported)


def compared(path: Path, samples: RecordedOutputs) -> tuple[comparison.OutputResult, ...]:
    return comparison.compare(path, ["twice", "more"], samples, path.parent / "gate", rtol=1e-3, atol=1e-5)


def test_a_model_that_computes_the_same_passes_the_gate(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", onnx_model(DOUBLED, weights=ONE))
    samples = recorded(tmp_path, 2, 5)
    found = compared(path, samples)
    assert [(each.name, each.max_share, each.failure) for each in found] == [("twice", 0, ""), ("more", 0, "")]
    assert comparison.refusal(found, path, samples) is None


def test_the_largest_error_of_any_sample_counts(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", onnx_model(DOUBLED, weights=ONE))
    found, _ = compared(path, recorded(tmp_path, 1, 1, 5, wrong=0.001))  # then 4 is off by 0.001, and 28 by 0.002
    assert found.max_abs_error == pytest.approx(0.002, rel=1e-2)
    assert found.max_share == pytest.approx(0.002 / (1e-5 + 1e-3 * 28), rel=1e-2)
    assert found.share_of_scale == pytest.approx(0.001 / 4, rel=1e-2)


def test_the_gate_names_the_output_the_sample_and_the_numbers(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", onnx_model(DOUBLED, weights=ONE))
    samples = recorded(tmp_path, 2, 5, wrong=0.5)
    found = compared(path, samples)
    refusal = comparison.refusal(found, path, samples)
    assert isinstance(refusal, ParityError)
    assert refusal.message.splitlines() == [
        "m.onnx differs from PyTorch; it was not written",
        "  output 'twice' on sample 1 (n = 5), node by node: 1 of 15 numbers differ (rtol 0.001, atol 1e-05, scale 28.5"
        "); "
        "at [4, 2] it is 28, and should be 28.5; at most it is off by 0.5, 0.02 of the largest number",
    ]
    again = comparison.compare(path, ["twice"], samples, tmp_path / "again", rtol=0.1, atol=0)
    assert comparison.refusal(again, path, samples) is None


def test_an_import_allows_numbers_near_zero_what_a_build_allows_them(tmp_path: Path) -> None:
    """Sums that cancel are as exact as their largest term: the scale of the output decides, not the number itself."""
    path = saved(tmp_path / "m.onnx", onnx_model(DOUBLED, weights=ONE))
    samples = recorded(tmp_path, 200)
    with numpy.load(samples.outputs(0)) as known:
        outputs = dict(known)
    scale = numpy.abs(outputs["twice"]).max()
    for error, passes in ((5e-7 * scale, True), (2e-3 * scale, False)):
        outputs["twice"][0, 0] = error
        write_arrays(samples.outputs(0), outputs)
        folder = tmp_path / f"gate {passes}"
        found = comparison.compare(path, ["twice", "more"], samples, folder, rtol=1e-3, atol=1e-5)
        assert (comparison.refusal(found, path, samples) is None) == passes
        built = default_tolerance(baseline(loaded(tmp_path, onnx.load(path))))
        assert (error <= Tolerance(max_rel_error=built).allowed(scale)) == passes


def test_a_size_that_only_pytorch_takes_is_a_parity_error(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", onnx_model(DOUBLED.replace("[n,", "[2,"), weights=ONE))
    with pytest.raises(ParityError, match=r"ONNX Runtime rejects sample 1 \(n = 5\), which PyTorch accepts"):
        compared(path, recorded(tmp_path, 2, 5))
