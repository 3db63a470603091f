"""A task: a real model, data for it, and a score for the model's answers."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy.typing

Array = numpy.typing.NDArray[Any]
Inputs = dict[str, Array]
Predict = Callable[[Inputs], Mapping[str, Array]]
"""Runs a model once: inputs by name -> outputs by name."""


class Task(Protocol):
    """A module of this folder; the same score each time for the same model."""

    WHAT: str
    """task, model, data, licences and score, in one line"""

    def model(self) -> Path:
        """The float32 model."""

    def calibration(self) -> Iterator[Inputs]:
        """At most 64 samples, none of which `accuracy` runs."""

    def accuracy(self, predict: Predict) -> float:
        """The score of a model, higher is better."""


def predictor(model: Path, *, threads: int = 1) -> Predict:
    """Runs `model` on this machine's processor, in this process."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]

    def predict(inputs: Inputs) -> Mapping[str, Array]:
        return dict(zip(names, session.run(names, inputs), strict=True))

    return predict
