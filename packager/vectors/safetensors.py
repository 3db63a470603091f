"""Reads and writes safetensors files, in one canonical order.

The library of that name would do, but it writes the entries of `__metadata__` in the order of a hash map. The format
has no strings: a tensor of them is written as `U8`, its strings in row-major order, each as four bytes with its length
(little-endian) and then its UTF-8 bytes. Their real shapes are in `__metadata__` under `strings`, as JSON: tensor name
-> shape. Everything else is the published format: eight bytes with the length of a JSON header, the header, padded with
blanks to a multiple of eight, then the values, little-endian and row-major, without gaps. Wider elements come first, so
that each tensor starts at a multiple of its element's size.
"""

import json
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core import parsing
from packager.core.characters import to_json
from packager.core.values import ElementType

if TYPE_CHECKING:
    import numpy

METADATA = "__metadata__"
STRINGS = "strings"
ALIGNMENT_BYTES = 8

NAMES = {
    "F64": ElementType.DOUBLE,
    "I64": ElementType.INT64,
    "U64": ElementType.UINT64,
    "F32": ElementType.FLOAT,
    "I32": ElementType.INT32,
    "U32": ElementType.UINT32,
    "F16": ElementType.FLOAT16,
    "BF16": ElementType.BFLOAT16,
    "I16": ElementType.INT16,
    "U16": ElementType.UINT16,
    "I8": ElementType.INT8,
    "U8": ElementType.UINT8,
    "BOOL": ElementType.BOOL,
}
"""The format's name for an element type, in order of falling width."""
NUMPY = {ElementType.FLOAT: "float32", ElementType.DOUBLE: "float64"}
"""numpy's name, if it differs from ONNX's."""


@dataclass(frozen=True, kw_only=True)
class TensorEntry:
    """Type and location of a tensor in a file."""

    element: ElementType
    shape: tuple[int, ...]
    offset: int
    """of its first byte, from the start of the file"""
    size_bytes: int


def size_of(tensors: Mapping[str, "numpy.ndarray"], about: Mapping[str, str]) -> int:
    """Size of the file for `tensors`."""
    content = dict(_content(tensors))
    return len(_header(tensors, content, about)) + sum(map(len, content.values()))


def write(path: Path, tensors: Mapping[str, "numpy.ndarray"], about: Mapping[str, str]) -> None:
    """Writes `tensors` to `path`, with `about` as `__metadata__`: the same tensors give the same bytes."""
    content = dict(_content(tensors))
    with path.open("wb") as file:
        file.write(_header(tensors, content, about))
        for part in content.values():
            file.write(part)


def read(path: Path) -> tuple[Mapping[str, str], Mapping[str, TensorEntry]]:
    """`__metadata__` of a file that `write` has written, and the entries of its tensors. Raises ValueError for another
    file."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > path.stat().st_size:
            raise ValueError("its header is longer than the file")
        header = parsing.json_of(file.read(length))
    try:
        return _described(header, 8 + length)
    except parsing.DAMAGE as error:
        raise ValueError(f"its header is damaged: {parsing.reason_of(error)}") from error


def _described(header: Any, start: int) -> tuple[Mapping[str, str], Mapping[str, TensorEntry]]:
    """`__metadata__` and the entries of tensors, whose values begin at byte `start`."""
    about: dict[str, str] = header.pop(METADATA)
    texts = parsing.json_of(about.pop(STRINGS, "{}"))
    return about, {
        name: TensorEntry(
            element=ElementType.STRING if name in texts else NAMES[entry["dtype"]],
            shape=tuple(texts.get(name, entry["shape"])),
            offset=start + entry["data_offsets"][0],
            size_bytes=entry["data_offsets"][1] - entry["data_offsets"][0],
        )
        for name, entry in header.items()
    }


def values(path: Path, place: TensorEntry) -> "numpy.ndarray":
    """The values at `place`: strings in numpy's Unicode type, the bits of bfloat16 as uint16."""
    import numpy

    with path.open("rb") as file:
        file.seek(place.offset)
        content = file.read(place.size_bytes)
    if place.element is ElementType.STRING:
        return numpy.array(list(_read_texts(content)), str).reshape(place.shape)
    name = "uint16" if place.element is ElementType.BFLOAT16 else NUMPY.get(place.element, str(place.element))
    return numpy.frombuffer(content, numpy.dtype(name).newbyteorder("<")).reshape(place.shape)


def _content(tensors: Mapping[str, "numpy.ndarray"]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every tensor in the order of the file."""
    for name in sorted(tensors, key=lambda name: (-_width(tensors[name]), name)):
        array = tensors[name]
        yield name, _texts(array) if _is_text(array) else array.astype(array.dtype.newbyteorder("<")).tobytes()


def _texts(array: "numpy.ndarray") -> bytes:
    texts = [str(text).encode() for text in array.ravel()]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


def _read_texts(content: bytes) -> Iterator[str]:
    start = 0
    while start < len(content):
        (length,) = struct.unpack_from("<I", content, start)
        start += 4 + length
        yield content[start - length : start].decode()


def _header(tensors: Mapping[str, "numpy.ndarray"], content: Mapping[str, bytes], about: Mapping[str, str]) -> bytes:
    texts = {name: list(tensors[name].shape) for name in content if _is_text(tensors[name])}
    known = {**about, STRINGS: json.dumps(texts, sort_keys=True)} if texts else dict(about)
    entries: dict[str, Any] = {METADATA: dict(sorted(known.items()))}
    end = 0
    for name, part in content.items():
        start, end = end, end + len(part)
        shape = [len(part)] if name in texts else list(tensors[name].shape)
        entries[name] = {"dtype": _dtype(tensors[name]), "shape": shape, "data_offsets": [start, end]}
    text = to_json(entries, separators=(",", ":")).encode()
    padded = math.ceil(len(text) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    return struct.pack("<Q", padded) + text.ljust(padded)


def _dtype(array: "numpy.ndarray") -> str:
    if _is_text(array):
        return "U8"
    return next(name for name, element in NAMES.items() if NUMPY.get(element, str(element)) == array.dtype.name)


def _width(array: "numpy.ndarray") -> int:
    return 1 if _is_text(array) else array.dtype.itemsize


def _is_text(array: "numpy.ndarray") -> bool:
    return array.dtype.kind in "UO"
