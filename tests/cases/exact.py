"""Comparison of what a model computes on this processor and on an emulated Haswell."""

from collections.abc import Mapping
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from tests.cases import exact_cases

Array = NDArray[Any]

Numbers = Mapping[str, Array]


@pytest.fixture(scope="module")
def exact_here() -> Numbers:
    return exact_cases.found(is_exact=True)


def different(one: Numbers, other: Numbers) -> set[str]:
    assert one.keys() == other.keys()
    return {name for name in one if not numpy.array_equal(one[name], other[name])}


def names(found: set[str]) -> set[str]:
    """Names of cases, however they were opened."""
    return {each.split(",")[0] for each in found}
