"""Branches in loops in branches, scans and functions: what mobpack rewrites of them opens and computes the same."""

from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager.engines.session import exact
from packager.graph.rewriting.stretched import Stretched
from tests.cases.nested_nets import nested_net
from tests.cases.nested_shared import FEED, in_ort_format, options
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.rewriting_cases import Array, outcome, samples_for
from tests.cases.rewriting_random_nets import QUANTIZERS
from tests.unit.test_rewriting_stretches import opened


def plain(model: Path, *, is_optimized: bool = False) -> list[Array]:
    session = onnxruntime.InferenceSession(
        str(model), options(is_optimized=is_optimized)(), providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, FEED))


def test_a_form_of_ours_that_does_not_open_is_no_fault_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    for number in range(40):
        model = saved(tmp_path / f"{number}.onnx", nested_net(number))
        expected = plain(model)
        for path in (model, in_ort_format(model)):
            for is_optimized in (False, True):
                session = exact.opened(path, "", options(is_optimized=is_optimized))
                for one, other in zip(expected, session.run(None, FEED), strict=True):
                    assert numpy.abs(one - other).max() < 1e-4, (number, path.suffix, is_optimized)


@pytest.mark.parametrize("name", QUANTIZERS)
def test_every_quantizer_keeps_the_ends_of_branches_and_bodies(tmp_path: Path, name: str) -> None:
    quantizer, least = QUANTIZERS[name]
    for number in range(6):
        model = nested_net(number)
        given = samples_for(model)
        made = outcome(model, quantizer, given)
        for is_optimized in (False, True):
            assert made.decibels(given[0], is_optimized=is_optimized) >= min(least, 15), number
            plain(saved(tmp_path / "m.onnx", made.model), is_optimized=is_optimized)


def test_the_same_number_gives_the_same_net() -> None:
    def content(model: onnx.ModelProto) -> bytes:
        return bytes(model.SerializeToString(deterministic=True))

    assert content(nested_net(3)) == content(nested_net(3)) != content(nested_net(4))


def test_nested_nets_run_in_stretches_as_in_one(tmp_path: Path) -> None:
    """Calibration takes them apart: what a Loop gives has no known rank."""
    for number in range(30):
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
