"""Reads an ONNX file without its weights: large tensors become references into the file itself.

The traversal follows the protobuf wire format (protobuf.dev/programming-guides/encoding) over a memory map, so its cost
depends on the number of tensors, not on their size: 8 ms for 400 MB, where parsing the file takes seconds and twice its
size in memory.
"""

import mmap
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packager.core.errors import ModelError
from packager.core.user_files import opened
from packager.graph.weights.whole import LENGTH_DELIMITED, message, varint

READABLE = "give the path of an .onnx file that you can read"
KEEP_INLINE_BYTES = 1024
"""Smaller tensors stay in the graph: shape inference needs the values of shapes, axes and the like."""

# Field numbers of onnx.proto (ModelProto, GraphProto, TensorProto).
MODEL_GRAPH, GRAPH_INITIALIZER = 7, 5
TENSOR_RAW_DATA, TENSOR_EXTERNAL_DATA, TENSOR_DATA_LOCATION = 9, 13, 14
VARINT, FIXED64, FIXED32 = 0, 1, 5


class Field(NamedTuple):
    number: int
    wire_type: int
    start: int
    """offset of the field's tag"""
    value: int
    """offset of the field's content"""
    end: int


class TruncatedError(Exception):
    """The bytes end inside a field, or are not protobuf at all."""


def read_skeleton(path: Path) -> bytes:
    """The serialized ModelProto of `path` with large initializers turned into external references to `path.name`.

    Raises ModelError if the file is missing, empty, truncated or not ONNX.
    """
    try:
        with opened(path) as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError(f"{path}: the file is empty", hint="export the model again")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return skeleton_of(content, path)
    except OSError as error:
        raise ModelError(f"{path}: {(error.strerror or str(error)).lower()}", hint=READABLE) from error


def skeleton_of(content: mmap.mmap, path: Path) -> bytes:
    refuse_other_formats(content[:16], path)
    result = bytearray()
    try:
        for field in fields(content, 0, len(content)):
            if field.number == MODEL_GRAPH and field.wire_type == LENGTH_DELIMITED:
                graph = _graph_skeleton(content, field, path.name)
                result += message(MODEL_GRAPH, graph)
            else:
                result += content[field.start : field.end]
    except TruncatedError as error:
        raise ModelError(
            f"{path}: not a complete ONNX file ({error}, {len(content):,} bytes in all)",
            hint="download or export it again; compare its size with the source",
        ) from error
    return bytes(result)


def _graph_skeleton(content: mmap.mmap, graph: Field, location: str) -> bytearray:
    result = bytearray()
    for field in fields(content, graph.value, graph.end):
        if field.number == GRAPH_INITIALIZER and field.end - field.value >= KEEP_INLINE_BYTES:
            result += _tensor_reference(content, field, location)
        else:
            result += content[field.start : field.end]
    return result


def _tensor_reference(content: mmap.mmap, tensor: Field, location: str) -> bytes | bytearray:
    """The tensor with its raw_data replaced by (location, offset, length); unchanged if it has no raw_data."""
    header = bytearray()
    raw: Field | None = None
    for field in fields(content, tensor.value, tensor.end):
        if field.number == TENSOR_RAW_DATA:
            raw = field
        elif field.number != TENSOR_DATA_LOCATION:
            header += content[field.start : field.end]
    if raw is None:
        return content[tensor.start : tensor.end]
    for key, value in (("location", location), ("offset", str(raw.value)), ("length", str(raw.end - raw.value))):
        entry = message(1, key.encode()) + message(2, value.encode())
        header += message(TENSOR_EXTERNAL_DATA, entry)
    header += varint(TENSOR_DATA_LOCATION << 3 | VARINT) + varint(1)  # EXTERNAL
    return message(GRAPH_INITIALIZER, header)


def fields(content: mmap.mmap, start: int, end: int) -> Iterator[Field]:
    """The fields of the message in content[start:end]. Raises TruncatedError if they exceed it."""
    position = start
    while position < end:
        tag, value = read_varint(content, position, end)
        wire_type = tag & 7
        if wire_type == LENGTH_DELIMITED:
            length, value = read_varint(content, value, end)
            after = value + length
        elif wire_type == VARINT:
            _, after = read_varint(content, value, end)
        elif wire_type in (FIXED64, FIXED32):
            after = value + (8 if wire_type == FIXED64 else 4)
        else:
            raise TruncatedError(f"unknown wire type {wire_type} at byte {position:,}")
        if after > end or tag >> 3 == 0:
            raise TruncatedError(f"a field at byte {position:,} runs past its end")
        yield Field(tag >> 3, wire_type, position, value, after)
        position = after


def read_varint(content: mmap.mmap, position: int, end: int) -> tuple[int, int]:
    """The base-128 number at `position` and the offset after it."""
    result = shift = 0
    while position < end and shift < 70:
        byte = content[position]
        position += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, position
        shift += 7
    raise TruncatedError(f"a number at byte {position:,} has no end")


def refuse_other_formats(head: bytes, path: Path) -> None:
    """Raises ModelError with advice for files that users confuse with models."""
    for is_it, what, hint in (
        (head.startswith(b"version https://"), "a Git LFS pointer, not the model itself", "run: git lfs pull"),
        (head.startswith(b"PK") and path.suffix == ".keras", "a Keras model", import_of(path, ".keras")),
        (head.startswith(b"PK"), "a zip file (PyTorch checkpoint or archive)", "export it: torch.onnx.export(...)"),
        (head.startswith(b"\x1f\x8b"), "packed with gzip", "unpack it: gunzip"),
        (head[4:8] == b"ORTM", "already in ORT format", "give the .onnx file it was made from"),
        (head[4:8] == b"TFL3", "a TensorFlow Lite model", import_of(path, ".tflite")),
        (head.lstrip()[:1] == b"<", "an HTML or XML page, not a model", "download the file itself, not its web page"),
        (head.startswith(b"\x89HDF"), "an HDF5 file (Keras)", import_of(path, ".h5", ".hdf5")),
    ):
        if is_it:
            raise ModelError(f"{path}: this is {what}", hint=hint)


def import_of(path: Path, *suffixes: str) -> str:
    """How to make an ONNX model of another framework's file, which an importer knows by one of `suffixes`."""
    named = path if path.suffix in suffixes else path.with_suffix(suffixes[0])
    command = f"mobpack import {shlex.quote(str(named))}"
    return f"import it: {command}" if named == path else f"name it {named.name}, and import it: {command}"
