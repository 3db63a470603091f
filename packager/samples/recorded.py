"""Inputs and outputs of a model for every sample, as files of a folder: `<sample>-<what>-<index>.npy`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

INPUTS, OUTPUTS = "in", "out"
SMALL_BYTES = 1 << 16
"""arrays below this size are read instead of mapped, which is cheaper; empty ones cannot be mapped"""


def record(folder: Path, sample: int, what: str, arrays: "Sequence[NDArray[Any]]") -> None:
    """Writes the arrays of sample number `sample`; `what` is INPUTS or OUTPUTS."""
    import numpy

    for index, array in enumerate(arrays):
        plain = numpy.asarray(array)
        numpy.save(_path(folder, sample, what, index), plain.astype(str) if plain.dtype.kind == "O" else plain)


def is_recorded(folder: Path, sample: int, what: str, count: int) -> bool:
    """Whether all `count` arrays exist."""
    return all(_path(folder, sample, what, index).is_file() for index in range(count))


def recorded(folder: Path, sample: int, what: str, count: int) -> "list[NDArray[Any]]":
    """The `count` arrays written by `record`; large ones are memory-mapped."""
    return [_load(_path(folder, sample, what, index)) for index in range(count)]


def _path(folder: Path, sample: int, what: str, index: int) -> Path:
    return folder / f"{sample}-{what}-{index}.npy"


def _load(path: Path) -> "NDArray[Any]":
    import numpy

    array: NDArray[Any] = numpy.load(path, mmap_mode="r" if path.stat().st_size > SMALL_BYTES else None)
    return array
