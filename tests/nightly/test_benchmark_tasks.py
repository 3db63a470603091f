"""Tasks that measure quantized models: their scores, their data, and small models that PyTorch exported."""

import importlib.util
from collections.abc import Mapping

import pytest

from benchmarks.tasks import TASKS
from benchmarks.tasks.task import Array, Inputs, Predict, predictor
from packager.core.errors import ToolError
from tests.toolchain.require import require

FLOAT_SCORES = {
    "orientation": 0.908,
    "digits": 0.984,
    "similarity": 0.593,
    "source_code": 0.713,
    "denoise": 7.79,
    "pitch": 0.89,
    "speech": 0.963,
}
"""Of the float32 models, on the machine that benchmarks/results/accuracy.md was made on."""


def recorded(predict: Predict) -> tuple[Predict, set[bytes]]:
    """`predict`, and the inputs that it will be given."""
    seen: set[bytes] = set()

    def recording(inputs: Inputs) -> Mapping[str, Array]:
        seen.add(key(inputs))
        return predict(inputs)

    return recording, seen


def key(inputs: Inputs) -> bytes:
    return b"".join(name.encode() + inputs[name].tobytes() for name in sorted(inputs))


@pytest.mark.parametrize("name", TASKS)
def test_a_float_model_scores_what_the_documentation_says_and_never_sees_a_calibration_sample(name: str) -> None:
    require(importlib.util.find_spec("PIL") is not None, "Pillow is missing: pip install 'mobpack[test]'")
    task = TASKS[name]
    try:
        predict, seen = recorded(predictor(task.model()))
        assert task.accuracy(predict) == pytest.approx(FLOAT_SCORES[name], rel=0.01)
        calibrated = {key(inputs) for inputs in task.calibration()}
    except ToolError as error:
        require(False, error.message)
    assert 16 <= len(calibrated) <= 64
    assert len(seen) >= 30
    assert not seen & calibrated
