"""The first node where two sides part, and what shows it."""

from packager.bisection.bisect import bisect
from packager.bisection.result import Bisection, Kind, Side, ValueDifference

__all__ = ["Bisection", "Kind", "Side", "ValueDifference", "bisect"]
