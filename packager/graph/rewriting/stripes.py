"""Quantizes a matrix in blocks, a stripe of columns at a time, and yields it column by column.

Weights are mostly stored row by row, but MatMulNBits needs them column by column: memory holds one stripe of columns in
integers, and a chunk of it in float. The range of a block is found right before it is rounded, so each is read once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from packager.graph.weights.compensation import Compensation, compensated, searched
from packager.graph.weights.keeping import Scaling, kept
from packager.graph.weights.reading import Weight
from packager.graph.weights.rounding import Element, Parameters, range_parameters, round_in_place
from packager.graph.weights.streaming import CHUNK_ELEMENTS, THREADS, Scratch, in_order

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

STRIPE_BYTES = 64 << 20
"""Maximum size of a stripe's integers."""


@dataclass(frozen=True)
class Stripe:
    columns: slice
    integers: "NDArray[numpy.uint8]"
    """(columns, blocks, bytes of a block)"""
    scales: "NDArray[numpy.float32]"
    """(columns, blocks)"""
    zeros: "NDArray[numpy.uint8]"
    """(columns, blocks)"""


@dataclass(frozen=True, kw_only=True)
class Stripes:
    """The columns of `weight` in order; blocks run along its rows, and a short one at the end is padded with zeros."""

    weight: Weight
    bits: Literal[4, 8]
    block_size: int
    is_transposed: bool
    """whether the weight is already stored column by column"""
    is_symmetric: bool = True
    """whether zero is in the middle of the integers; if not, each block has a zero point of its own"""
    earlier: Scaling | None = None
    """scales (columns, blocks) to keep where they fit"""
    compensation: Compensation | None = None
    """what the inputs say about the rows; None to round each number to the nearest"""
    threads: int = THREADS
    chunk: int = CHUNK_ELEMENTS
    """numbers read at a time, at least those of one block of every column"""
    stripe_bytes: int = STRIPE_BYTES

    @property
    def rows(self) -> int:
        return self.weight.shape[1 if self.is_transposed else 0]

    @property
    def columns(self) -> int:
        return self.weight.shape[0 if self.is_transposed else 1]

    @property
    def blocks(self) -> int:
        """Number of blocks in a column."""
        return -(-self.rows // self.block_size)

    @property
    def element(self) -> Element:
        return "uint4" if self.bits == 4 else "uint8"

    def parameters(self, scales: "NDArray[numpy.float32]", zeros: "NDArray[numpy.uint8]") -> Parameters:
        """The parameters with these scales and zero points."""
        return Parameters(scales, zeros, self.element, is_symmetric=self.is_symmetric)

    def _earlier(self, columns: slice, blocks: slice) -> Scaling | None:
        """Earlier scales of a part, (columns, blocks); None without any of this shape."""
        if self.earlier is None or self.earlier.scale.shape != (self.columns, self.blocks):
            return None
        zero = self.earlier.zero_point
        return Scaling(self.earlier.scale[columns, blocks], None if zero is None else zero[columns, blocks])

    def __iter__(self) -> Iterator[Stripe]:
        """Raises ModelError for a weight with NaN or an infinity."""
        if self.is_transposed or self.compensation:
            yield from in_order(self._lying, self._cut_columns(), self.threads)
        else:
            yield from self._standing()

    def _cut_columns(self) -> Iterator[slice]:
        if self.is_transposed or self.compensation:
            width = self.chunk // max(1, self.rows)
        else:
            width = self.stripe_bytes // max(1, self.blocks * self.block_size * self.bits // 8)
        for start in range(0, self.columns, max(1, width)):
            yield slice(start, min(start + max(1, width), self.columns))

    def _lying(self, columns: slice) -> Stripe:
        """A stripe with all rows of some columns."""
        import numpy

        count = columns.stop - columns.start
        numbers = numpy.zeros((count, self.blocks * self.block_size), numpy.float32)
        if self.is_transposed and self.rows == numbers.shape[1]:
            self.weight.read(columns.start * self.rows, numbers.reshape(-1))
        elif self.is_transposed:
            read = numpy.empty(count * self.rows, numpy.float32)
            self.weight.read(columns.start * self.rows, read)
            numbers[:, : self.rows] = read.reshape(count, self.rows)
        else:
            row = numpy.empty(count, numpy.float32)
            for number in range(self.rows):
                self.weight.read(number * self.columns + columns.start, row)
                numbers[:, number] = row
        earlier = self._earlier(columns, slice(0, self.blocks))
        if self.compensation:
            integers, found = self._compensated(numbers, self.compensation, earlier)
        else:
            cube = numbers.reshape(count, self.blocks, self.block_size)
            integers, found = self._rounded(cube, 2, earlier)
        if self.bits == 4:
            integers = integers[..., 0::2] | integers[..., 1::2] << 4
        return Stripe(columns, numpy.ascontiguousarray(integers), found.scale, found.zero_point)

    def _compensated(
        self, numbers: "NDArray[numpy.float32]", compensation: Compensation, earlier: Scaling | None
    ) -> tuple["NDArray[Any]", Parameters]:
        """Integers (columns, blocks, in a block) and parameters (columns, blocks) for `numbers` (columns, rows)."""
        import numpy

        size, element = self.block_size, self.element
        standing = numpy.ascontiguousarray(numbers.T)
        importance = numpy.zeros(len(standing), numpy.float32)
        importance[: self.rows] = compensation.importance
        own = searched(
            standing.reshape(self.blocks, size, -1),
            importance.reshape(self.blocks, size),
            element,
            is_symmetric=self.is_symmetric,
            name=self.weight.name,
        )
        turned = Parameters(own.scale.T, own.zero_point.T, element, is_symmetric=self.is_symmetric)
        found = kept(turned, earlier)
        used = Parameters(found.scale.T, found.zero_point.T, element, is_symmetric=self.is_symmetric)
        integers = numpy.repeat(used.zero_point, size, 0)  # zeros behind the last row
        integers[: self.rows] = compensated(standing[: self.rows], compensation, used, size)
        return integers.T.reshape(numbers.shape[0], self.blocks, size), found

    def _standing(self) -> Iterator[Stripe]:
        """The stripes of a weight that is stored row by row."""
        import numpy

        scratch = Scratch()
        for columns in self._cut_columns():
            count = columns.stop - columns.start
            integers = numpy.empty((count, self.blocks, self.block_size * self.bits // 8), numpy.uint8)
            scales = numpy.empty((count, self.blocks), numpy.float32)
            zeros = numpy.empty((count, self.blocks), numpy.uint8)

            def convert(blocks: slice, columns: slice = columns) -> tuple[slice, "NDArray[Any]", Parameters]:
                return blocks, *self._part(blocks, columns, scratch)

            for blocks, part, found in in_order(convert, self._cut_blocks(count), self.threads):
                integers[:, blocks] = part.transpose(2, 0, 1)
                scales[:, blocks], zeros[:, blocks] = found.scale.T, found.zero_point.T
            yield Stripe(columns, integers, scales, zeros)

    def _cut_blocks(self, count: int) -> Iterator[slice]:
        step = max(1, self.chunk // (self.block_size * count))
        for start in range(0, self.blocks, step):
            yield slice(start, min(start + step, self.blocks))

    def _part(self, blocks: slice, columns: slice, scratch: Scratch) -> "tuple[NDArray[Any], Parameters]":
        """Integers (blocks, bytes of a block, columns) and parameters (blocks, columns)."""
        count, width = blocks.stop - blocks.start, columns.stop - columns.start
        numbers = scratch.floats(count * self.block_size * width).reshape(-1, width)
        first = blocks.start * self.block_size
        rows = min(len(numbers), self.rows - first)
        if width == self.columns:
            self.weight.read(first * width, numbers[:rows].reshape(-1))
        else:
            for row in range(rows):
                self.weight.read((first + row) * self.columns + columns.start, numbers[row])
        numbers[rows:] = 0
        earlier = self._earlier(columns, slice(blocks.start, blocks.start + count))
        cube = numbers.reshape(count, self.block_size, width)
        zero = None if earlier is None or earlier.zero_point is None else earlier.zero_point.T
        integers, found = self._rounded(cube, 1, None if earlier is None else Scaling(earlier.scale.T, zero))
        if self.bits == 4:
            integers = integers[:, 0::2] | integers[:, 1::2] << 4
        return integers, found

    def _rounded(
        self, cube: "NDArray[numpy.float32]", axis: int, earlier: Scaling | None
    ) -> "tuple[NDArray[Any], Parameters]":
        """Integers of the blocks along `axis` of `cube`, which is overwritten, and their parameters."""
        import numpy

        element, is_symmetric = self.element, self.is_symmetric
        own = range_parameters(
            cube.min(axis), cube.max(axis), element, is_symmetric=is_symmetric, name=self.weight.name
        )
        found = kept(own, earlier)
        scale, zero = (numpy.expand_dims(each, axis) for each in (found.scale, found.zero_point))
        return round_in_place(cube, scale, zero, element), found
