"""ONNX Runtime saturates 8-bit products on x86 processors without VNNI, unless its session is told not to."""

from pathlib import Path

import numpy

from packager.engines.runners import Runnable
from tests.engines.test_assign import ort_format
from tests.engines.test_runners_isolated import on_x86, ready, run, saturating


@on_x86
def test_x86_without_vnni_saturates_unless_the_session_is_told_not_to(tmp_path: Path) -> None:
    (runner,) = ready("x86_64")
    model, feed, exact = saturating(tmp_path)
    (saturated,) = run(runner, model, tmp_path, feed).outputs
    assert saturated.max() < exact.max() / 1.5
    told = Runnable(path=model, settings={"session.x64quantprecision": "1"})
    numpy.testing.assert_array_equal(run(runner, told, tmp_path, feed).outputs[0], exact)


@on_x86
def test_in_ort_format_x86_without_vnni_saturates_whatever_it_is_told(tmp_path: Path) -> None:
    """That key makes ONNX Runtime rewrite the graph, which it does to ONNX files alone."""
    (runner,) = ready("x86_64")
    model, feed, exact = saturating(tmp_path)
    path = ort_format(model, is_fused=True)
    told = run(runner, Runnable(path=path, settings={"session.x64quantprecision": "1"}), tmp_path, feed)
    assert told.outputs[0].max() < exact.max() / 1.5
