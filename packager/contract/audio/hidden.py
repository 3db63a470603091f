"""Values that no provider of a phone computes, because their lengths are unknown before the model runs.

QNN takes every node with static shapes, including counts and positions, and CoreML takes float arithmetic of any
length; both may compute in 16 bits. Therefore counts are int64 of a hidden length, and samples are doubles, or floats
in operators that no provider supports: Einsum, GatherElements, ReduceL2.
"""

from packager.graph.writer import Writer


def nothing(writer: Writer, samples: str) -> str:
    """int64 0 in one element of a hidden length, made from the two-dimensional `samples`, which may be empty."""
    # NonZero gives the positions of all sizes other than 0, the first of which belongs to the prepended 1.
    places = writer.node("NonZero", writer.node("Shape", writer.node("Unsqueeze", samples, [0])))
    return writer.node("Squeeze", writer.node("Slice", places, [0], [1], [1]), [0])


def size(writer: Writer, value: str, axis: int = 0) -> str:
    """A size of `value` as int64 with one element; `value` must not be float, because CoreML takes Shape of floats."""
    return writer.node("Add", writer.node("Shape", value, start=axis, end=axis + 1), writer.nothing)


def counted(writer: Writer, count: str) -> str:
    """0, 1, 2... `count` - 1."""
    return writer.node("Range", writer.integer(0), writer.node("Squeeze", count, [0]), writer.integer(1))


def picked(writer: Writer, value: str, places: str) -> str:
    """Elements of the one-dimensional `value`, in one dimension. Gather would be taken by CoreML, and is slower."""
    return writer.node("GatherElements", value, writer.node("Reshape", places, [-1]))
