"""Histograms that grow: the same counts in any order of the data."""

from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from packager.quantization.calibration.histogram import CHUNK, Histogram, add, coarser, count
from packager.quantization.calibration.statistics import DAMAGED, Collection, load
from packager.quantization.calibration.thresholds import folded, rebinned
from tests.nights import examples

Values = NDArray[numpy.float32]
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def counted(values: Values, *, at_least: int = -1000) -> Histogram:
    return count(values, float(values.min()), float(values.max()), at_least=at_least)


def same(one: Histogram, other: Histogram) -> bool:
    """Equal counts; empty bins at the ends are ignored."""
    return one.exponent == other.exponent and bins_of(one) == bins_of(other)


def bins_of(histogram: Histogram) -> dict[int, int]:
    return {histogram.first + index: int(each) for index, each in enumerate(histogram.counts) if each}


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.lists(FLOATS, min_size=1, max_size=6), min_size=1, max_size=5))
def test_parts_in_any_order_give_the_histogram_of_the_whole(parts: list[list[float]]) -> None:
    arrays = [numpy.array(part, numpy.float32) for part in parts]
    whole = counted(numpy.concatenate(arrays))
    for order in (arrays, arrays[::-1]):
        result = counted(order[0])
        for part in order[1:]:
            result = add(result, counted(part, at_least=result.exponent))
        assert same(result, whole)


def test_values_are_counted_in_the_bins_of_their_size() -> None:
    values = numpy.random.default_rng(0).standard_normal(3 * CHUNK + 5).astype(numpy.float32)
    histogram = counted(values)
    expected = numpy.histogram(values.astype(numpy.float64), histogram.edges)[0]
    numpy.testing.assert_array_equal(histogram.counts, expected)
    assert histogram.counts.sum() == values.size
    for greatest in [0.0, 1.0, 0.7, 6.0, 1e-40, 3.4e38]:
        for sign in [1, -1]:
            values = numpy.array([sign * greatest, 0.0], numpy.float32)
            histogram = counted(values)
            assert histogram.edges[0] <= values.min()
            assert histogram.edges[-1] > values.max()
            assert histogram.counts.sum() == 2
            assert histogram.counts.size <= 8192 + 1
    values = numpy.array([-1e-30, 3e38], numpy.float32)
    assert bins_of(counted(values))[-1] == 1


def test_bins_of_another_width_hold_what_counting_anew_gives() -> None:
    values = numpy.random.default_rng(1).standard_normal(5000).astype(numpy.float32)
    histogram = counted(values)
    for more in (1, 3, 20):
        exponent = histogram.exponent + more
        assert same(coarser(histogram, exponent), counted(values, at_least=exponent))
    values = numpy.random.default_rng(3).standard_normal(200_000).astype(numpy.float32)
    limit = float(numpy.abs(values).max())
    edges = numpy.linspace(-limit, limit, 2049)
    ours, theirs = rebinned(counted(values), edges), numpy.histogram(values, edges)[0]
    assert ours.sum() == pytest.approx(values.size)
    # Only values that share a bin of ours with an edge can be on its other side.
    assert numpy.abs(numpy.cumsum(ours) - numpy.cumsum(theirs)).max() < theirs.max() / 4
    counts = rebinned(Histogram(0, 0, numpy.array([10**6, 0, 5])), numpy.array([0, 1 - 1e-12, 2, 3]))
    assert counts.tolist() == [pytest.approx(10**6), 0, pytest.approx(5)]


@pytest.mark.parametrize("shift", [0.0, 5.0, -5.0])
def test_folding_gives_the_histogram_of_magnitudes(shift: float) -> None:
    values = (numpy.random.default_rng(2).standard_normal(9000) + shift).astype(numpy.float32)
    values = values[values * 4096 % 1 != 0]  # those on an edge change sides with their sign
    magnitudes = folded(counted(values))
    expected = counted(numpy.abs(values), at_least=magnitudes.exponent)
    assert bins_of(magnitudes) == bins_of(expected)


def test_statistics_come_back_from_their_file(tmp_path: Path) -> None:
    collection = Collection(("a", "empty", "b"))
    for seed in range(3):
        values = numpy.random.default_rng(seed).standard_normal(100).astype(numpy.float32)
        collection.extremes.append(numpy.array([[-1, seed], [numpy.inf, -numpy.inf], [0, 1]], numpy.float32))
        collection.count("a", counted(values))
        collection.count("b", counted(values * 100))
    collection.count("b", Histogram(0, 0, numpy.array([2**40])))
    collection.save(tmp_path / "statistics.npz")
    found = load(tmp_path / "statistics.npz")
    assert found.names == collection.names
    numpy.testing.assert_array_equal(found.extremes, collection.extremes)
    assert set(found.histograms) == {"a", "b"}
    assert all(same(found.histograms[name], collection.histograms[name]) for name in found.histograms)
    assert found.histograms["b"].counts.sum() == 300 + 2**40


def test_statistics_with_any_byte_damaged_or_cut_off_are_refused_or_the_same(tmp_path: Path) -> None:
    """A killed run leaves its statistics outside of the store: the file itself must prove that it is whole. Every third
    byte by day."""
    collection = Collection(("a", "b"), [numpy.array([[0, 1], [2, 3]], numpy.float32)] * 3)
    collection.histograms["a"] = Histogram(-3, 1, numpy.array([1, 2, 3]))
    collection.save(tmp_path / "whole.npz")
    whole, content = load(tmp_path / "whole.npz"), (tmp_path / "whole.npz").read_bytes()
    every = 3 // examples(3)
    damaged = [
        content[: number // 8] if number % 8 == 7 else flipped(content, number)
        for number in range(0, len(content), every)
    ]
    refused = 0
    for each in damaged:
        (tmp_path / "damaged.npz").write_bytes(each)
        try:
            found = load(tmp_path / "damaged.npz")
        except DAMAGED:
            refused += 1
        else:
            assert found.names == whole.names
            assert numpy.array_equal(found.extremes, whole.extremes)
            assert (found.histograms["a"].exponent, found.histograms["a"].first) == (-3, 1)
            assert found.histograms["a"].counts.tolist() == [1, 2, 3]
    assert refused > len(damaged) // 2


def flipped(content: bytes, number: int) -> bytes:
    changed = bytearray(content)
    changed[number] ^= 1 << number % 7
    return bytes(changed)
