"""Unusual models: each ships and loads in the runtime that packages depend on, with the original's
numbers, or is refused with the reason."""

from pathlib import Path

import pytest

from packager.compile import plan
from packager.core.errors import ModelError
from packager.core.values import Style, baseline
from packager.files.store import Store
from packager.targets.android import Android
from tests.cases.odd_cases import CASES
from tests.cases.odd_models import planned
from tests.cases.onnx_text import loaded


@pytest.fixture(scope="module")
def four_bits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("four_bits")


def test_four_bit_weights_ship_as_onnx_or_are_refused(four_bits: Path) -> None:
    made = planned(four_bits, "int4 per tensor", "auto")
    assert [(choice.provider, choice.compiled.style) for choice in made.choices] == [
        ("xnnpack", Style.PLAIN),
        ("nnapi", Style.PLAIN),
        ("cpu", Style.PLAIN),
    ]
    assert {choice.reason for choice in made.choices} == {CASES["int4 per tensor"].reason}
    assert made.cpu.size_bytes < 1.5 * made.model.size_bytes
    assert made.cpu.settings == {}
    with pytest.raises(ModelError, match="the model has 4-bit weights that ORT format cannot hold") as error:
        planned(four_bits, "int4 per tensor", "ort")
    assert error.value.hint == (
        'ship it as ONNX: format = "auto" or "onnx"; MatMul weights that are quantized in blocks fit'
    )


def test_providers_share_what_ort_format_cannot_hold(tmp_path: Path) -> None:
    made = planned(tmp_path, "int4 in blocks", "ort")
    assert [compiled.style for compiled in made.files] == [Style.FIXED]
    reasons = {choice.provider: choice.reason for choice in made.choices}
    assert reasons["nnapi"] == "the CPU's file: unfused, the graph has 4-bit weights that ORT format cannot hold"
    described = loaded(tmp_path, CASES["int4 for Gather"].model)
    said: list[str] = []
    target = Android(providers=("xnnpack", "nnapi"))
    plan.make(baseline(described, "source"), target, Store(tmp_path / "store"), said.append)
    assert said.count("convert m (source, fixed)") == 1
