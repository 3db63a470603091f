"""How far apart two outputs are: on the output's own scale, and never lenient about NaN, shape or type."""

import math
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.parity.metrics import difference

few = settings(max_examples=60, deadline=None)
values = st.lists(
    st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-30, 3e38, math.inf, -math.inf, math.nan]), min_size=1, max_size=6
)
NAN, INF = math.nan, math.inf


def floats(*numbers: float) -> Any:
    return numpy.array(numbers, numpy.float32)


@few
@given(numbers=values)
def test_an_output_never_differs_from_itself(numbers: list[float]) -> None:
    same = difference(floats(*numbers), floats(*numbers))
    assert (same.max_abs_error, same.max_rel_error, same.reason) == (0.0, 0.0, "")


@few
@given(one=values, two=values)
def test_errors_are_never_negative_and_never_nan(one: list[float], two: list[float]) -> None:
    found = difference(floats(*one), floats(*two))
    assert found.max_abs_error >= 0
    assert found.max_rel_error >= 0


def test_errors_are_measured_against_the_largest_value_of_the_original() -> None:
    found = difference(floats(0.0, -8.0, 2.0), floats(0.5, -8.0, 2.0))
    assert (found.max_abs_error, found.max_rel_error) == (0.5, 0.0625)


@pytest.mark.parametrize(
    ("original", "compiled"),
    [
        ((1.0, NAN), (1.0, 1.0)),
        ((1.0, 1.0), (1.0, NAN)),
        ((1.0, INF), (1.0, -INF)),
        ((1.0, INF), (1.0, 3e38)),
        ((1.0, 2.0), (1.0, INF)),
        ((NAN,), (INF,)),
    ],
)
def test_nan_or_infinity_at_one_place_only_is_over_any_tolerance(
    original: tuple[float, ...], compiled: tuple[float, ...]
) -> None:
    assert difference(floats(*original), floats(*compiled)).max_rel_error == INF


def test_nan_and_infinity_at_the_same_places_are_equal_and_do_not_hide_the_rest() -> None:
    found = difference(floats(NAN, INF, 4.0), floats(NAN, INF, 5.0))
    assert (found.max_abs_error, found.max_rel_error) == (1.0, 0.25)


def test_an_output_of_zeros_tolerates_rounding_and_nothing_more() -> None:
    assert difference(floats(0.0, 0.0), floats(0.0, 0.1)).max_rel_error > 1
    assert difference(floats(0.0, 0.0), floats(0.0, 1e-4)).max_rel_error > 1
    assert difference(floats(0.0, 0.0), floats(0.0, 1e-12)).max_rel_error < 1e-3


@pytest.mark.parametrize(
    ("original", "compiled", "reason"),
    [
        (numpy.zeros((2, 3), "f4"), numpy.zeros((3, 2), "f4"), "shape [3, 2] instead of [2, 3]"),
        (numpy.zeros(2, "f4"), numpy.zeros((), "f4"), "shape [] instead of [2]"),
        (numpy.zeros(2, "f4"), numpy.zeros(2, "f8"), "element type float64 instead of float32"),
        (numpy.zeros(2, "i8"), numpy.zeros(2, "i4"), "element type int32 instead of int64"),
        (numpy.array(["a", "bc"]), numpy.array(["a", "bcd"]), "1 of 2 values differ"),
        (numpy.array(["a"]), numpy.zeros(1, "f4"), "element type float32 instead of <U1"),
    ],
)
def test_what_cannot_be_compared_by_value_is_over_any_tolerance_and_says_why(
    original: Any, compiled: Any, reason: str
) -> None:
    found = difference(original, compiled)
    assert (found.max_rel_error, found.reason) == (INF, reason)


def test_one_wrong_string_among_many_is_not_averaged_away() -> None:
    original = numpy.array(["a"] * 10_000)
    compiled = original.copy()
    compiled[7] = "b"
    assert difference(original, compiled).max_rel_error == INF


def test_equal_strings_in_arrays_of_different_width_are_equal() -> None:
    assert difference(numpy.array(["a", "b"], "U1"), numpy.array(["a", "b"], "U9")).max_rel_error == 0


def test_integers_and_booleans_must_be_equal() -> None:
    assert difference(numpy.array([30_000, 7]), numpy.array([30_001, 7])).reason == "1 of 2 values differ"
    assert difference(numpy.array([2**62]), numpy.array([2**62 + 1])).max_rel_error == INF
    assert difference(numpy.array([True, False]), numpy.array([True, True])).max_rel_error == INF
    assert difference(numpy.array([30_000, 7]), numpy.array([30_000, 7])).max_rel_error == 0


def test_eight_bit_integers_are_quantized_numbers() -> None:
    step = difference(numpy.array([250, 3], "u1"), numpy.array([249, 3], "u1"))
    assert (step.max_abs_error, step.max_rel_error) == (1, 1 / 250)


def test_empty_outputs_of_the_same_shape_are_equal() -> None:
    assert difference(numpy.zeros((0, 4), "f4"), numpy.zeros((0, 4), "f4")).max_rel_error == 0
    assert difference(numpy.zeros((0, 4), "f4"), numpy.zeros((0, 5), "f4")).max_rel_error == INF
