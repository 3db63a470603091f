"""Quantizes matrices in blocks that share a scale, in the layouts of com.microsoft's operators
(docs/ContribOperators.md)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.stripes import Stripes
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
    rows: int
    columns: int


@dataclass
class BlockQuantizer:
    draft: Draft
    bits: Literal[4, 8]
    block_size: int
    made: dict[tuple[str, str], Blocks] = field(default_factory=dict)

    def matrix(self, name: str, *, is_transposed: bool) -> Blocks:
        """A matrix for MatMulNBits: (columns, blocks, bytes of a block), scales (columns, blocks); blocks run along the
        rows of the matrix, which is stored column by column. Zero is in the middle of the integers."""
        import numpy
        from onnx import TensorProto

        key = ("transposed" if is_transposed else "matrix", name)
        if key in self.made:
            return self.made[key]
        weight = self.draft.weight(name)
        columns, rows = weight.shape if is_transposed else reversed(weight.shape)
        place = f"{'transposed matrix' if is_transposed else 'matrix'}:{name}"
        stripes = Stripes(
            weight=weight,
            bits=self.bits,
            block_size=self.block_size,
            is_transposed=is_transposed,
            earlier=self.draft.scales.earlier.get(place),
            threads=self.draft.threads,
        )
        scales = numpy.empty((columns, stripes.blocks), numpy.float32)
        shape = (columns, stripes.blocks, self.block_size * self.bits // 8)
        chunks = _noting_scales(stripes, scales)
        integers = self.draft.add_chunks(f"{name}_quantized", TensorProto.UINT8, shape, chunks)
        self.draft.scales.used[place] = stripes.parameters(scales)
        self.made[key] = Blocks(
            name=integers,
            scales=self.draft.add_large(f"{name}_scales", scales),
            rows=rows,
            columns=columns,
        )
        return self.made[key]

    def table(self, name: str) -> Blocks:
        """A table for GatherBlockQuantized: laid out like the original, two 4-bit integers to a byte, blocks along a
        row."""
        from onnx import TensorProto

        key = ("table", name)
        if key in self.made:
            return self.made[key]
        weight = self.draft.weight(name)
        rows, columns = weight.shape
        groups = per_block(weight.shape, 1, self.block_size)
        element: Literal["uint4", "uint8"] = "uint4" if self.bits == 4 else "uint8"
        own = weight_parameters(weight, groups, element, is_symmetric=True, threads=self.draft.threads)
        parameters = self.draft.scales.settled(f"table:{name}", own)
        chunks = quantized(weight, groups, parameters, threads=self.draft.threads)
        shape = (rows, columns * self.bits // 8)
        self.made[key] = Blocks(
            name=self.draft.add_chunks(f"{name}_quantized", TensorProto.UINT8, shape, chunks),
            scales=self.draft.add_large(f"{name}_scales", parameters.scale),
            rows=rows,
            columns=columns,
        )
        return self.made[key]


def _noting_scales(stripes: Stripes, scales: "NDArray[numpy.float32]") -> "Iterator[memoryview]":
    """The integers of `stripes`; stores their scales in `scales`."""
    for stripe in stripes:
        scales[stripe.columns] = stripe.scales
        yield stripe.integers.data
