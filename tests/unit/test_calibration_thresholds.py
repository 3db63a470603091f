"""Every method compared with its definition, computed one value at a time."""

import math
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from packager.core.errors import ConfigError
from packager.quantization.calibration import METHODS, Range, RangeMethod
from packager.quantization.calibration.calibrate import ranges_of
from packager.quantization.calibration.histogram import count
from packager.quantization.calibration.statistics import Statistics
from packager.quantization.calibration.thresholds import (
    BY_HISTOGRAM,
    LEVELS,
    divergences_of,
    moving_average,
    square_errors,
)

Values = NDArray[numpy.float32]


def ranged(values: Values, method: RangeMethod) -> Range:
    """The range from the statistics of one sample."""
    low, high = float(values.min()), float(values.max())
    statistics = Statistics(
        ("t",), numpy.array([[[low, high]]], numpy.float32), {"t": count(values, low, high, at_least=-1000)}
    )
    return ranges_of(statistics, {"t": "t"}, method)["t"]


def bell(count: int = 100_000, *, seed: int = 0) -> Values:
    return numpy.random.default_rng(seed).standard_normal(count).astype(numpy.float32)


def with_outlier() -> Values:
    return numpy.concatenate([bell(), numpy.array([60], numpy.float32)])


def plain_divergence(counts: list[float], limit: int) -> float:
    """KL divergence of the first `limit` bins in 128 levels, as the slides of GTC 2017 put it, bin by bin."""
    reference = counts[:limit]
    reference[-1] += sum(counts[limit:])
    expanded = [0.0] * limit
    for level in range(LEVELS):
        members = [index for index in range(limit) if index * LEVELS // limit == level and counts[index]]
        for index in members:
            expanded[index] = sum(counts[each] for each in members) / len(members)
    if not sum(expanded):
        return math.inf
    divergence = 0.0
    for p, q in zip(reference, expanded, strict=True):
        if p and not q:
            return math.inf
        if p:
            p, q = p / sum(reference), q / sum(expanded)
            divergence += p * math.log(p / q)
    return divergence


@pytest.mark.parametrize("empty_share", [0.0, 0.3, 0.9])
def test_divergences_are_those_of_the_plain_definition(empty_share: float) -> None:
    generator = numpy.random.default_rng(4)
    counts = generator.integers(1, 1000, 200).astype(float) * (generator.random(200) >= empty_share)
    expected = [plain_divergence(counts.tolist(), limit) for limit in range(LEVELS, 201)]
    numpy.testing.assert_allclose(divergences_of(counts), expected, atol=1e-9)


def test_entropy_takes_the_limit_of_least_divergence_and_leaves_out_what_lies_far_away() -> None:
    method = RangeMethod(name="entropy", bins=256)
    values = with_outlier()
    counts = numpy.histogram(numpy.abs(values), 256, range=(0, 60))[0].astype(float)
    counts[0] = counts[1]
    divergences = [plain_divergence(counts.tolist(), limit) for limit in range(LEVELS, 257)]
    best = max(index for index, each in enumerate(divergences) if each == min(divergences))
    assert ranged(values, method).high == pytest.approx((LEVELS + best) * 60 / 256, rel=0.02)
    found = ranged(with_outlier(), RangeMethod(name="entropy"))
    assert found.low >= -float(numpy.abs(bell()).max())
    assert 3 < found.high < 6
    values = numpy.maximum(bell(), 0)
    more = numpy.concatenate([values, numpy.zeros(10 * values.size, numpy.float32)])
    assert ranged(more, RangeMethod(name="entropy")) == ranged(values, RangeMethod(name="entropy"))


def square_error(values: Values, low: float, high: float) -> float:
    """Of values in 255 steps from low to high."""
    step = (high - low) / 255
    zero = round(low / step)
    numbers = numpy.clip(numpy.rint(values / step), zero, zero + 255)
    return float(numpy.square(numbers * step - values).sum())


@pytest.mark.parametrize(
    "values",
    [bell(), with_outlier(), numpy.maximum(with_outlier(), 0), numpy.random.default_rng(1).laplace(size=50_000)],
    ids=["bell", "outlier", "relu", "laplace"],
)
def test_mse_finds_a_limit_about_as_good_as_the_best(values: Values) -> None:
    values = values.astype(numpy.float32)
    low, high = float(values.min()), float(values.max())
    limits = numpy.linspace(0.01, 1, 100) * max(-low, high)
    least = min(square_error(values, max(low, -limit), min(high, limit)) for limit in limits)
    found = ranged(values, RangeMethod(name="mse"))
    assert square_error(values, found.low, found.high) < 1.01 * least


def test_symmetric_mse_uses_both_signs_alike() -> None:
    values = numpy.maximum(bell(20_000), 0)
    limits = numpy.linspace(0.01, 1, 100) * float(values.max())
    steps = limits / 127
    errors = [numpy.square(numpy.clip(numpy.rint(values / s), -127, 127) * s - values).sum() for s in steps]
    ours = square_errors(values.astype(float), numpy.ones(values.size), Range(low=0, high=9), limits, is_symmetric=True)
    numpy.testing.assert_allclose(ours, errors, rtol=1e-3)


@pytest.mark.parametrize("percent", [90.0, 99.0, 99.9, 99.999])
def test_percentile_keeps_that_part_of_the_values(percent: float) -> None:
    values = bell(300_000)
    found = ranged(values, RangeMethod(name="percentile", percentile=percent))
    cut = (100 - percent) / 200
    bin_width = 2 * float(numpy.abs(values).max()) / 2048
    for limit, part in ((found.low, cut), (found.high, 1 - cut)):
        assert (values < limit - bin_width / 2).mean() < part <= (values < limit + 1.5 * bin_width).mean()


def test_percentiles_of_magnitudes_and_averages_follow_the_samples() -> None:
    values = numpy.concatenate([bell(), 3 * numpy.abs(bell(seed=1))])
    found = ranged(values, RangeMethod(name="percentile", percentile=99.0, is_symmetric=True))
    assert found.high == pytest.approx(numpy.percentile(numpy.abs(values), 99), rel=0.01)
    assert found.low == pytest.approx(max(-found.high, float(values.min())))
    extremes = numpy.array([[-1, 1], [-2, 4], [0, 0]], numpy.float32)
    found = moving_average(extremes, RangeMethod(name="moving-average", smoothing=0.5))
    assert (found.low, found.high) == (-0.75, 1.25)
    assert moving_average(extremes[::-1], RangeMethod(name="moving-average", smoothing=0.5)).high == 1.5
    nothing = [float("inf"), float("-inf")]
    extremes = numpy.array([[nothing, nothing], [[-1, 1], nothing], [nothing, nothing], [[-2, 3], nothing]])
    statistics = Statistics(("some", "none"), extremes.astype(numpy.float32), {})
    for method, high in ((RangeMethod(), 3), (RangeMethod(name="moving-average", smoothing=0.5), 2)):
        ranges = ranges_of(statistics, {"a": "some", "b": "none", "c": "some"}, method)
        assert list(ranges) == ["a", "c"]
        assert ranges["a"].high == high


@pytest.mark.parametrize("name", METHODS)
def test_no_range_is_wider_than_what_was_seen(name: str) -> None:
    for values in (numpy.maximum(with_outlier(), 0), -numpy.maximum(bell(), 0), bell() + 9, bell(10)):
        found = ranged(values, RangeMethod(name=name))
        assert float(values.min()) <= found.low <= found.high <= float(values.max())


@pytest.mark.parametrize("name", METHODS)
def test_a_value_that_is_never_negative_keeps_zero(name: str) -> None:
    found = ranged(numpy.maximum(with_outlier(), 0), RangeMethod(name=name))
    assert found.low == 0
    assert found.high > 3


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("value", [0.0, 3.0, -2e-5])
def test_a_constant_has_a_range_of_one_value(name: str, value: float) -> None:
    found = ranged(numpy.full(10, value, numpy.float32), RangeMethod(name=name))
    assert found.low == found.high == numpy.float32(value)


@pytest.mark.parametrize("name", METHODS)
def test_two_values_are_enough(name: str) -> None:
    found = ranged(numpy.array([-1, 2], numpy.float32), RangeMethod(name=name))
    assert -1 <= found.low < found.high <= 2


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("moving-average", {"smoothing": 0.5}),
        ("percentile", {"percentile": 99.0}),
        ("percentile", {"bins": 512}),
        ("percentile", {"is_symmetric": True}),
        ("entropy", {"bins": 512}),
        ("mse", {"bins": 512}),
        ("mse", {"is_symmetric": True}),
    ],
)
def test_what_a_result_depends_on_is_in_its_settings(name: str, change: dict[str, Any]) -> None:
    assert RangeMethod(name=name, **change).settings != RangeMethod(name=name).settings
    assert RangeMethod(name="minmax", **change).settings == RangeMethod().settings


def test_methods_have_a_function_and_say_what_is_wrong_with_them() -> None:
    assert set(METHODS) - set(BY_HISTOGRAM) == {"minmax", "moving-average"}
    with pytest.raises(ConfigError, match="no calibration method 'entropie'") as caught:
        RangeMethod(name="entropie")
    assert caught.value.hint == "did you mean 'entropy'?"
    for wrong in ({"percentile": 101.0}, {"percentile": math.nan}, {"smoothing": -0.1}, {"bins": 128}, {"bins": 301}):
        with pytest.raises(ConfigError):
            RangeMethod(**wrong)
