"""Texts as models take them, several of them, and the order of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from .errors import ModelError, ModelErrorCode

BETWEEN = -2
"""stands between the code points of two texts"""
NOTHING = -1
"""replaces the code points of an empty text"""
AT_ONCE = 8
"""documents of one run"""


@dataclass(frozen=True)
class Ranked:
    """A document by its place in a list, and how well it fits."""

    index: int
    score: float


def text_tensor(text: str) -> NDArray[numpy.int32]:
    """The code points of a text."""
    return texts_tensor([text])


def texts_tensor(texts: Sequence[str]) -> NDArray[numpy.int32]:
    """The code points of several texts."""
    found: list[int] = []
    for number, text in enumerate(texts):
        found += [BETWEEN] if number else []
        found += [ord(character) for character in text] or [NOTHING]
    return numpy.array(found, numpy.int32)


def row_count(*lists: Sequence[str]) -> int:
    """The number of results for texts, or for pairs of texts. A list of one text goes with each text of the other list.
    Raises ModelError `BAD_INPUT` for lists of other lengths, and for a text in place of a list."""
    for each in lists:
        if isinstance(each, str):
            raise ModelError(ModelErrorCode.BAD_INPUT, f"{each!r} is one text: pass a list")
    sizes = [len(each) for each in lists]
    most = max(sizes)
    if 0 in sizes and most <= 1:
        return 0
    if all(size in (most, 1) for size in sizes):
        return most
    raise ModelError(
        ModelErrorCode.BAD_INPUT, f"{' and '.join(map(str, sizes))} texts are no pairs: pass as many of each, or one"
    )


def ranked(documents: Sequence[str], scored: Callable[[Sequence[str]], Sequence[float]]) -> list[Ranked]:
    """The places of documents by their scores, best first, of equal ones the first; eight in a run."""
    scores = [
        score for first in range(0, len(documents), AT_ONCE) for score in scored(documents[first : first + AT_ONCE])
    ]
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return [Ranked(index, scores[index]) for index in order]
