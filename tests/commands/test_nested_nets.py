"""Branches in loops in branches, scans and functions: what mobpack rewrites of them opens and computes the same."""

from pathlib import Path

import pytest

from packager.engines.runners import Runnable
from packager.engines.runners.cpu import Cpu
from packager.verification import parity
from packager.verification.bisection import BisectionKind, ErrorLimits, bisect, condemned
from packager.verification.parity import ParitySettings, Subject, Tolerance
from packager.verification.parity.conditioning import perturbed
from tests.cases.bisection_cases import samples, side
from tests.cases.nested_nets import nested_net
from tests.cases.nested_shared import FEED, in_ort_format
from tests.cases.onnx_text import compiled, onnx_model, saved
from tests.cases.rewriting_cases import outcome, samples_for
from tests.cases.rewriting_random_nets import QUANTIZERS

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
