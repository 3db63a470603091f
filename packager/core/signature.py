"""Tensors of a signature: names, element types, shapes."""

from dataclasses import dataclass
from enum import StrEnum


class ElementType(StrEnum):
    """Element type of a tensor, named as in the ONNX specification."""

    FLOAT = "float"
    DOUBLE = "double"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"
    STRING = "string"
    OTHER = "other"
    """complex, 8-bit floats and sub-byte integers: no mobile API supports them"""


Dimension = int | str | None
"""A fixed size, a symbolic name, or `None` for an unknown size without a name."""


LENGTH_WORDS = ("seq", "len", "time", "frame", "sample", "token", "step", "height", "width")
"""Words in a dimension's name: it counts elements within one input, not inputs."""


@dataclass(frozen=True, kw_only=True)
class TensorSpec:
    """One input or output of a model."""

    name: str
    """as the ONNX graph says it, for example `serving_default_input_2:0`"""
    identifier: str
    """camelCase, legal in Kotlin, Swift and TypeScript and unique within the model"""
    element: ElementType
    shape: tuple[Dimension, ...]

    @property
    def is_static(self) -> bool:
        return all(isinstance(dimension, int) for dimension in self.shape)

    def is_batch(self, axis: int) -> bool:
        """Whether the dynamic dimension at `axis` counts samples: its name says so, or it comes first and its name says
        nothing else."""
        name = str(self.shape[axis] or "").lower()
        if "batch" in name or name in ("b", "n", "bs"):
            return True
        return axis == 0 and len(self.shape) > 1 and not any(word in name for word in LENGTH_WORDS)


@dataclass(frozen=True, kw_only=True)
class Signature:
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
