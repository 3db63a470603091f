"""Reads the outputs that a session has written, one file for each."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.engines.runners import Outcome
from packager.graph.weights.streaming import chunks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAPPED_FROM_BYTES = 1 << 20
"""Smaller files are read: mapping costs more, and an empty array cannot be mapped."""


def array_of(outcome: Outcome, index: int) -> "NDArray[Any]":
    """Output number `index`; large ones are mapped from the disk."""
    assert outcome.outputs is not None
    return read_array(outcome.outputs / f"{index}.npy")


def read_array(path: Path) -> "NDArray[Any]":
    import numpy

    is_large = path.stat().st_size >= MAPPED_FROM_BYTES
    array: NDArray[Any] = numpy.load(path, mmap_mode="r" if is_large else None)
    return array


def numbers_in(array: "NDArray[Any]") -> tuple[int, int]:
    """How many of its values are finite, and how many are NaN; all are finite that are no floats."""
    import numpy

    if array.dtype.kind != "f":
        return array.size, 0
    finite = sum(int(numpy.count_nonzero(numpy.isfinite(chunk))) for chunk in chunks_of(array))
    if finite == array.size:
        return finite, 0
    return finite, sum(int(numpy.count_nonzero(numpy.isnan(chunk))) for chunk in chunks_of(array))
