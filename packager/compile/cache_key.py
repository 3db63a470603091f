"""Gives a file a key for CoreML's cache, so that a compiled model of another model or variant is never used for it.

The provider stores compiled models in a folder of the app, under the entry COREML_CACHE_KEY of a model's metadata:
letters and digits, 64 at most. Without one it uses the file's path, or the names of inputs and outputs if a model comes
from memory: both stay the same when a model changes, which the provider does not notice (coreml_provider_factory.h of
ONNX Runtime 1.29, ModelCacheDirectory).
"""

import hashlib
import mmap
from collections.abc import Sequence
from pathlib import Path

from packager.compile.canonical import flatbuffer_classes
from packager.files.hashes import sha256_of
from packager.graph.weights.whole import message

ENTRY = "COREML_CACHE_KEY"
ROOM = "0" * 64
"""Placeholder for the digits of the finished file."""
METADATA_PROPS, ENTRY_KEY, ENTRY_VALUE = 14, 1, 2
"""Field of ModelProto, and fields of StringStringEntryProto (onnx.proto)."""
VALUE_SLOT = 6
"""Offset of `value` in the vtable of StringStringEntry in ort.fbs, after that of `key`."""


def with_room(graph: bytes) -> bytes:
    """The serialized ModelProto `graph` with an entry for a key: files that are made from it get one."""
    return graph + _room()


def has_room(graph: bytes) -> bool:
    return graph.endswith(_room())


def write_key(path: Path, data_files: Sequence[Path] = ()) -> None:
    """Writes the key into the ORT-format or ONNX file at `path`, made from a graph with room for it.

    The key is the sha256 of the file with the placeholder, and for an ONNX file also of its data files: the same input
    gives the same key.
    """
    key = _key([path, *data_files])
    if path.suffix == ".ort":
        with path.open("r+b") as file:
            file.seek(_place(path))
            file.write(key.encode())
    else:
        _write_onnx(path, key)


def _room() -> bytes:
    """A serialized message to append: concatenated messages are merged (Protocol Buffers, "Encoding").

    Written without onnx, which the converter has no other use for.
    """
    entry = message(ENTRY_KEY, ENTRY.encode()) + message(ENTRY_VALUE, ROOM.encode())
    return message(METADATA_PROPS, entry)


def _key(files: Sequence[Path]) -> str:
    """64 hex digits; for one file, its sha256."""
    first, *others = map(sha256_of, files)
    return hashlib.sha256("".join([first, *others]).encode()).hexdigest() if others else first


def _place(path: Path) -> int:
    """Offset of the 64 characters in an ORT-format file."""
    fbs = flatbuffer_classes()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        model = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0).Model()
        entries = [model.MetadataProps(index) for index in range(model.MetadataPropsLength())]
        table = next(entry._tab for entry in entries if entry.Key().decode() == ENTRY)
        string: int = table.Indirect(table.Pos + table.Offset(VALUE_SLOT))
    return string + 4  # after its length


def _write_onnx(path: Path, key: str) -> None:
    import onnx

    proto = onnx.load(path, load_external_data=False)
    others = [entry for entry in proto.metadata_props if entry.key != ENTRY]
    del proto.metadata_props[:]
    proto.metadata_props.extend(others)
    proto.metadata_props.add(key=ENTRY, value=key)
    path.write_bytes(proto.SerializeToString(deterministic=True))
