"""Metrics and their sums, compared with explicit formulas."""

import math

import numpy
import pytest
from numpy.typing import NDArray

from packager.core.errors import ConfigError, ModelError
from packager.graph.weights.streaming import CHUNK_ELEMENTS
from packager.graph.weights.sums import Sums, sums_of
from packager.quantization.measurement.metrics import Score, built_in, has_own_data

Array = NDArray[numpy.float32]


def pair(size: int = 100, noise: float = 0.1) -> tuple[Array, Array]:
    generator = numpy.random.default_rng(5)
    x = generator.standard_normal(size).astype(numpy.float32)
    return x, (x + noise * generator.standard_normal(size)).astype(numpy.float32)


def test_sqnr_is_that_of_its_formula() -> None:
    x, y = pair(CHUNK_ELEMENTS + 1000)
    a, b = x.astype(numpy.float64), y.astype(numpy.float64)
    expected = 10 * math.log10((a**2).sum() / ((a - b) ** 2).sum())
    assert sums_of(x, y).sqnr_db == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(20, abs=0.2)
    x, y = pair()
    parts = sums_of(x[:30], y[:30]) + sums_of(x[30:], y[30:])
    assert parts.sqnr_db == pytest.approx(sums_of(x, y).sqnr_db, rel=1e-12)
    x, _ = pair()
    assert sums_of(x, x).sqnr_db == math.inf
    assert sums_of(x, 2 * x).sqnr_db == pytest.approx(0)
    assert sums_of(0 * x, x).sqnr_db == -math.inf
    assert sums_of(x[:0], x[:0]) == Sums()
    x, y = pair()
    masked, other = x.copy(), y.copy()
    masked[3], other[3] = -numpy.inf, -1e9
    assert sums_of(masked, other).sqnr_db == pytest.approx(sums_of(numpy.delete(x, 3), numpy.delete(y, 3)).sqnr_db)
    other[4] = numpy.nan
    assert sums_of(masked, other).sqnr_db == -math.inf
    assert sums_of(masked, other).cosine == 0


def test_cosines_and_rows_give_every_sample_one_voice() -> None:
    x, y = pair()
    a, b = x.astype(float), y.astype(float)
    assert sums_of(x, y).cosine == pytest.approx(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b), rel=1e-12)
    assert sums_of(x, -3 * x).cosine == pytest.approx(-1)
    assert sums_of(0 * x, 0 * x).cosine == 1
    assert sums_of(0 * x, x).cosine == 0
    x, _ = pair()
    metric = built_in("cosine", ["x"], [x])
    pairs = [(1000 * x, 1000 * x), (x, -x), (x, x)]
    totals = sum((metric.of_sample([one], [other]) for one, other in pairs), Sums())
    assert metric.value(totals, 3) == pytest.approx(1 / 3)
    scalar = numpy.ones((3, 1), numpy.float32)
    x = numpy.array([[[1, 2], [5, 1]], [[0, 3], [1, 0]]], numpy.float32)
    y = x.copy()
    y[1, 0] = [4, 3]
    metric = built_in("top1", ["scalar", "x"], [scalar, x])
    totals = metric.of_sample([scalar, x], [scalar, y]) + metric.of_sample([scalar, x], [scalar, x])
    assert metric.value(totals, 2) == 7 / 8
    with pytest.raises(ConfigError, match="several numbers in its last dimension"):
        built_in("top1", ["scalar", "other"], [scalar, numpy.array(3, numpy.float32)])
    rows = numpy.array([[1, 2], [numpy.nan, 1], [5, -numpy.inf]], numpy.float32)
    same, other = rows.copy(), rows.copy()
    other[0] = [2, 1]
    other[2] = [5, numpy.nan]
    metric = built_in("top1", ["x"], [rows])
    totals = metric.of_sample([rows], [same]) + metric.of_sample([rows], [other])
    assert metric.value(totals, 2) == 2 / 4
    nothing = numpy.full((1, 2), numpy.nan, numpy.float32)
    cosine = built_in("cosine", ["x"], [rows])
    totals = cosine.of_sample([rows[:1]], [-rows[:1]]) + cosine.of_sample([nothing], [nothing])
    assert cosine.value(totals, 2) == pytest.approx(-1)


def test_scores_keep_to_budgets_and_metrics_are_known() -> None:
    assert Score(metric="top1", value=0.98, original=1.0).drop == pytest.approx(0.02)
    assert Score(metric="a:b", value=3.5, original=3.0).drop == -0.5
    assert Score(metric="sqnr", value=30.0, original=math.inf).drop == pytest.approx(0.001)
    assert Score(metric="sqnr", value=math.inf, original=math.inf).drop == 0
    assert Score(metric="sqnr", value=-math.inf, original=math.inf).drop == math.inf
    assert Score(metric="sqnr", value=30.1, original=math.inf).is_within(0.001)
    assert not Score(metric="sqnr", value=29.9, original=math.inf).is_within(0.001)
    assert Score(metric="cosine", value=0.99, original=1.0).is_within(1 - 0.99)
    assert not Score(metric="a:b", value=-math.inf, original=1.0).is_within(1e9)
    assert not has_own_data("cosine")
    assert has_own_data("my.module:score")
    with pytest.raises(ConfigError, match="no metric 'cosin'") as caught:
        has_own_data("cosin")
    assert "did you mean 'cosine'?" in caught.value.hint
    x, y = pair()
    ids = numpy.arange(100)
    metric = built_in("sqnr", ["ids", "x"], [ids, x])
    assert metric.of_sample([ids, x], [ids + 1, y]) == sums_of(x, y)
    with pytest.raises(ConfigError, match="no float output") as refused:
        built_in("cosine", ["ids"], [ids])
    assert "--no-report" in refused.value.hint


@pytest.mark.parametrize("metric", ["sqnr", "cosine", "top1"])
def test_outputs_of_another_shape_cannot_be_compared(metric: str) -> None:
    x = numpy.ones((4, 2), numpy.float32)
    ids = numpy.ones(5, numpy.int64)
    with pytest.raises(ModelError, match=r"output 'rows' has shape \[3, 2\], and \[4, 2\] in the float model"):
        built_in(metric, ["ids", "rows"], [ids, x]).of_sample([ids, x], [ids, x[:3]])
