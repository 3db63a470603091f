"""Tensors on their way to a device and back: values one after the other in a file, little-endian."""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.parsing import Json

if TYPE_CHECKING:
    import numpy

SEPARATOR = "\x1f"
TYPES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "bool": "BOOL",
    **{name: name.upper() for name in ("int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16")},
}
"""numpy's name -> that of ONNX Runtime's Java classes, which have no other unsigned integers."""
DTYPES = {kind: name for name, kind in TYPES.items()} | {"UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64"}


class UnsupportedError(Exception):
    """ONNX Runtime for Java has no tensors of a type."""


def write(arrays: "Mapping[str, numpy.ndarray]", path: Path) -> dict[str, str]:
    """Writes `arrays` to `path`, and returns how a request describes them. Raises UnsupportedError."""
    import numpy

    described: dict[str, str] = {}
    with path.open("wb") as file:
        for number, (name, array) in enumerate(arrays.items()):
            content = _strings(array) if array.dtype.kind in "UO" else numpy.ascontiguousarray(array).tobytes()
            kind = "STRING" if array.dtype.kind in "UO" else TYPES.get(array.dtype.name, "")
            if not kind:
                raise UnsupportedError(f"input '{name}': ONNX Runtime for Java has no tensors of {array.dtype.name}")
            words = (name, kind, "x".join(map(str, array.shape)), str(file.tell()), str(len(content)))
            described[f"tensor.{number}"] = SEPARATOR.join(words)
            file.write(content)
            file.write(bytes(-len(content) % 8))
    return described


def read(entry: Json, content: bytes) -> "numpy.ndarray":
    """The array that an answer describes, in the `content` of its file."""
    import numpy

    shape = tuple(entry["shape"])
    part = content[entry["offset"] : entry["offset"] + entry["size"]]
    if entry["type"] == "STRING":
        return numpy.array(_words(part), dtype=str).reshape(shape)
    name = DTYPES[entry["type"]]
    if name == "bfloat16":
        import ml_dtypes

        return numpy.frombuffer(part, ml_dtypes.bfloat16).reshape(shape)
    return numpy.frombuffer(part, name).reshape(shape)


def _strings(array: "numpy.ndarray") -> bytes:
    texts = [str(text).encode() for text in array.reshape(-1)]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


def _words(part: bytes) -> list[str]:
    found, place = [], 0
    while place < len(part):
        (length,) = struct.unpack_from("<I", part, place)
        found.append(part[place + 4 : place + 4 + length].decode("utf-8", "replace"))
        place += 4 + length
    return found
