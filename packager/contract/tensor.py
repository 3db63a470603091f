"""The kind `tensor`: tensors that apps pass or get unchanged, and constant inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from packager.contract.kind import AttachedInput, AttachedOutput, Core, Inputs
from packager.contract.scores import in_words
from packager.core.contract import TensorInput, TensorOutput
from packager.core.errors import ConfigError
from packager.core.signature import TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class PlainInput:
    """An input that is passed unchanged."""

    KIND: ClassVar[str] = "tensor"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["tensor"] = "tensor"
    """kind of the input"""
    value: bool | float | tuple[float, ...] | None = None
    """constant value, which apps then do not pass. One number fills the whole tensor"""

    def within(self, folder: Path) -> Self:
        return self

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, tuple[int, ...]]:
        return {}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        if self.value is not None:
            return AttachedInput(typed=(), value=writer.constant(_filled(spec, self.value)))
        return AttachedInput(typed=(TensorInput(identifier=spec.identifier, spec=spec),), value="")


@dataclass(frozen=True, kw_only=True)
class PlainOutput:
    """An output that apps get unchanged."""

    KIND: ClassVar[str] = "tensor"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["tensor"] = "tensor"
    """kind of the output"""

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        if core.is_batch and (not spec.shape or isinstance(spec.shape[0], int)):
            raise ConfigError(
                f"the output is {in_words(spec)}: it has no row for each text of a batch",
                hint="export the model with an open first size, or omit batch in the table of the text",
            )
        typed = TensorOutput(identifier=spec.identifier, spec=spec)
        return AttachedOutput(typed=typed, taken=(), is_batch=core.is_batch)


def _filled(spec: TensorSpec, value: bool | float | tuple[float, ...]) -> "numpy.ndarray":
    """`value` in the shape and type of `spec`. Raises ConfigError if it does not fit."""
    import numpy
    from onnx import TensorProto, helper

    shape = [size for size in spec.shape if isinstance(size, int)]
    if len(shape) != len(spec.shape):
        raise ConfigError("'value' needs a shape without open sizes", hint="fix the sizes in [model.NAME.shapes]")
    if isinstance(value, tuple) and len(value) != prod(shape):
        raise ConfigError(
            f"'value' has {len(value)} numbers, but the tensor has {prod(shape)}",
            hint="use one number, or one per element",
        )
    dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(spec.element.value.upper()))
    numbers = numpy.array(value)
    with numpy.errstate(all="ignore"):
        made = numbers.astype(dtype)
    if dtype.kind in "iub" and not numpy.array_equal(made, numbers):
        raise ConfigError(f"{value} is not a valid {spec.element}", hint="use a number that the tensor can hold")
    return numpy.ascontiguousarray(numpy.broadcast_to(made, shape) if numbers.ndim == 0 else made.reshape(shape))
