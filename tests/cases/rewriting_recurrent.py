"""LSTMs with integer weights: every direction, with states and peepholes."""

from typing import Any

import numpy
import onnx

from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import Array, weight

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
