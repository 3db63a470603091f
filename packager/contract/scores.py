"""Normalizes a model's outputs: converts to float, removes batch dimensions, applies the activation."""

from math import prod
from typing import Literal

from packager.core.errors import ConfigError
from packager.core.signature import Dimension, ElementType, TensorSpec
from packager.graph.writer import Writer

Activation = Literal["softmax", "sigmoid", "none"]

TEXTS = "texts"
"""name of the size that is the number of texts of a batch"""
NO_NUMBERS = (ElementType.BOOL, ElementType.STRING, ElementType.OTHER, ElementType.BFLOAT16)


def floats(writer: Writer, spec: TensorSpec) -> str:
    """The value of `spec` in 32 bits. Raises ConfigError for types other than numbers."""
    _refuse_no_numbers(spec)
    return spec.name if spec.element is ElementType.FLOAT else writer.cast(spec.name, ElementType.FLOAT)


def _refuse_no_numbers(spec: TensorSpec) -> None:
    if spec.element in NO_NUMBERS:
        raise ConfigError(
            f"the output is {in_words(spec)}: not a numeric type that ONNX Runtime can compare on every platform",
            hint='use kind = "tensor" to return it as it is',
        )


def shaped(writer: Writer, spec: TensorSpec, sizes: list[int]) -> str:
    """The values of `spec` in at least two `sizes`, -1 for an open one, in the type of `writer`."""
    if not writer.nothing:
        return writer.node("Reshape", floats(writer, spec), sizes)
    _refuse_no_numbers(spec)
    hidden = writer.node("Add", sizes, writer.nothing)
    return writer.cast(writer.node("Reshape", spec.name, hidden), writer.real)


def row(writer: Writer, spec: TensorSpec, *, what: str) -> tuple[str, int]:
    """The values of `spec` in one dimension, and their count: all other sizes must be 1, or an open first one."""
    sizes = [size for size in sizes_of_one(spec) if size != 1]
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) != len(sizes) or len(known) > 1 or not spec.shape or prod(known) == 0:
        raise ConfigError(
            f"the output is {in_words(spec)}: not one row of {what}",
            hint='choose the output that has them ([1, n]), or use kind = "tensor" for this one',
        )
    count = prod(known)
    return writer.node("Reshape", floats(writer, spec), [count]), count


def batch_rows(writer: Writer, spec: TensorSpec, *, what: str) -> tuple[str, int]:
    """The values of `spec` as [texts, count], and the count: the first size must be open, and all others but one 1."""
    sizes = [size for size in spec.shape[1:] if size != 1]
    known = [size for size in sizes if isinstance(size, int)]
    is_open = bool(spec.shape) and not isinstance(spec.shape[0], int)
    if not is_open or len(known) != len(sizes) or len(known) > 1 or prod(known) == 0:
        raise ConfigError(
            f"the output is {in_words(spec)}: not one row of {what} for each text of a batch",
            hint="export the model with an open first size, or omit batch in the table of the text",
        )
    return writer.node("Reshape", floats(writer, spec), [-1, prod(known)]), prod(known)


def rows(writer: Writer, spec: TensorSpec, size: int) -> str:
    """The values of `spec` as [rows, size]."""
    shape = writer.node("Concat", writer.flat, [size], axis=0) if writer.flat else [-1, size]
    return writer.node("Reshape", floats(writer, spec), shape)


def sizes_of_one(spec: TensorSpec) -> tuple[Dimension, ...]:
    """The sizes of `spec` without an open first one, which is taken as 1: apps pass one picture or sound at a time."""
    return spec.shape[1:] if len(spec.shape) > 1 and not isinstance(spec.shape[0], int) else spec.shape


def activated(writer: Writer, value: str, activation: Activation, *, axis: int = -1) -> str:
    """`value` as probabilities: softmax along `axis`, sigmoid of each, or unchanged."""
    if activation == "softmax":
        return writer.node("Softmax", value, axis=axis)
    return writer.node("Sigmoid", value) if activation == "sigmoid" else value


def in_words(spec: TensorSpec) -> str:
    """`float [1, 1000]`"""
    return f"{spec.element} [{', '.join('?' if size is None else str(size) for size in spec.shape)}]"
