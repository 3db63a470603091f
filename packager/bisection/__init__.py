"""The first node where two sides part, and what shows it."""

from packager.bisection.bisect import bisect, condemned
from packager.bisection.figures import Limits
from packager.bisection.result import Bisection, Kind, Side, ValueDifference

__all__ = ["Bisection", "Kind", "Limits", "Side", "ValueDifference", "bisect", "condemned"]
