"""Values that no provider of a phone computes with: of lengths that nobody knows before the model runs.

QNN takes whatever has static shapes, counts and places among it, and CoreML takes arithmetic of floats of any length;
both may compute in 16 bits. So counts are int64 of a hidden length, and samples are doubles, or floats in operators
that no provider knows: Einsum, GatherElements, ReduceL2.
"""

from packager.contract.writer import Writer


def nothing(writer: Writer, samples: str) -> str:
    """int64, 0 in one element of a hidden length, from `samples` of two dimensions, which may be empty."""
    # The places of all sizes but 0, the first of which is that of the 1 ahead of them.
    places = writer.node("NonZero", writer.node("Shape", writer.node("Unsqueeze", samples, [0])))
    return writer.node("Squeeze", writer.node("Slice", places, [0], [1], [1]), [0])


def size(writer: Writer, value: str, axis: int = 0) -> str:
    """int64, one element: a size of `value`, which is no float. CoreML takes Shape of floats."""
    return writer.node("Add", writer.node("Shape", value, start=axis, end=axis + 1), writer.nothing)


def counted(writer: Writer, count: str) -> str:
    """0, 1, 2... `count` - 1."""
    return writer.node("Range", writer.integer(0), writer.node("Squeeze", count, [0]), writer.integer(1))


def picked(writer: Writer, value: str, places: str) -> str:
    """Elements of `value`, which has one dimension, in one dimension. Gather is taken by CoreML, and is slower."""
    return writer.node("GatherElements", value, writer.node("Reshape", places, [-1]))
