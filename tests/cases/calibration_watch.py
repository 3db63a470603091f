"""A model in blocks, its statistics, and their comparison with numpy's."""

import io
import json
from pathlib import Path

import numpy
import pytest

from packager.files.processes.channel import Channel
from packager.quantization.calibration.child import CalibrationJob, watch
from packager.quantization.calibration.statistics import Statistics, load
from tests.cases.calibration_cases import BLOCK, normal, written
from tests.cases.onnx_text import onnx_model, weight

BLOCK_MODEL = onnx_model(BLOCK, weights={"w": weight(4, 4, 3, 3)})

ALL = ["x", "c", "r", "s", "m"]


def watched(told: CalibrationJob) -> tuple[Statistics, list[int]]:
    answers = io.StringIO()
    watch(told, Channel(io.StringIO(), answers))
    return load(Path(told.output)), [json.loads(line)["done"] for line in answers.getvalue().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "samples", normal(5, 1, 4, 8, 8))


def assert_same(one: Statistics, other: Statistics) -> None:
    assert one.names == other.names
    numpy.testing.assert_array_equal(one.extremes, other.extremes)
    for name, histogram in one.histograms.items():
        found = other.histograms[name]
        assert (found.exponent, found.first) == (histogram.exponent, histogram.first)
        numpy.testing.assert_array_equal(found.counts, histogram.counts)
