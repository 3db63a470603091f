"""The parts that pages share: bars, layers and the formats of numbers."""

import math

from packager.render.pages.bars import Canvas
from packager.render.pages.layers import Layer, layers_view
from packager.render.pages.numbers import decibels, milliseconds, times

CANVAS = Canvas(width=100, height=50, slots=4, gap=0.2, least=2.0)


def layer(name: str, output_db: float) -> Layer:
    return Layer(name=name, operator="Conv", form="integers", output_db=output_db, weight_db=None)


def test_bars_are_seen_and_layers_without_a_number_are_the_noisiest() -> None:
    half = CANVAS.bar(1, 0.5, tone="good", title="")
    assert (half.x, half.y, half.width, half.height) == ("27.50", "25.00", "20.00", "25.00")
    none = CANVAS.bar(0, 0.0, tone="good", title="")
    assert (none.y, none.height) == ("48.00", "2.00")
    found = layers_view([layer("a", 12.0), layer("b", math.nan), layer("c", math.inf)], samples=1)
    assert found.summary == ("3 layers on 1 sample, 2 of them under 20 dB; the noisiest is b (Conv) with not a number.")
    assert [(bar.height, bar.tone) for bar in found.plot.bars] == [
        ("60.00", "fair"),
        ("1.00", "poor"),
        ("200.00", "exact"),
    ]
    assert [row.output for row in found.rows] == ["12.0 dB", "not a number", "exact"]
    assert milliseconds(3.8765) == "3.88 ms"
    assert times(99.5, (98.25, 101.4)) == "99.5 ms (98.2 to 101)"


def test_decibels_are_a_number_or_words() -> None:
    for value, text in [
        (None, ""),
        (23.42, "23.4 dB"),
        (math.inf, "exact"),
        (-math.inf, "nothing left"),
        (math.nan, "not a number"),
    ]:
        assert decibels(value) == text
