"""Chooses matrices that take 8 bits instead of 4: those that lose the most in 4, as many as a file has room for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.graph.rewriting.draft import Draft
from packager.graph.weights.compensation import rounded
from packager.graph.weights.rounding import range_parameters

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

COLUMNS = 4096
"""Columns of a matrix that are rounded at a time: what that takes is 16 times a column of blocks."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A matrix that may take 4 or 8 bits."""

    name: str
    """of the constant"""
    is_transposed: bool
    """whether its columns are the rows of the constant"""
    is_symmetric: bool
    """whether zero is in the middle of its 4-bit integers"""
    moments: Path | None
    """a file with the sum of x x^T over the inputs x that samples give it; all count the same without one"""


def widened(draft: Draft, matrices: Sequence[Matrix], block_size: int, room: int) -> set[str]:
    """Names of the constants that take 8 bits, which is half a byte more for each number: `room` bytes in all.

    A matrix's loss is the square error of its products when each of its numbers is rounded by itself. Where a byte
    saves the most of it, it is spent first.
    """
    loss: dict[str, float] = {}
    for each in matrices:
        loss[each.name] = loss.get(each.name, 0.0) + _loss(draft, each, block_size)
    cost = {name: draft.weight(name).size // 2 for name in loss}
    chosen: set[str] = set()
    for name in sorted(loss, key=lambda name: -loss[name] / max(cost[name], 1)):
        if cost[name] <= room:
            room -= cost[name]
            chosen.add(name)
    return chosen


def _loss(draft: Draft, matrix: Matrix, block_size: int) -> float:
    import numpy

    numbers: NDArray[Any] = draft.weight(matrix.name).array()
    numbers = numbers.T if matrix.is_transposed else numbers
    rows, columns = numbers.shape
    blocks = -(-rows // block_size)
    importance = numpy.zeros(blocks * block_size, numpy.float32)
    importance[:rows] = numpy.diagonal(numpy.load(matrix.moments, mmap_mode="r")) if matrix.moments else 1.0
    total = 0.0
    for start in range(0, columns, COLUMNS):
        part = numbers[:, start : start + COLUMNS].astype(numpy.float32)
        padded = numpy.zeros((blocks * block_size, part.shape[1]), numpy.float32)
        padded[:rows] = part
        total += _square_error(padded.reshape(blocks, block_size, -1), importance, is_symmetric=matrix.is_symmetric)
    return total


def _square_error(
    numbers: "NDArray[numpy.float32]", importance: "NDArray[numpy.float32]", *, is_symmetric: bool
) -> float:
    """Square error of `numbers` (blocks, in a block, columns) in 4 bits, weighted with the importance of each row."""
    import numpy

    found = range_parameters(numbers.min(1), numbers.max(1), "uint4", is_symmetric=is_symmetric)
    error = rounded(numbers, found.scale[:, None], found.zero_point[:, None], found.element)[1]
    error -= numbers
    error *= error
    weighted = error.sum(2, dtype=numpy.float64).reshape(-1)
    return float(weighted @ importance)
