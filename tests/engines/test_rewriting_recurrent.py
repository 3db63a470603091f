"""LSTMs with integer weights: every direction, with states and peepholes."""

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnxruntime.quantization import quantize_dynamic

from packager.core.errors import ModelError
from packager.quantizers.dynamic import Dynamic
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.rewriting_cases import Array, decibels, outcome, run, samples_for, weight

STEPS, BATCH, INPUTS, UNITS = 6, 2, 12, 16


CASES: dict[str, dict[str, Any]] = {
    "forward": {},
    "reverse": {"direction": "reverse", "has_states": True},
    "bidirectional": {"direction": "bidirectional", "has_states": True, "has_peepholes": True, "has_lengths": True},
    "clipped": {"settings": ", clip = 0.5"},
    "coupled": {"settings": ", input_forget = 1", "has_states": True},
    "other activations": {"settings": ', activations = ["HardSigmoid", "Relu", "Tanh"]', "has_lengths": True},
}


def lstm(
    direction: str = "forward",
    *,
    has_states: bool = False,
    has_peepholes: bool = False,
    has_lengths: bool = False,
    settings: str = "",
) -> onnx.ModelProto:
    count = 2 if direction == "bidirectional" else 1
    weights: dict[str, Array] = {
        "w": weight(count, 4 * UNITS, INPUTS) / 3,
        "r": weight(count, 4 * UNITS, UNITS, seed=1) / 4,
        "b": weight(count, 8 * UNITS, seed=2) / 10,
        "lengths": numpy.array([STEPS, STEPS - 2], numpy.int32),
        "h": weight(count, BATCH, UNITS, seed=3) / 3,
        "c": weight(count, BATCH, UNITS, seed=4) / 3,
        "p": weight(count, 3 * UNITS, seed=5) / 10,
    }
    names = ["x", "w", "r", "b", "lengths" if has_lengths else ""]
    names += ["h", "c"] if has_states else ["", ""]
    names += ["p"] if has_peepholes else []
    while not names[-1]:
        names.pop()
    state = f"float[{count},{BATCH},{UNITS}]"
    return onnx_model(
        f"""(float[{STEPS},{BATCH},{INPUTS}] x)
            => (float[{STEPS},{count},{BATCH},{UNITS}] y, {state} last, {state} cell) {{
            y, last, cell = LSTM <hidden_size = {UNITS}, direction = "{direction}"{settings}> ({", ".join(names)})
        }}""",
        weights={name: array for name, array in weights.items() if name in names},
    )


def test_an_lstm_with_integer_weights_computes_nearly_the_same() -> None:
    for case in CASES:
        model = lstm(**CASES[case])
        samples = samples_for(model)
        made = outcome(model, Dynamic(), samples)
        assert made.operators == ["DynamicQuantizeLSTM"]
        assert made.left == ()
        assert min(made.decibels(each) for each in samples) > 33


def test_one_with_the_batch_first_stays() -> None:
    model = lstm(settings=", layout = 1")
    with pytest.raises(ModelError, match="LSTM: its layout is batch first"):
        outcome(onnx_model_with_linear(model), Dynamic(operators=("LSTM",)))


def onnx_model_with_linear(model: onnx.ModelProto) -> onnx.ModelProto:
    """Without output types, which depend on the layout."""
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model


def test_an_lstm_that_is_excluded_is_noted() -> None:
    model = lstm()
    made = outcome(model, Dynamic(exclude=("y",)))
    assert made.operators == ["LSTM"]
    assert made.reasons == {"y": "excluded by the configuration"}


def test_a_weight_that_is_not_finite_is_refused_by_name() -> None:
    model = lstm()
    broken = weight(1, 4 * UNITS, UNITS)
    broken[0, 5, 5] = numpy.inf
    model.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(broken, "r"))
    with pytest.raises(ModelError, match="'r'"):
        outcome(model, Dynamic())


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
