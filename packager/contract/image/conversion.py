"""Converts the YUV pixels of cameras to red, green and blue.

Luma (Y) and chroma (U and V) are resized first, each from its own grid, and converted then: the cost depends on the
pixels of the model's input, not on those of the camera. Each sample of chroma is centred on the pixels that it covers,
as in JPEG.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from packager.contract.resizing import Filter, Sides, resized
from packager.core.contract import CONVERSIONS, ImageInput
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

PRECISION = 1 << 16
"""weights are integers, of this: products and sums are less than 2^27"""


@dataclass(frozen=True, kw_only=True)
class Standard:
    """Weights of red and blue in luma, and the range of the numbers."""

    red: Fraction
    blue: Fraction
    is_full: bool
    """0 to 255 for all; else 16 to 235 for luma and 16 to 240 for chroma"""

    def weights(self) -> tuple[tuple[int, ...], ...]:
        """For red, green and blue: the weights of Y, U and V, and a number that is added; integers of PRECISION."""
        green = 1 - self.red - self.blue
        luma, black = (Fraction(1), 0) if self.is_full else (Fraction(255, 219), 16)
        chroma = Fraction(1) if self.is_full else Fraction(255, 224)
        of_red, of_blue = 2 * (1 - self.red) * chroma, 2 * (1 - self.blue) * chroma
        rows = (
            (luma, Fraction(0), of_red),
            (luma, -of_blue * self.blue / green, -of_red * self.red / green),
            (luma, of_blue, Fraction(0)),
        )
        return tuple(_integers(row, black) for row in rows)


BT601, BT709 = (Fraction(299, 1000), Fraction(114, 1000)), (Fraction(2126, 10000), Fraction(722, 10000))
"""weights of red and blue: ITU-R BT.601-7, 2.5.1; BT.709-6, 3.2"""
STANDARDS = {
    f"{name}-{'full' if is_full else 'video'}": Standard(red=red, blue=blue, is_full=is_full)
    for name, (red, blue) in (("bt601", BT601), ("bt709", BT709))
    for is_full in (True, False)
}


def _integers(row: tuple[Fraction, ...], black: int) -> tuple[int, ...]:
    """Rounded weights, and the sum for the offsets of luma and chroma, with a half for rounding."""
    luma, of_u, of_v = (round(weight * PRECISION) for weight in row)
    return luma, of_u, of_v, PRECISION // 2 - luma * black - 128 * (of_u + of_v)


@dataclass(frozen=True, kw_only=True)
class Converter:
    """Converts resized pixels, and leaves those of pictures that are not YUV as they are."""

    writer: Writer
    chroma: str
    """value of the input"""
    places: str
    """int64 [2]: where U and V lie in a pixel of chroma; of a hidden length, like those below"""
    number: str
    """int64 [1]: index of CONVERSIONS"""
    is_yuv: str
    """int64 [1]: 1 for a YUV picture, else 0"""
    nothing: str
    """as in Writer"""

    def resized_chroma(self, height: str, width: str, *, filter_: Filter, antialias: bool) -> str:
        """uint8 [height * width, 2]: U and V; one pixel for a picture that is not YUV."""
        writer = self.writer
        small = resized(
            writer,
            self.chroma,
            Sides(writer=writer, pixels=self.chroma, nothing=self.nothing),
            height=self._if_yuv(height),
            width=self._if_yuv(width),
            filter_=filter_,
            antialias=antialias,
        )
        return writer.node("Gather", small, self.places, axis=1)

    def _if_yuv(self, length: str) -> str:
        """`length` for a YUV picture, else 1."""
        return self.writer.node("Max", self.writer.node("Mul", length, self.is_yuv), self.writer.integer(1))

    def converted(self, colours: str, chroma: str) -> str:
        """uint8 [pixels, 3]: red, green and blue, from `colours` of that shape and `chroma`.

        The pixels are cut into those that are converted and those that are not: either all or none.
        """
        writer = self.writer
        count = writer.node("Shape", colours, start=0, end=1)
        border = writer.node("Mul", writer.node("Add", count, self.nothing), self.is_yuv)
        luma = writer.node("Slice", colours, [0, 0], writer.node("Concat", border, [1], axis=0))
        yuv = writer.node("Concat", luma, writer.node("Slice", chroma, [0], border), axis=1)
        rest = writer.node("Slice", colours, border, [2**31 - 1], [0])
        return writer.node("Concat", self._rgb(yuv), rest, axis=0)

    def _rgb(self, yuv: str) -> str:
        """uint8 [pixels, 3], from `yuv` of that shape. No shape is static, as in `stored`."""
        import numpy

        writer = self.writer
        factors, added = (writer.constant(each) for each in _table())
        chosen = writer.node("Gather", factors, self.number, axis=0)
        products = writer.node("MatMul", writer.cast(yuv, ElementType.INT32), chosen)
        sums = writer.node("Add", products, writer.node("Gather", added, self.number, axis=0))
        zero, one, most = (writer.constant(numpy.array(each, numpy.int32)) for each in (0, PRECISION, 255))
        shares = writer.node("Div", writer.node("Max", writer.node("Flatten", sums, axis=2), zero), one)
        return writer.cast(writer.node("Min", shares, most), ElementType.UINT8)


def converter(writer: Writer, typed: ImageInput, nothing: str) -> Converter:
    """The converter of a picture's input. Every value that it computes with has a hidden length, as in `stored`."""
    numbers = writer.node("Add", typed.conversion.name, writer.node("Unsqueeze", nothing, [1]))
    # CoreML takes Gather of integers.
    u, v, number = (writer.node("Slice", numbers, [index], [index + 1], [1]) for index in range(3))
    u, v, number = (writer.node("Squeeze", each, [1]) for each in (u, v, number))
    limited = writer.node("Min", writer.node("Max", number, writer.integer(0)), writer.integer(len(CONVERSIONS) - 1))
    return Converter(
        writer=writer,
        chroma=typed.chroma.name,
        places=writer.node("Concat", u, v, axis=0),
        number=limited,
        is_yuv=writer.node("Min", limited, writer.integer(1)),
        nothing=nothing,
    )


def _table() -> "tuple[numpy.ndarray, numpy.ndarray]":
    """int32 [conversions, 3, 3] and [conversions, 1, 3]: weights of Y, U and V and what is added, for red, green and
    blue; zeros for no conversion."""
    import numpy

    empty = ((0,) * 4,) * 3
    rows = [STANDARDS[name].weights() if name in STANDARDS else empty for name in CONVERSIONS]
    table = numpy.ascontiguousarray(numpy.array(rows, numpy.int32).transpose(0, 2, 1))
    return table[:, :3].copy(), table[:, 3:].copy()
