"""Formats numbers for people."""

import math
from collections.abc import Sequence


def decibels(value: float | None) -> str:
    """`23.4 dB`, or words if there is no such number; nothing for None."""
    if value is None:
        return ""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "exact" if value > 0 else "nothing left"
    return f"{value:.1f} dB"


def milliseconds(value: float) -> str:
    return f"{_digits(value)} ms"


def times(middle: float, quartiles: Sequence[float]) -> str:
    """`3.88 ms (3.82 to 3.95)`"""
    return f"{milliseconds(middle)} ({' to '.join(map(_digits, quartiles))})"


def _digits(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def percent(share: float) -> str:
    """`99.2%`; 100% and 0% only for exactly these values."""
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1:
        return "over 99.9%"
    return f"{share:.1%}".replace(".0%", "%")


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
