"""Bisection: the first node where two sides part, with files that reproduce it."""

from packager.verification.bisection.bisect import bisect, condemned
from packager.verification.bisection.figures import Limits
from packager.verification.bisection.result import Bisection, Kind, Side, ValueDifference

__all__ = ["Bisection", "Kind", "Limits", "Side", "ValueDifference", "bisect", "condemned"]
