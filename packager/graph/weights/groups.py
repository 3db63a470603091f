"""Groups of a tensor's numbers that share a scale, and chunks of it that are contiguous in its bytes.

Every tensor is viewed with three dimensions: those before the axis in question, the axis, and those after it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Array = TypeVar("Array", bound="NDArray[Any]")


@dataclass(frozen=True)
class WeightBox:
    """A part of a tensor whose numbers are contiguous."""

    start: int
    """index of the first number in the flattened tensor"""
    before: slice
    along: slice
    behind: slice

    @property
    def shape(self) -> tuple[int, int, int]:
        before, along, behind = (part.stop - part.start for part in (self.before, self.along, self.behind))
        return before, along, behind

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Groups:
    """A partition of a tensor into groups that share a scale."""

    shape: tuple[int, int, int]
    """shape of the tensor, as three dimensions"""
    parameter_shape: tuple[int, ...]
    """shape of its scales in ONNX"""
    block_size: int = 0
    """numbers along the axis that form a group; 0 if a group is everything at one index of the axis"""

    @property
    def scales(self) -> tuple[int, int, int]:
        """The shape of the scales, as three dimensions."""
        before, along, behind = self.shape
        return (before, -(-along // self.block_size), behind) if self.block_size else (1, along, 1)

    def boxes(self, numbers: int) -> Iterator[WeightBox]:
        """The tensor from its start to its end, in boxes of at most `numbers`. No box has a partial block
        beside another block."""
        before, along, behind = self.shape
        if 0 in self.shape:
            return
        if along * behind <= numbers:
            for first in _cut(0, before, numbers // (along * behind)):
                yield self._box(first, slice(0, along), slice(0, behind))
            return
        for index in range(before):
            for rows in self._rows(numbers // behind):
                for part in _cut(0, behind, numbers) if behind > numbers else (slice(0, behind),):
                    yield self._box(slice(index, index + 1), rows, part)

    def _rows(self, limit: int) -> Iterator[slice]:
        """The axis in slices of at most `limit`, or one at a time."""
        _, along, _ = self.shape
        block = max(1, self.block_size)
        if limit >= block:
            yield from _cut(0, along, limit // block * block)
            return
        for start in range(0, along, block):
            yield from _cut(start, min(start + block, along), max(1, limit))

    def _box(self, before: slice, along: slice, behind: slice) -> WeightBox:
        _, rows, columns = self.shape
        return WeightBox((before.start * rows + along.start) * columns + behind.start, before, along, behind)

    def place(self, box: WeightBox) -> tuple[slice, slice, slice]:
        """The indices of the scales of `box`."""
        if not self.block_size:
            return slice(0, 1), box.along, slice(0, 1)
        first = box.along.start // self.block_size
        return box.before, slice(first, -(-box.along.stop // self.block_size)), box.behind

    def extremes(self, box: WeightBox, numbers: "NDArray[numpy.float32]") -> tuple["NDArray[Any]", "NDArray[Any]"]:
        """Minimum and maximum of the `numbers` of `box`, for each of its scales. NaN propagates."""
        import numpy

        if not self.block_size:
            joined = numbers.reshape(box.shape)
            return joined.min((0, 2), keepdims=True), joined.max((0, 2), keepdims=True)
        starts = range(0, box.shape[1], self.block_size)
        cube = numbers.reshape(box.shape)
        if box.shape[2] == 1:
            return numpy.minimum.reduceat(cube, starts, 1), numpy.maximum.reduceat(cube, starts, 1)
        parts = [part for part, _ in self.blocks(box, numbers)]  # here 20 times as fast as reduceat
        least, most = ([getattr(part, name)(2) for part in parts] for name in ("min", "max"))
        return numpy.concatenate(least, 1), numpy.concatenate(most, 1)

    def blocks(
        self, box: WeightBox, numbers: "NDArray[numpy.float32]"
    ) -> "Iterator[tuple[NDArray[numpy.float32], slice]]":
        """The `numbers` of `box` as (before, blocks, in a block, after), with the slice of these blocks among those of
        the box: all whole ones, then the short one at the end."""
        cube, (before, along, behind) = numbers.reshape(box.shape), box.shape
        whole = along // self.block_size
        if whole:
            joined = cube[:, : whole * self.block_size]
            yield joined.reshape(before, whole, self.block_size, behind), slice(0, whole)
        if along % self.block_size:
            yield cube[:, None, whole * self.block_size :], slice(whole, whole + 1)


def per_tensor(shape: tuple[int, ...]) -> Groups:
    """One scale for the tensor."""
    return Groups((1, 1, math.prod(shape)), ())


def per_channel(shape: tuple[int, ...], axis: int) -> Groups:
    """One scale for every index of `axis`, which counts from the end if it is negative."""
    return Groups(_around(shape, axis), (shape[axis],))


def per_block(shape: tuple[int, ...], axis: int, block_size: int) -> Groups:
    """One scale for every `block_size` numbers along `axis`; the last block may be shorter."""
    counts = list(shape)
    counts[axis] = -(-shape[axis] // block_size)
    return Groups(_around(shape, axis), tuple(counts), block_size)


def _around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    axis = range(len(shape))[axis]
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def _cut(start: int, stop: int, step: int) -> Iterator[slice]:
    for first in range(start, stop, step):
        yield slice(first, min(first + step, stop))
