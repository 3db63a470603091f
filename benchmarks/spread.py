"""Spread of what quantization does to the similarity task: `python -m benchmarks.spread QUANTIZED.onnx...`.

For each quantized form of the model: the change of the score from float, and its standard error and 95 % range over
bootstrap samples of the word pairs. Budgets in docs/quantization.md follow from it. A minute on two cores.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from benchmarks.tasks import similarity
from benchmarks.tasks.scores import spearman
from benchmarks.tasks.similarity import Rated
from benchmarks.tasks.task import Array, predictor

SAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Spread of the change of a mean of correlations."""

    change: float
    error: float
    """standard deviation over the samples"""
    low: float
    high: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="QUANTIZED.onnx")
    original = similarity.rated(predictor(similarity.model()))
    for file in parser.parse_args().files:
        found = spread(original, similarity.rated(predictor(file)))
        print(f"{file.stem}: {found.change:+.4f}, {found.error:.4f}, {found.low:.4f} to {found.high:.4f}")


def spread(original: Sequence[Rated], quantized: Sequence[Rated], samples: int = SAMPLES) -> Spread:
    """Both models meet the same pairs in each sample."""
    numbers = numpy.random.default_rng(0)
    changes = [
        _change(original, quantized, [numbers.integers(0, len(each.ratings), len(each.ratings)) for each in original])
        for _ in range(samples)
    ]
    low, high = numpy.percentile(changes, [2.5, 97.5])
    whole = _change(original, quantized, [numpy.arange(len(each.ratings)) for each in original])
    return Spread(change=whole, error=float(numpy.std(changes)), low=float(low), high=float(high))


def _change(original: Sequence[Rated], quantized: Sequence[Rated], chosen: Sequence[Array]) -> float:
    each = [
        spearman(after.cosines[rows], before.ratings[rows]) - spearman(before.cosines[rows], before.ratings[rows])
        for before, after, rows in zip(original, quantized, chosen, strict=True)
    ]
    return float(numpy.mean(each))


if __name__ == "__main__":
    main()
