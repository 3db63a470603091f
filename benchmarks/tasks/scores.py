"""Scores that tasks share; each takes numbers and gives one."""

from collections.abc import Sequence

import numpy

from benchmarks.tasks.task import Array


def agreement(found: Sequence[int] | Array, expected: Sequence[int] | Array) -> float:
    """The share of places where two lists of classes are the same."""
    if len(found) != len(expected):
        raise ValueError(f"{len(found)} answers for {len(expected)} questions")
    return float(numpy.mean(numpy.asarray(found) == numpy.asarray(expected)))


def spearman(one: Sequence[float] | Array, two: Sequence[float] | Array) -> float:
    """Spearman's correlation: that of the ranks, where equal values share the mean of theirs."""
    return float(numpy.corrcoef(ranks(numpy.asarray(one)), ranks(numpy.asarray(two)))[0, 1])


def ranks(values: Array) -> Array:
    """1 for the smallest value; equal ones get the mean of the places that they take."""
    _, places, counts = numpy.unique(values, return_inverse=True, return_counts=True)
    ends = numpy.cumsum(counts)
    return numpy.asarray((ends - (counts - 1) / 2)[places])


def area_under_curve(values: Array, is_positive: Array) -> float:
    """How often a positive has a higher value than a negative (ROC AUC, from the ranks of the positives)."""
    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    rank_sum = ranks(values)[is_positive].sum()
    return float((rank_sum - positives * (positives + 1) / 2) / (positives * negatives))


def signal_to_distortion_db(found: Array, clean: Array) -> float:
    """Scale-invariant signal-to-distortion ratio in dB (arXiv:1811.02508)."""
    target = (found @ clean) / (clean @ clean) * clean
    return float(10 * numpy.log10((target @ target) / ((found - target) @ (found - target))))
