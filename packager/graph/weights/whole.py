"""Writes a model with external weights: as one file that contains them, or as two.

Weights never pass through protobuf: the messages around them are serialized, and their bytes are copied in between
(protobuf.dev/programming-guides/encoding). The result is the file that serializing the whole model would give.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.graph.weights.places import LARGEST_BYTES, Place, refer, source_of, take_in
from packager.graph.weights.writing import WeightFile, copy_bytes

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

LENGTH_DELIMITED = 2
"""Wire type of messages and bytes."""

CARRIERS = frozenset({"GraphProto", "NodeProto", "AttributeProto", "TensorProto", "SparseTensorProto", "FunctionProto"})
"""Messages of onnx.proto that are tensors or may contain some."""

Part = bytes | Place


def write_whole(proto: "ModelProto", data_folder: Path, file: IO[bytes]) -> None:
    """Writes `proto` to `file` with the data of all external tensors inside; they are relative to `data_folder`.

    Raises ModelError for 2 GiB and more, before anything is written: `write_beside` has no such limit.
    """
    parts = _parts(proto, data_folder)
    size_bytes = sum(map(_size_of, parts))
    if size_bytes > LARGEST_BYTES:
        raise ModelError(
            f"the model with its weights has {size_bytes:,} bytes: an ONNX file has less than 2 GiB",
            hint="write the weights to a file beside it",
        )
    for part in parts:
        if isinstance(part, bytes):
            file.write(part)
        else:
            copy_bytes(part, file)


def whole_bytes(proto: "ModelProto", data_folder: Path) -> int:
    """Size of the file that `write_whole` writes."""
    return sum(map(_size_of, _parts(proto, data_folder)))


def write_beside(proto: "ModelProto", data_folder: Path, path: Path) -> tuple[Path, ...]:
    """Writes `proto` to `path` and its external data to `<path>.data`; returns the files, the second only if there are
    such data. Runtimes read files only for initializers of the main graph: other external data go into the graph."""
    rest = type(proto)()
    rest.CopyFrom(proto)
    data = WeightFile(path.with_name(f"{path.name}.data"))
    outer = [tensor for tensor in rest.graph.initializer if _is_external(tensor)]
    for tensor in outer:
        refer(tensor, data.copy(source_of(tensor, data_folder)))
    moved = {id(tensor) for tensor in outer}
    for tensor in _external_tensors(rest):
        if id(tensor) not in moved:
            take_in(tensor, data_folder)
    path.write_bytes(rest.SerializeToString(deterministic=True))
    return (path, data.path) if outer else (path,)


def _parts(message: Any, data_folder: Path) -> list[Part]:
    """The serialized `message`: one byte string, or byte strings with the locations of weights in between."""
    if message.DESCRIPTOR.name == "TensorProto" and _is_external(message):
        return list(_tensor_parts(message, data_folder))
    inner = {field.name: [_parts(child, data_folder) for child in children] for field, children in _carriers(message)}
    if all(isinstance(part, bytes) for children in inner.values() for parts in children for part in parts):
        return [message.SerializeToString(deterministic=True)]
    parts: list[Part] = []
    for field, value in message.ListFields():  # in the order of their numbers, like protobuf
        if field.name not in inner:
            parts.append(_alone(message, field.name, value))
        for child in inner.get(field.name, ()):
            parts += [_prefix(field.number, sum(map(_size_of, child))), *child]
    return parts


def _tensor_parts(tensor: "TensorProto", data_folder: Path) -> Iterator[Part]:
    """An external tensor, serialized with its data inside."""
    place = source_of(tensor, data_folder)
    header = type(tensor)()
    header.CopyFrom(tensor)
    header.raw_data = b""  # keeps its position among the fields
    header.ClearField("external_data")
    header.ClearField("data_location")
    for field, value in header.ListFields():
        if field.name == "raw_data":
            yield _prefix(field.number, place.length)
            yield place
        else:
            yield _alone(header, field.name, value)


def _carriers(message: Any) -> Iterator[tuple[Any, list[Any]]]:
    """The fields of `message` that contain or may contain tensors, with their values."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.name in CARRIERS:
            yield field, [value] if hasattr(value, "ListFields") else list(value)


def _external_tensors(message: Any) -> "Iterator[TensorProto]":
    """Every external tensor in `message`, at any depth."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield from [message] if _is_external(message) else []
    for _, children in _carriers(message):
        for child in children:
            yield from _external_tensors(child)


def _is_external(tensor: "TensorProto") -> bool:
    return tensor.data_location == tensor.EXTERNAL


def _alone(message: Any, name: str, value: Any) -> bytes:
    """One field of `message`, serialized."""
    content: bytes = type(message)(**{name: value}).SerializeToString(deterministic=True)
    return content


def _prefix(number: int, size_bytes: int) -> bytes:
    """The header of a bytes or message field of `size_bytes`."""
    return varint(number << 3 | LENGTH_DELIMITED) + varint(size_bytes)


def message(number: int, content: bytes | bytearray) -> bytes:
    """A field of bytes, text or a message."""
    return _prefix(number, len(content)) + bytes(content)


def varint(number: int) -> bytes:
    """Base 128, least significant group first; all bytes but the last have their highest bit set."""
    content = bytearray()
    while number > 127:
        content.append(number & 127 | 128)
        number >>= 7
    return bytes(content) + bytes([number])


def _size_of(part: Part) -> int:
    return len(part) if isinstance(part, bytes) else part.length
