"""LSTMs with integer weights: every direction, with states and peepholes."""

from pathlib import Path

import onnx
import pytest
from onnxruntime.quantization import quantize_dynamic

from packager.quantizers.dynamic import Dynamic
from tests.cases.onnx_text import saved
from tests.cases.rewriting_cases import decibels, outcome, run, samples_for
from tests.cases.rewriting_recurrent import CASES, lstm


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_an_lstm_is_no_less_precise_than_onnx_runtime_s(case: str, tmp_path: Path) -> None:
    model = lstm(**CASES[case])
    samples = samples_for(model)
    quantize_dynamic(saved(tmp_path / "m.onnx", model), tmp_path / "q.onnx", per_channel=False)
    theirs = run(onnx.load(tmp_path / "q.onnx"), samples[0])
    expected = run(model, samples[0])
    ours = outcome(model, Dynamic(), samples).decibels(samples[0])
    assert ours >= decibels([(expected[name], theirs[name]) for name in expected])
