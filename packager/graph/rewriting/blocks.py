"""Quantizes matrices in blocks that share a scale, in the layouts of com.microsoft's operators
(docs/ContribOperators.md)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.stripes import Stripes
from packager.graph.weights.compensation import compensation
from packager.graph.weights.groups import per_block
from packager.graph.weights.quantizing import quantized, weight_parameters

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


TABLE_BLOCK: Literal[64] = 64
"""Numbers of a row of a table that share a scale of 4 bytes: 6 % more than one byte each."""


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """A matrix in blocks: names of constants, and its original dimensions."""

    name: str
    scales: str
    zeros: str
    """empty if zero is in the middle of all integers"""
    bits: int
    rows: int
    columns: int


@dataclass
class BlockQuantizer:
    draft: Draft
    bits: Literal[4, 8]
    block_size: int
    is_symmetric: bool = True
    """whether zero is in the middle of a matrix's 4-bit integers, as it always is with 8 bits and in tables"""
    wide: Collection[str] = ()
    """weights that take 8 bits"""
    tables: Collection[str] = ()
    """weights that are tables, too: matrix and table share the integers if rows are whole blocks"""
    made: dict[tuple[str, str], Blocks] = field(default_factory=dict)

    def matrix(self, name: str, *, is_transposed: bool, moments: Path | None = None) -> Blocks:
        """A matrix for MatMulNBits: (columns, blocks, bytes of a block), scales (columns, blocks); blocks run along the
        rows of the matrix, which is stored column by column.

        With `moments`, a file with those of its inputs, rows make up for what rounding changes.
        """
        import numpy
        from onnx import TensorProto

        key = ("transposed" if is_transposed else "matrix", name)
        if key in self.made:
            return self.made[key]
        weight, bits = self.draft.weight(name), self._bits_of(name)
        columns, rows = weight.shape if is_transposed else reversed(weight.shape)
        place = f"{'transposed matrix' if is_transposed else 'matrix'}:{name}"
        stripes = Stripes(
            weight=weight,
            bits=bits,
            block_size=self.block_size,
            is_symmetric=self.is_symmetric or bits == 8 or name in self.tables,
            is_transposed=is_transposed,
            earlier=self.draft.scales.earlier.get(place),
            compensation=compensation(numpy.load(moments)) if moments else None,
            threads=self.draft.threads,
        )
        scales = numpy.empty((columns, stripes.blocks), numpy.float32)
        zeros = numpy.empty((columns, stripes.blocks), numpy.uint8)
        shape = (columns, stripes.blocks, self.block_size * bits // 8)
        chunks = _noting_scales(stripes, scales, zeros)
        integers = self.draft.add_chunks(f"{name}_quantized", TensorProto.UINT8, shape, chunks)
        self.draft.scales.used[place] = stripes.parameters(scales, zeros)
        self.made[key] = Blocks(
            name=integers,
            scales=self.draft.add_large(f"{name}_scales", scales),
            zeros="" if stripes.is_symmetric else self.draft.add_large(f"{name}_zeros", _packed(zeros)),
            bits=bits,
            rows=rows,
            columns=columns,
        )
        return self.made[key]

    def shared(self, name: str) -> Blocks | None:
        """The matrix whose integers can be those of the table `name`, too."""
        found = self.made.get(("transposed", name))
        return found if found and not found.zeros and not found.rows % self.block_size else None

    def _bits_of(self, name: str) -> Literal[4, 8]:
        return 8 if name in self.wide else self.bits

    def table(self, name: str) -> Blocks:
        """A table for GatherBlockQuantized: laid out like the original, two 4-bit integers to a byte, blocks along a
        row."""
        from onnx import TensorProto

        key = ("table", name)
        if key in self.made:
            return self.made[key]
        weight, bits = self.draft.weight(name), self._bits_of(name)
        rows, columns = weight.shape
        groups = per_block(weight.shape, 1, self.block_size)
        element: Literal["uint4", "uint8"] = "uint4" if bits == 4 else "uint8"
        own = weight_parameters(weight, groups, element, is_symmetric=True, threads=self.draft.threads)
        parameters = self.draft.scales.settled(f"table:{name}", own)
        chunks = quantized(weight, groups, parameters, threads=self.draft.threads)
        shape = (rows, columns * bits // 8)
        self.made[key] = Blocks(
            name=self.draft.add_chunks(f"{name}_quantized", TensorProto.UINT8, shape, chunks),
            scales=self.draft.add_large(f"{name}_scales", parameters.scale),
            zeros="",
            bits=bits,
            rows=rows,
            columns=columns,
        )
        return self.made[key]


def _noting_scales(
    stripes: Stripes, scales: "NDArray[numpy.float32]", zeros: "NDArray[numpy.uint8]"
) -> "Iterator[memoryview]":
    """The integers of `stripes`; stores their scales and zero points."""
    for stripe in stripes:
        scales[stripe.columns], zeros[stripe.columns] = stripe.scales, stripe.zeros
        yield stripe.integers.data


def _packed(zeros: "NDArray[numpy.uint8]") -> "NDArray[numpy.uint8]":
    """4-bit zero points (columns, blocks), two to a byte; an odd last one has a byte of its own."""
    import numpy

    even = numpy.pad(zeros, ((0, 0), (0, zeros.shape[1] % 2)))
    return (even[:, 0::2] | even[:, 1::2] << 4).astype(numpy.uint8)
