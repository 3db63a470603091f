"""The tolerance for recorded outputs: numpy's own."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from packager.verification.parity import allclose
from packager.verification.parity.allclose import over
from tests.nights import examples

NUMBERS = st.floats(width=32, allow_nan=True, allow_infinity=True)
SHAPES = st.sampled_from([(7,), (2, 3), (), (0, 4)])


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.sampled_from([0.0, 1e-3, 0.5]), st.sampled_from([0.0, 1e-5, 1.0]))
def test_it_is_within_where_numpy_says_so(data: st.DataObject, rtol: float, atol: float) -> None:
    shape = data.draw(SHAPES)
    expected, actual = (data.draw(arrays(numpy.float32, shape, elements=NUMBERS)) for _ in range(2))
    # numpy.allclose scales by its second argument
    is_close = numpy.isclose(actual.astype("d"), expected.astype("d"), rtol=rtol, atol=atol, equal_nan=True)
    found = over(expected, actual, rtol, atol)
    assert found.count == numpy.count_nonzero(~is_close)
    assert bool(found.failure) == (found.max_share > 1) == bool(found.count)


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_chunks_change_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allclose, "CHUNK_ELEMENTS", chunk)
    expected = numpy.linspace(-1, 1, 10, dtype="f").reshape(2, 5)
    actual = expected.copy()
    actual[1, 2] += 0.25
    actual[0, 1] -= 0.125
    found = over(expected, actual)
    assert (found.count, found.total) == (2, 10)
    assert found.max_abs_error == pytest.approx(0.25)
    assert found.failure == (
        "2 of 10 numbers differ (rtol 0.001, atol 1e-05); at [1, 2] it is 0.805556, and should be 0.555556"
    )


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf, -numpy.inf])
def test_a_number_that_is_none_is_worse_than_any_other(bad: float) -> None:
    found = over(numpy.array([1, 2, 3], "f"), numpy.array([1e9, bad, 3], "f"))
    assert found.count == 2
    assert found.max_share == numpy.inf
    assert "at [1] it is" in found.failure


def test_equal_places_of_nan_and_other_shapes_are_told() -> None:
    numbers = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 0], "f")
    assert over(numbers, numbers.copy(), 0, 0) == allclose.Excess(total=4)
    floats = numpy.zeros((2, 3), "f")
    assert over(floats, floats.T).failure == "its shape is [3, 2], not [2, 3]"
    assert over(floats, floats.astype("i4")).failure == "it is int32, not float32"
    assert over(floats.astype("i4"), floats).failure == "it is float32, not int32"


@pytest.mark.parametrize("kind", ["i8", "?", "U3"])
def test_integers_booleans_and_texts_must_be_equal(kind: str) -> None:
    expected = numpy.array([0, 1, 0], kind)
    actual = numpy.array([0, 1, 1], kind)
    assert over(expected, expected.copy()).failure == ""
    found = over(expected, actual, rtol=10, atol=10)
    assert (found.count, found.total) == (1, 3)
    assert "they must be equal" in found.failure
    assert "at [2]" in found.failure
