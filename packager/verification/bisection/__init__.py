"""Bisection: the first node where two sides part, with files that reproduce it."""

from packager.verification.bisection.bisect import bisect, condemned
from packager.verification.bisection.figures import ErrorLimits
from packager.verification.bisection.result import Bisection, BisectionKind, Side, ValueDifference

__all__ = ["Bisection", "BisectionKind", "ErrorLimits", "Side", "ValueDifference", "bisect", "condemned"]
