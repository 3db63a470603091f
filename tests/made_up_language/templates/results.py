"""Results of models in an app's terms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray


@dataclass(frozen=True)
class Classification:
    """A class with its score."""

    label: str
    index: int
    score: float


def classifications_of(
    scores: NDArray[numpy.float32], labels: Sequence[str], top: int, threshold: float
) -> list[Classification]:
    """The classes that fit, best first; ties go to the lower index."""
    order = numpy.argsort(-scores, kind="stable")[:top]
    return [
        Classification(labels[index] if labels else "", int(index), float(scores[index]))
        for index in order
        if scores[index] >= threshold
    ]
