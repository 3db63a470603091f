"""Gives a file a key for CoreML's cache, so that a compiled model of another model or variant is never used for it.

The provider stores compiled models in a folder of the app, under the entry COREML_CACHE_KEY of a model's metadata:
letters and digits, 64 at most. Without one it uses the file's path, or the names of inputs and outputs if a model comes
from memory: both stay the same when a model changes, which the provider does not notice (coreml_provider_factory.h of
ONNX Runtime 1.29, ModelCacheDirectory).
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from packager.compile import metadata
from packager.files.hashes import sha256_of

ENTRY = "COREML_CACHE_KEY"
ROOM = "0" * 64
"""Placeholder for the digits of the finished file."""


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
        metadata.overwrite(path, ENTRY, key.encode())
    else:
        _write_onnx(path, key)


def _room() -> bytes:
    return metadata.serialized(ENTRY, ROOM)


def _key(files: Sequence[Path]) -> str:
    """64 hex digits; for one file, its sha256."""
    first, *others = map(sha256_of, files)
    return hashlib.sha256("".join([first, *others]).encode()).hexdigest() if others else first


def _write_onnx(path: Path, key: str) -> None:
    import onnx

    proto = onnx.load(path, load_external_data=False)
    metadata.set_entry(proto, ENTRY, key)
    path.write_bytes(proto.SerializeToString(deterministic=True))
