"""The first node where two sides part, and what shows it."""

from packager.verification.bisection.bisect import bisect, condemned
from packager.verification.bisection.figures import Limits
from packager.verification.bisection.result import Bisection, Kind, Side, ValueDifference

__all__ = ["Bisection", "Kind", "Limits", "Side", "ValueDifference", "bisect", "condemned"]
