"""The error between two outputs: on the output's own scale, and strict about NaN, shape and type."""

import math
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.core.findings import OutputError
from packager.graph.weights.streaming import CHUNK_ELEMENTS
from packager.verification.parity import NO_RANGE, Tolerance
from packager.verification.parity.metrics import Comparison, difference
from tests.nights import examples

few = settings(max_examples=examples(60), deadline=None)
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


def test_errors_are_shares_of_the_original_and_zeros_tolerate_rounding() -> None:
    found = difference(floats(0.0, -8.0, 2.0), floats(0.5, -8.0, 2.0))
    assert (found.max_abs_error, found.max_rel_error) == (0.5, 0.0625)
    assert difference(floats(0.0, 0.0), floats(0.0, 0.1)).max_rel_error > 1
    assert difference(floats(0.0, 0.0), floats(0.0, 1e-4)).max_rel_error > 1
    assert difference(floats(0.0, 0.0), floats(0.0, 1e-12)).max_rel_error < 1e-3
    integers = compared(([1, 2, 3], [1, 2, 4]))
    assert Tolerance(max_rel_error=100).failure(integers) == "1 of 3 values differ"
    assert Tolerance(max_mismatches=1, max_rel_error=1e-3).failure(integers) == ""
    odd = compared(([1.0, 2.0], [1.0, float("nan")]))
    assert Tolerance(min_cosine=0).failure(odd) == "1 of 2 values are NaN or infinite in only one of the two"


def test_nan_and_infinity_count_where_one_alone_has_them() -> None:
    for original, compiled in [
        ((1.0, NAN), (1.0, 1.0)),
        ((1.0, 1.0), (1.0, NAN)),
        ((1.0, INF), (1.0, -INF)),
        ((1.0, INF), (1.0, 3e38)),
        ((1.0, 2.0), (1.0, INF)),
        ((NAN,), (INF,)),
    ]:
        assert difference(floats(*original), floats(*compiled)).max_rel_error == INF
    found = difference(floats(NAN, INF, 4.0), floats(NAN, INF, 5.0))
    assert (found.max_abs_error, found.max_rel_error) == (1.0, 0.25)


def test_what_cannot_be_compared_by_value_is_over_any_tolerance_and_says_why() -> None:
    for original, compiled, reason in [
        (numpy.zeros((2, 3), "f4"), numpy.zeros((3, 2), "f4"), "shape [3, 2] instead of [2, 3]"),
        (numpy.zeros(2, "f4"), numpy.zeros((), "f4"), "shape [] instead of [2]"),
        (numpy.zeros(2, "f4"), numpy.zeros(2, "f8"), "element type float64 instead of float32"),
        (numpy.zeros(2, "i8"), numpy.zeros(2, "i4"), "element type int32 instead of int64"),
        (numpy.array(["a"]), numpy.zeros(1, "f4"), "element type float32 instead of <U1"),
    ]:
        found = difference(original, compiled)
        assert (found.max_rel_error, found.reason) == (INF, reason)


def test_texts_are_equal_whatever_their_width_and_never_averaged() -> None:
    original = numpy.array(["a"] * 10_000)
    compiled = original.copy()
    compiled[7] = "b"
    assert difference(original, compiled).max_rel_error == INF
    assert difference(numpy.array(["a", "b"], "U1"), numpy.array(["a", "b"], "U9")).max_rel_error == 0


def test_integers_must_be_equal_unless_they_are_quantized() -> None:
    assert difference(numpy.array([30_000, 7]), numpy.array([30_001, 7])).mismatch_count == 1
    assert difference(numpy.array(["a", "bc"]), numpy.array(["a", "bcd"])).max_rel_error == INF
    assert difference(numpy.array([2**62]), numpy.array([2**62 + 1])).max_rel_error == INF
    assert difference(numpy.array([True, False]), numpy.array([True, True])).max_rel_error == INF
    assert difference(numpy.array([30_000, 7]), numpy.array([30_000, 7])).max_rel_error == 0
    step = difference(numpy.array([250, 3], "u1"), numpy.array([249, 3], "u1"))
    assert (step.max_abs_error, step.max_rel_error) == (1, 1 / 250)
    assert difference(numpy.zeros((0, 4), "f4"), numpy.zeros((0, 4), "f4")).max_rel_error == 0
    assert difference(numpy.zeros((0, 4), "f4"), numpy.zeros((0, 5), "f4")).max_rel_error == INF


def compared(*samples: tuple[numpy.typing.ArrayLike, numpy.typing.ArrayLike]) -> OutputError:
    scale = NO_RANGE.over(numpy.asarray(expected) for expected, _ in samples)
    comparison = Comparison("y", scale)
    for expected, actual in samples:
        comparison.add(numpy.asarray(expected), numpy.asarray(actual))
    return comparison.result()


