"""Rounds a matrix so that its products with given inputs change little: what rounding one row changes, later rows make
up for.

The method is GPTQ (Frantar and others, https://arxiv.org/abs/2210.17323) with static groups: scales are found first,
and the rows with the largest inputs are rounded first. `moments` is the sum of x x^T over the inputs x of the matrix.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.graph.weights.rounding import LIMITS, Element, Parameters, range_parameters

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

DAMPING = 0.01
"""Share of the mean of the diagonal that is added to it, so that inputs that never differ can be told apart."""
SHRINKS = tuple(1 - step / 40 for step in range(13))
"""Shares of a block's range that are tried: cutting off the largest weight leaves smaller steps for the others."""
PANEL = 128
"""Rows that are rounded before the rows behind them are changed at once."""


@dataclass(frozen=True, eq=False)
class Compensation:
    """The order, weights and corrections with which the rows of a matrix are rounded, for inputs with given moments."""

    order: "NDArray[numpy.intp]"
    """rows in the order in which they are rounded"""
    factor: "NDArray[numpy.float32]"
    """(rows, rows): upper triangle U with U^T U the inverse of the moments, in `order`"""
    importance: "NDArray[numpy.float32]"
    """mean square of the input that each row is multiplied with, in the order of the matrix"""


def compensation(moments: "NDArray[Any]", *, damping: float = DAMPING) -> Compensation:
    """Raises numpy's LinAlgError for moments that are none."""
    import numpy

    diagonal = numpy.diagonal(moments).astype(numpy.float64)
    damped = damping * (float(diagonal.mean()) or 1.0)
    order = numpy.argsort(-diagonal, kind="stable")
    ordered = moments[order][:, order].astype(numpy.float64)
    ordered[numpy.diag_indices_from(ordered)] += damped
    # the inverse of a lower factor of the reversed matrix is the upper factor of the inverse
    lower = numpy.linalg.cholesky(ordered[::-1, ::-1])
    factor = numpy.linalg.inv(lower)[::-1, ::-1]
    return Compensation(order, numpy.triu(factor).astype(numpy.float32), (diagonal + damped).astype(numpy.float32))


def searched(
    numbers: "NDArray[numpy.float32]",
    importance: "NDArray[numpy.float32]",
    element: Element,
    *,
    is_symmetric: bool,
    name: str = "",
) -> Parameters:
    """Parameters (blocks, columns) for `numbers` (blocks, in a block, columns): of a few shares of each block's range,
    the one with the smallest square error, weighted with `importance` (blocks, in a block)."""
    import numpy

    low, high = numbers.min(1), numbers.max(1)
    best: Parameters | None = None
    least: NDArray[Any] | None = None
    for shrink in SHRINKS:
        tried = range_parameters(low * shrink, high * shrink, element, is_symmetric=is_symmetric, name=name)
        error = rounded(numbers, tried.scale[:, None], tried.zero_point[:, None], element)[1]
        error -= numbers
        loss = numpy.einsum("bic,bic,bi->bc", error, error, importance, optimize=False)
        if best is None or least is None:
            best, least = tried, loss
            continue
        is_better = loss < least
        numpy.copyto(least, loss, where=is_better)
        numpy.copyto(best.scale, tried.scale, where=is_better)
        numpy.copyto(best.zero_point, tried.zero_point, where=is_better)
    assert best is not None
    return best


def rounded(
    numbers: "NDArray[numpy.float32]", scale: "NDArray[numpy.float32]", zero: "NDArray[Any]", element: Element
) -> "tuple[NDArray[numpy.float32], NDArray[numpy.float32]]":
    """The integers of `numbers`, as floats, and the numbers that they mean."""
    import numpy

    least, most = LIMITS[element]
    middle = zero.astype(numpy.float32)
    integers = numbers / scale
    numpy.rint(integers, out=integers)
    integers += middle
    numpy.clip(integers, least, most, out=integers)
    meant = integers - middle
    meant *= scale
    return integers, meant


def compensated(
    numbers: "NDArray[numpy.float32]", found: Compensation, parameters: Parameters, block_size: int
) -> "NDArray[numpy.uint8]":
    """The integers of `numbers` (rows, columns), which are overwritten; `parameters` are (blocks, columns)."""
    import numpy

    rows = numbers[found.order]
    result = numpy.empty(numbers.shape, numpy.uint8)
    block = found.order // block_size
    for start in range(0, len(rows), PANEL):
        stop = min(start + PANEL, len(rows))
        errors = numpy.empty((stop - start, rows.shape[1]), numpy.float32)
        for row in range(start, stop):
            scale, zero = parameters.scale[block[row]], parameters.zero_point[block[row]]
            integers, meant = rounded(rows[row], scale, zero, parameters.element)
            result[found.order[row]] = integers
            error = (rows[row] - meant) / found.factor[row, row]
            errors[row - start] = error
            rows[row + 1 : stop] -= found.factor[row, row + 1 : stop, None] * error
        rows[stop:] -= found.factor[start:stop, stop:].T @ errors
    return result
