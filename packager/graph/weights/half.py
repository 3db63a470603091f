"""Converts weights to float16, and counts the numbers that do not fit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.graph.weights.groups import WeightBox, per_tensor
from packager.graph.weights.reading import Weight
from packager.graph.weights.streaming import CHUNK_ELEMENTS, THREADS, Scratch, in_order

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

LARGEST = 65504.0
OVERFLOW = 65520.0
"""Numbers from here on round to infinity."""
SMALLEST = 2.0**-24
VANISHING = 2.0**-25
"""Numbers up to here round to zero."""


@dataclass
class Halves:
    """The bytes of a weight as float16, chunk by chunk: round half to even, denormals kept, finite numbers stay finite.

    The counts cover the chunks yielded so far. `raised_halves` also keeps small numbers from becoming zero: here
    `vanished` tells the caller to leave such a tensor alone.
    """

    weight: Weight
    threads: int = THREADS
    chunk: int = CHUNK_ELEMENTS
    overflows: int = 0
    """finite numbers that became the largest one of float16"""
    vanished: int = 0
    """nonzero numbers that became zero"""

    def __iter__(self) -> Iterator[bytes]:
        scratch = Scratch()

        def convert(box: WeightBox) -> tuple[bytes, int, int]:
            numbers = scratch.floats(box.size)
            self.weight.read(box.start, numbers)
            return _converted(numbers)

        self.overflows = self.vanished = 0
        boxes = per_tensor(self.weight.shape).boxes(self.chunk)
        for content, overflows, vanished in in_order(convert, boxes, self.threads):
            self.overflows += overflows
            self.vanished += vanished
            yield content


def raised_halves(numbers: "NDArray[Any]") -> bytes:
    """The bytes of `numbers` as float16. Finite numbers stay finite and nonzero numbers stay nonzero: a small constant
    may be a divisor or an epsilon."""
    import numpy

    sizes = numpy.abs(numbers)
    sizes = numpy.where((sizes > 0) & (sizes < SMALLEST), SMALLEST, sizes)
    sizes = numpy.where((sizes > LARGEST) & numpy.isfinite(sizes), LARGEST, sizes)
    return bytes(numpy.copysign(sizes, numbers).astype("<f2").tobytes())


def _converted(numbers: "NDArray[numpy.float32]") -> tuple[bytes, int, int]:
    """The bytes for `numbers`, which are overwritten, and the counts of too large and too small ones."""
    import numpy

    signs = numbers.view(numpy.uint32) >> 16
    signs &= 0x8000
    sizes = numpy.abs(numbers, out=numbers)
    overflows = vanished = 0
    if not sizes.max() < OVERFLOW:  # or NaN
        is_over = (sizes >= OVERFLOW) & numpy.isfinite(sizes)
        overflows = int(numpy.count_nonzero(is_over))
        sizes[is_over] = LARGEST
    if not sizes.min() > VANISHING:  # or NaN
        vanished = int(numpy.count_nonzero(sizes <= VANISHING) - numpy.count_nonzero(sizes == 0))
    signs |= _half_bits(sizes) if sizes.max() < OVERFLOW else sizes.astype(numpy.float16).view(numpy.uint16)
    return signs.astype("<u2").tobytes(), overflows, vanished


def _half_bits(sizes: "NDArray[numpy.float32]") -> "NDArray[Any]":
    """The bits of float16 for numbers from 0 to below OVERFLOW, which are overwritten: twice as fast as numpy's own.

    Adding a power of two, 2^13 times the number's own, makes the processor round at the last bit of float16
    (fp16_ieee_from_fp32_value in github.com/Maratyshcha/FP16).
    """
    import numpy

    adders = sizes.view(numpy.uint32) & 0x7F800000
    numpy.maximum(adders, 0x38800000, out=adders)  # 2^-14, the smallest normal number of float16
    adders += 0x07800000
    sizes *= 4
    sizes += adders.view(numpy.float32)
    bits = sizes.view(numpy.uint32)
    numpy.right_shift(bits, 13, out=adders)
    adders &= 0x7C00
    bits &= 0x0FFF
    adders += bits
    return adders
