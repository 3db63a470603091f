"""Scores that tasks share; each takes numbers and gives one."""

import re
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


def words(text: str) -> list[str]:
    """The words that a word error rate compares: in lower case, without punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower())


def word_errors(found: str, expected: str) -> int:
    """The fewest words to put in, leave out or replace that make `expected` of `found` (Levenshtein's distance)."""
    wanted = words(expected)
    row = list(range(len(wanted) + 1))
    for count, word in enumerate(words(found), 1):
        above, row = row, [count]
        for place, other in enumerate(wanted):
            row.append(min(above[place] + (word != other), above[place + 1] + 1, row[place] + 1))
    return row[-1]


def word_error_rate(found: Sequence[str], expected: Sequence[str]) -> float:
    """Errors in all texts together for each word that was said: 0 is perfect, and more than 1 is possible."""
    errors = sum(word_errors(one, other) for one, other in zip(found, expected, strict=True))
    return errors / sum(len(words(each)) for each in expected)
