"""Locates the bytes of tensors: in the graph, or in a file beside it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ModelError

if TYPE_CHECKING:
    from onnx import TensorProto

BITS = {
    "FLOAT": 32,
    "DOUBLE": 64,
    "FLOAT16": 16,
    "BFLOAT16": 16,
    "INT8": 8,
    "INT16": 16,
    "INT32": 32,
    "INT64": 64,
    "UINT8": 8,
    "UINT16": 16,
    "UINT32": 32,
    "UINT64": 64,
    "BOOL": 8,
    "COMPLEX64": 64,
    "COMPLEX128": 128,
    "FLOAT8E4M3FN": 8,
    "FLOAT8E4M3FNUZ": 8,
    "FLOAT8E5M2": 8,
    "FLOAT8E5M2FNUZ": 8,
    "FLOAT8E8M0": 8,
    "INT4": 4,
    "UINT4": 4,
    "FLOAT4E2M1": 4,
    "INT2": 2,
    "UINT2": 2,
}
"""Bits per element, by onnx.TensorProto.DataType name."""

LARGEST_BYTES = 2**31 - 1
"""Maximum size of a data file, because a Java buffer maps no more; and of a serialized graph, because protobuf reads no
more."""

ALIGNMENT_BYTES = 64
"""A cache line, and enough for every vector load. ONNX Runtime maps a tensor from the start of the page it begins in
(PosixEnv::MapFileIntoMemory), so none needs a page of its own; and in an .apk, whose entries start at multiples of 4
bytes, page alignment would be lost anyway."""

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Place:
    """Location of a tensor's bytes."""

    path: Path
    offset: int
    length: int


def size_of(tensor: "TensorProto") -> int:
    """Bytes that the shape and element type of `tensor` require; 0 for element types of no fixed size."""
    bits: int = math.prod(tensor.dims) * _bits_by_number().get(tensor.data_type, 0)
    return (bits + 7) // 8


@cache
def _bits_by_number() -> Mapping[int, int]:
    from onnx import TensorProto

    return {number: BITS.get(name, 0) for name, number in TensorProto.DataType.items()}


def refer(tensor: "TensorProto", place: Place) -> None:
    """Makes `tensor` a reference to `place`, in a file beside its model."""
    tensor.ClearField("raw_data")
    del tensor.external_data[:]
    for key, value in (("location", place.path.name), ("offset", str(place.offset)), ("length", str(place.length))):
        tensor.external_data.add(key=key, value=value)
    tensor.data_location = tensor.EXTERNAL


def take_in(tensor: "TensorProto", data_folder: Path) -> None:
    """Reads the data of `tensor` into the graph: for small tensors, and for subgraphs, where runtimes do not support
    files."""
    source = source_of(tensor, data_folder)
    refuse_too_large(source.length, f"tensor '{tensor.name}'")
    tensor.raw_data = b"".join(chunks_of(source))
    del tensor.external_data[:]
    tensor.ClearField("data_location")


def source_of(tensor: "TensorProto", data_folder: Path) -> Place:
    """Location of the data of an external tensor."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    offset, length = int(entries.get("offset", 0)), int(entries.get("length", size_of(tensor)))
    return Place(data_folder / entries["location"], offset, length)


def chunks_of(source: Place) -> Iterator[bytes]:
    """The bytes at `source`. Raises ModelError if there are fewer."""
    with source.path.open("rb") as file:
        file.seek(source.offset)
        left = source.length
        while left:
            chunk = file.read(min(left, CHUNK_BYTES))
            if not chunk:
                raise missing(source.path, left)
            left -= len(chunk)
            yield chunk


def missing(path: Path, size_bytes: int) -> ModelError:
    """The error for a file at `path` that ends before a tensor does."""
    return ModelError(
        f"{path}: the last {size_bytes:,} bytes of a tensor are missing",
        hint="the file changed while it was read: run again",
    )


def refuse_too_large(size_bytes: int, what: str) -> None:
    """Raises ModelError for `what`, a tensor or a graph, that is too large for an app or protobuf."""
    if size_bytes > LARGEST_BYTES:
        raise ModelError(
            f"{what} has {size_bytes:,} bytes: an app can map at most 2 GiB at once",
            hint="split the tensor in the graph, or ship a variant with smaller weights",
        )