def test_sums_are_those_over_all_numbers_and_the_worst_sample_is_named() -> None:
    # More numbers than a chunk has, so that every sum is made of several.
    generator = numpy.random.default_rng(0)
    expected = [generator.normal(size=(3, CHUNK_ELEMENTS // 2)).astype("f4") for _ in range(2)]
    actual = [each + generator.normal(size=each.shape).astype("f4") * 1e-3 for each in expected]
    found = compared(*zip(expected, actual, strict=True))
    a, b = (numpy.concatenate(each).astype("f8").reshape(-1) for each in (expected, actual))
    assert found.max_abs_error == numpy.abs(a - b).max()
    assert found.mean_abs_error == pytest.approx(numpy.abs(a - b).mean())
    assert found.cosine == pytest.approx(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b))
    assert found.sqnr_db == pytest.approx(10 * numpy.log10((a**2).sum() / ((a - b) ** 2).sum()))
    rows = [(x.argmax(-1) == y.argmax(-1)).mean() for x, y in zip(expected, actual, strict=True)]
    assert found.top1_agreement == pytest.approx(numpy.mean(rows))
    assert (found.number_count, sum(found.histogram)) == (a.size, a.size)
    shares = [numpy.abs(x.astype("f8") - y).max() / numpy.abs(x).max() for x, y in zip(expected, actual, strict=True)]
    assert found.worst_sample == int(numpy.argmax(shares))
    one, two, far = numpy.array([1.0]), numpy.array([2.0]), numpy.array([4.0])
    assert compared((one, one), (one, two), (one, far), (one, far)).worst_sample == 2
    assert compared((one, one), (one, one)).worst_sample == 0
    nan = float("nan")
    found = compared(([nan, INF, -INF, INF, 1.0, 2.0, 4.0], [nan, INF, -INF, 1.0, nan, 2.0, 4.4]))
    assert (found.mismatch_count, found.max_abs_error, found.number_count) == (2, INF, 7)
    assert sum(found.histogram) == 2
    assert found.mean_abs_error == pytest.approx(0.4 / 2)


def test_errors_are_counted_by_decades_and_rows_by_their_first() -> None:
    expected = numpy.full(13, 10.0)
    shares = [0, 5e-12, 5e-10, 5e-9, 5e-8, 5e-7, 5e-6, 5e-5, 5e-4, 5e-3, 5e-2, 0.5, 5]
    assert compared((expected, expected + 10 * numpy.array(shares))).histogram == (1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
    expected = numpy.array([[9, 1, 2, 3, 4, 5, 6.0], [9, 1, 2, 3, 4, 5, 6], [9, 1, 2, 3, 4, 5, 6]])
    actual = numpy.array([[9, 1, 2, 3, 4, 5, 6.0], [4.5, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]])
    found = compared((expected, actual))
    assert (found.top1_agreement, found.top5_agreement) == (1 / 3, 2 / 3)
    short = compared((expected[:, :5], actual[:, :5]))
    assert (short.top1_agreement, short.top5_agreement) == (2 / 3, None)
    alone = compared(([1.0], [1.0]))
    assert Tolerance(min_top1_agreement=0.1).failure(alone) == ("top-1 agreement of no rows; the least allowed is 0.1")
    found = compared((["a", "b", "c"], ["a", "x", "y"]))
    assert (found.is_exact, found.mismatch_count, found.number_count, found.histogram) == (True, 2, 3, ())


@pytest.mark.parametrize("shape", [(), (3,), (3, 1)])
def test_outputs_without_rows_have_no_agreement(shape: tuple[int, ...]) -> None:
    array = numpy.ones(shape, "f4")
    assert (compared((array, array)).top1_agreement is None) == (shape != (3,))


FAR = compared(([[1.0, 2.0, 3.0]], [[1.0, 3.5, 3.0]]))


def test_a_tolerance_says_what_does_not_hold() -> None:
    for tolerance, failure in [
        (Tolerance(), ""),
        (Tolerance(max_rel_error=0.5), ""),
        (
            Tolerance(max_rel_error=0.49),
            "max abs error 1.5 of 3 (its largest value); allowed is 0.0049 + 0.49 x 3 = 1.47",
        ),
        (Tolerance(max_abs_error=1.5), ""),
        (Tolerance(max_abs_error=1.4), "max abs error 1.5 of 3 (its largest value); allowed is 1.4"),
        (Tolerance(min_cosine=0.9), ""),
        (Tolerance(min_cosine=0.999), "cosine 0.9632; the least allowed is 0.999"),
        (Tolerance(min_sqnr_db=7), ""),
        (Tolerance(min_sqnr_db=8), "SQNR in dB 7.939; the least allowed is 8"),
        (Tolerance(min_top1_agreement=0.5), "top-1 agreement 0; the least allowed is 0.5"),
    ]:
        assert tolerance.failure(FAR) == failure


@pytest.mark.parametrize("key", ["max_rel_error", "max_abs_error"])
def test_an_infinite_error_is_over_any_tolerance(key: str) -> None:
    odd = compared(([1.0, 2.0], [1.0, float("nan")]))
    assert Tolerance(**{key: 1e30}, max_mismatches=5).failure(odd)
