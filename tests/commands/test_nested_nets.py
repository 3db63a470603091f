"""Branches in loops in branches, scans and functions: what mobpack rewrites of them opens and computes the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager.engines.runners import Runnable
from packager.engines.runners.cpu import Cpu
from packager.engines.session import exact
from packager.graph.rewriting.stretched import Stretched
from packager.verification import parity
from packager.verification.bisection import BisectionKind, ErrorLimits, bisect, condemned
from packager.verification.parity import ParitySettings, Subject, Tolerance
from packager.verification.parity.conditioning import perturbed
from tests.cases.bisection_cases import samples, side
from tests.cases.nested_nets import SHAPE, nested_net
from tests.cases.onnx_text import compiled, onnx_model, saved
from tests.cases.rewriting_cases import Array, outcome, samples_for
from tests.cases.rewriting_random_nets import QUANTIZERS
from tests.nights import examples
from tests.unit.test_rewriting_stretches import opened

FEED = {"x": numpy.random.default_rng(1).uniform(-1, 1, SHAPE).astype(numpy.float32)}


def options(*, is_optimized: bool) -> Callable[[], onnxruntime.SessionOptions]:
    def made() -> onnxruntime.SessionOptions:
        given = onnxruntime.SessionOptions()
        given.log_severity_level = 4
        given.intra_op_num_threads = 1
        levels = onnxruntime.GraphOptimizationLevel
        given.graph_optimization_level = levels.ORT_ENABLE_ALL if is_optimized else levels.ORT_DISABLE_ALL
        return given

    return made


def in_ort_format(model: Path) -> Path:
    path = model.with_suffix(".ort")
    made = options(is_optimized=True)()
    made.optimized_model_filepath = str(path)
    made.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(
        str(model), made, providers=["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"]
    )
    return path


def plain(model: Path, *, is_optimized: bool = False) -> list[Array]:
    session = onnxruntime.InferenceSession(
        str(model), options(is_optimized=is_optimized)(), providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, FEED))


def test_a_form_that_does_not_open_is_no_fault_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from packager.engines.runners import cpu_child

    def broken(*_: object) -> object:
        return onnxruntime.InferenceSession(b"no model", providers=["CPUExecutionProvider"])

    model = saved(tmp_path / "m.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    monkeypatch.setattr(exact, "opened", broken)
    job: dict[str, Any] = {
        "model": str(model),
        "data_folder": None,
        "provider": "cpu",
        "provider_options": {},
        "entries": {},
    }
    session, about = cpu_child.opened({**job, "optimize": True})
    assert session.run(None, {"x": numpy.array([-1, 2], numpy.float32)})[0].tolist() == [0, 2]
    assert "mobpack's form of the model does not open" in about["about"]
    saved(model, onnx_model("(float[2] x) => (float[2] y) { y = Nonsense (x) }"))
    with pytest.raises(Exception, match="Nonsense"):
        cpu_child.opened({**job, "optimize": True})


def test_nested_nets_open_in_their_exact_form_and_compute_the_same(tmp_path: Path) -> None:
    for number in range(examples(40)):
        model = saved(tmp_path / f"{number}.onnx", nested_net(number))
        expected = plain(model)
        for path in (model, in_ort_format(model)):
            for is_optimized in (False, True):
                session = exact.opened(path, "", options(is_optimized=is_optimized))
                for one, other in zip(expected, session.run(None, FEED), strict=True):
                    assert numpy.abs(one - other).max() < 1e-4, (number, path.suffix, is_optimized)


def test_nested_nets_run_in_stretches_as_in_one(tmp_path: Path) -> None:
    """Calibration takes them apart: what a Loop gives has no known rank."""
    for number in range(examples(12)):
        model = nested_net(number)
        values = [name for node in model.graph.node for name in node.output]
        last = [value.name for value in model.graph.output]
        found = Stretched(model, [[name] for name in values], opened)
        seen = [
            {name: value.numpy() for name, value in each.items()}
            for each in found.run({"x": onnxruntime.OrtValue.ortvalue_from_numpy(FEED["x"])})
        ]
        arrays = {name: array for each in seen for name, array in each.items()}
        for name, expected in zip(last, plain(saved(tmp_path / "m.onnx", model)), strict=True):
            assert numpy.abs(arrays[name] - expected).max() < 1e-4, number


def test_the_same_number_gives_the_same_net() -> None:
    def content(model: onnx.ModelProto) -> bytes:
        return bytes(model.SerializeToString(deterministic=True))

    assert content(nested_net(3)) == content(nested_net(3)) != content(nested_net(4))


@pytest.mark.parametrize("name", QUANTIZERS)
def test_every_quantizer_keeps_the_ends_of_branches_and_bodies(tmp_path: Path, name: str) -> None:
    quantizer, least = QUANTIZERS[name]
    for number in range(examples(6)):
        model = nested_net(number)
        given = samples_for(model)
        made = outcome(model, quantizer, given)
        for is_optimized in (False, True):
            assert made.decibels(given[0], is_optimized=is_optimized) >= min(least, 15), number
            plain(saved(tmp_path / "m.onnx", made.model), is_optimized=is_optimized)


CONSTANT_BRANCH = """(float[1, 8] x) => (float[1, 8] y) <int64 n = {5}, bool yes = {1}> { y = Loop (n, yes, x) <
    body = b (int64 i, bool going, float[1, 8] s) => (bool still, float[1, 8] t)
        <int64 two = {2}, float[1, 8] c = {1, 2, 3, 4, 5, 6, 7, 8}> {
        still = Identity (going) early = Less (i, two)
        u = If (early) <then_branch = p () => (float[1, 8] v) { v = Identity (c) },
                        else_branch = q () => (float[1, 8] w) { k = Tanh (s) w = Exp (k) }>
        t = Softmax (u) }> }"""


def test_a_branch_that_is_a_constant_keeps_its_output_in_a_comparison(tmp_path: Path) -> None:
    file = compiled(tmp_path, onnx_model(CONSTANT_BRANCH))
    found = parity.check(
        Subject(variant=file.variant, compiled=file), Cpu(), ParitySettings(random_samples=1), tmp_path
    ).parity
    assert (found.refusal, found.has_failed) == ("", False)
    assert found.max_rel_error < 1e-6
    assert "does not open" not in found.runs_on


@pytest.mark.parametrize("is_quantized", [False, True])
def test_nested_nets_are_bisected_and_perturbed(tmp_path: Path, *, is_quantized: bool) -> None:
    for number in range(4, 8):
        folder = tmp_path / str(number)
        (folder / "work").mkdir(parents=True)
        model = nested_net(number)
        if is_quantized:
            model = outcome(model, QUANTIZERS["all"][0], samples_for(model)).model
        path = saved(folder / "m.onnx", model)
        a = side(folder, model, "a", is_optimized=False)
        b = side(folder, model, "b", path=in_ort_format(path))
        (sample,) = samples(folder, FEED)
        limits = ErrorLimits(tolerance=Tolerance(max_rel_error=5e-2 if is_quantized else 1e-3))
        found = bisect(a, b, [sample], folder / "work", folder / "evidence", limits=limits)
        assert (found.kind, [each for each in found.notes if "cannot be" in each]) == (BisectionKind.AGREEMENT, [])
        assert condemned(a, b, sample, folder / "work", limits=limits) == ""
        shaken = perturbed(model, Runnable(path=path, is_optimized=False), Cpu(), folder / "shaken")
        assert shaken
        (moved,) = shaken.movements([sample], folder / "moved")
        assert moved.outcomes
