"""Reads the constant tensors of a graph chunk by chunk, wherever they lie.

Chunks are read into reused memory, not mapped: a mapped file that is truncated kills the process, and its pages count
as memory of the process.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ModelError
from packager.graph.weights.places import BITS, Place, chunks_of, missing, size_of, source_of
from packager.graph.weights.streaming import CHUNK_ELEMENTS

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from onnx import TensorProto

FLOATS = ("FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16")


@dataclass(frozen=True, eq=False, kw_only=True)
class Weight:
    """A constant tensor, wherever its bytes are."""

    name: str
    element: str
    """as in onnx.TensorProto.DataType: FLOAT, INT8"""
    shape: tuple[int, ...]
    place: Place | None = None
    """None for a tensor inside the graph"""
    content: bytes = field(default=b"", repr=False)
    """the bytes of a tensor inside the graph"""

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        return self.place.length if self.place else len(self.content)

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    def array(self) -> "NDArray[numpy.generic]":
        """The whole tensor in memory, in its own element type: for small ones."""
        from onnx import TensorProto, numpy_helper

        content = b"".join(chunks_of(self.place)) if self.place else self.content
        kind = TensorProto.DataType.Value(self.element)
        array: NDArray[numpy.generic] = numpy_helper.to_array(
            TensorProto(data_type=kind, dims=self.shape, raw_data=content)
        )
        return array

    def read(self, start: int, numbers: "NDArray[numpy.float32]") -> None:
        """Fills `numbers` with those of the flattened tensor from `start` on. Thread-safe.

        Raises ModelError for a tensor of integers and for a file that ends too early. Numbers too large for float32
        become infinity.
        """
        import numpy

        if self.element == "FLOAT":
            self._read_bytes(start * 4, numbers.data.cast("B"))
            return
        width = self._width()
        content = bytearray(len(numbers) * width)
        self._read_bytes(start * width, memoryview(content))
        with numpy.errstate(over="ignore"):
            numbers[...] = numpy.frombuffer(content, self._kind())

    def chunks(self, numbers: int = CHUNK_ELEMENTS) -> "Iterator[NDArray[numpy.float32]]":
        """The flattened tensor as float32, at most `numbers` at a time, each chunk valid until the next is
        requested."""
        import numpy

        scratch = numpy.empty(min(numbers, self.size), numpy.float32)
        for start in range(0, self.size, numbers):
            chunk = scratch[: self.size - start]
            self.read(start, chunk)
            yield chunk

    def _width(self) -> int:
        if not self.is_float:
            raise ModelError(
                f"tensor '{self.name}' is of {self.element.lower()}: only floating point can be converted",
                hint="leave its node out of the quantization",
            )
        return BITS[self.element] // 8

    def _kind(self) -> "numpy.dtype[numpy.generic]":
        from onnx import TensorProto, helper

        return helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(self.element)).newbyteorder("<")

    def _read_bytes(self, start: int, into: memoryview) -> None:
        if self.place is None:
            into[:] = memoryview(self.content)[start : start + len(into)]
            return
        with self.place.path.open("rb", buffering=0) as file:
            file.seek(self.place.offset + start)
            while into:
                count = file.readinto(into)
                if not count:
                    raise missing(self.place.path, len(into))
                into = into[count:]


def read_weight(tensor: "TensorProto", data_folder: Path) -> Weight:
    """The weight in `tensor`; external data are relative to `data_folder` and are not read yet.

    Raises ModelError if its size does not match its shape.
    """
    from onnx import TensorProto

    element = TensorProto.DataType.Name(tensor.data_type)
    shape = tuple(tensor.dims)
    place = source_of(tensor, data_folder) if tensor.data_location == tensor.EXTERNAL else None
    weight = Weight(
        name=tensor.name, element=element, shape=shape, place=place, content=b"" if place else _content(tensor)
    )
    if weight.size_bytes != size_of(tensor):
        raise ModelError(
            f"tensor '{tensor.name}' of shape {list(shape)} needs {size_of(tensor):,} bytes but has "
            f"{weight.size_bytes:,}",
            hint="the file is damaged: export it again",
        )
    return weight


def _content(tensor: "TensorProto") -> bytes:
    """The bytes of a tensor inside the graph: raw, or built from its typed list (float_data, int32_data ...)."""
    from onnx import numpy_helper

    if tensor.HasField("raw_data"):
        return tensor.raw_data
    try:
        return bytes(numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data)
    except ValueError as error:
        raise ModelError(
            f"tensor '{tensor.name}' does not have as many numbers as its shape {list(tensor.dims)} requires",
            hint="the file is damaged: export it again",
        ) from error
