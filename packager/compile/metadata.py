"""Entries of the metadata of a file: apps read them from a session, as ONNX Runtime's custom metadata."""

import mmap
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.compile.canonical import ALIGNMENT, flatbuffer_classes
from packager.graph.weights.whole import message

if TYPE_CHECKING:
    from onnx import ModelProto

METADATA_PROPS, ENTRY_KEY, ENTRY_VALUE = 14, 1, 2
"""Field of ModelProto, and fields of StringStringEntryProto (onnx.proto)."""
VALUE_SLOT = 6
"""Offset of `value` in the vtable of StringStringEntry in ort.fbs, after that of `key`."""


def serialized(key: str, value: str) -> bytes:
    """An entry to put before or behind a serialized ModelProto: concatenated messages are merged (Protocol Buffers,
    "Encoding"). Written without onnx, which the converter does not always need."""
    return message(METADATA_PROPS, message(ENTRY_KEY, key.encode()) + message(ENTRY_VALUE, value.encode()))


def set_entry(proto: "ModelProto", key: str, value: str) -> None:
    """Gives the entry `key` of `proto` the value `value`, as the last of its entries."""
    others = [entry for entry in proto.metadata_props if entry.key != key]
    del proto.metadata_props[:]
    proto.metadata_props.extend(others)
    proto.metadata_props.add(key=key, value=value)


def overwrite(ort_file: Path, key: str, value: bytes) -> None:
    """Writes `value` over that of the entry `key` in an ORT-format file, which has the same length."""
    place = _text_at(ort_file, key) + 4  # after its length
    with ort_file.open("r+b") as file:
        file.seek(place)
        file.write(value)


def replace(ort_file: Path, key: str, value: bytes) -> None:
    """Gives the entry `key` of an ORT-format file, which must have one, another value: the text goes to the end of the
    file, so that the weights stay where they are."""
    reference = _reference_at(ort_file, key)
    with ort_file.open("r+b") as file:
        start = file.seek(0, 2)
        start += file.write(bytes(-start % ALIGNMENT))
        text = struct.pack("<I", len(value)) + value + b"\0"
        file.write(text + bytes(-len(text) % ALIGNMENT))
        file.seek(reference)
        file.write(struct.pack("<I", start - reference))


def _text_at(ort_file: Path, key: str) -> int:
    """Offset of the text that is the entry's value; its length precedes it in four bytes."""
    reference = _reference_at(ort_file, key)
    with ort_file.open("rb") as file:
        file.seek(reference)
        (distance,) = struct.unpack("<I", file.read(4))
    return reference + int(distance)


def _reference_at(ort_file: Path, key: str) -> int:
    """Offset of the four bytes that lead to the entry's value."""
    fbs = flatbuffer_classes()
    with ort_file.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        model = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0).Model()
        entries = [model.MetadataProps(index) for index in range(model.MetadataPropsLength())]
        table: Any = next(entry._tab for entry in entries if entry.Key().decode() == key)
        reference: int = table.Pos + table.Offset(VALUE_SLOT)
        del model, entries, table  # they keep views of the map
    return reference
