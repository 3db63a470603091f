"""A sample of ONNX's own operator tests: results are right or correctly refused, and no case is missed."""

from typing import Any

import numpy
import pytest

from benchmarks.conformance_cases import Case, collected
from tests.cases.onnx_text import onnx_model

COUNT, SEED = 150, 8


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return collected()


def case_of(text: str, inputs: list[Any], expected: list[Any], name: str = "test_it") -> Case:
    return Case(name=name, model=onnx_model(text), inputs=tuple(inputs), expected=tuple(expected), rtol=1e-3, atol=1e-7)


HALVES = numpy.array([0.5, 1.5], numpy.float32)

SQUARES = numpy.array([0.25, 2.25], numpy.float32)

SQUARE = "(float[2] x) => (float[2] y) { y = Mul (x, x) }"
