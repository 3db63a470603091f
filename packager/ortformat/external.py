"""Writes a model as ONNX with its weights in files beside it, so that loading maps them instead of reading them.

Pages of a mapped file come in when a run first touches them and go again when memory is short; weights inside a graph
are parsed, copied and stay.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packager import walk
from packager.errors import ModelError
from packager.models import weights

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

KEEP_INLINE_BYTES = 1024
"""Smaller tensors stay in the graph: shapes, axes and scales, which optimizers compute with."""

SHARD_BYTES = 1 << 30
"""A data file ends before it grows beyond this, unless one tensor alone is larger."""

LARGEST_BYTES = 2**31 - 1
"""of a data file, because a Java buffer maps no more; of a serialized graph, because protobuf reads no more"""

ALIGNMENT_BYTES = 64
"""A cache line, and enough for every vector load. ONNX Runtime maps a tensor from the start of the page it begins in
(PosixEnv::MapFileIntoMemory), so none needs a page of its own; and in an .apk, whose entries start at multiples of
4 bytes, the alignment of a page would be lost anyway."""

PIECE_BYTES = 1 << 20

Inside = Literal["nothing", "parameters", "weights"]
"""What stays in the graph itself, however large: scales, zero points and biases of quantized operators, or all."""


@dataclass(frozen=True)
class Place:
    """Where the bytes of a tensor lie."""

    path: Path
    offset: int
    length: int


@dataclass
class Shards:
    """The data files that are being written, one after the other."""

    folder: Path
    stem: str
    paths: list[Path] = field(default_factory=list)
    size_bytes: int = 0
    """of the last one"""
    copied: dict[Place, Place] = field(default_factory=dict)
    """source -> copy: tensors that share their bytes go on doing so"""

    def copy(self, source: Place) -> Place:
        if source not in self.copied:
            self.copied[source] = self.append(pieces_of(source), source.length)
        return self.copied[source]

    def append(self, pieces: Iterator[bytes], length: int) -> Place:
        """Writes `pieces`, `length` bytes in all, at the next aligned offset."""
        padding = -self.size_bytes % ALIGNMENT_BYTES
        if not self.paths or self.size_bytes + padding + length > SHARD_BYTES:
            self.paths.append(self.folder / f"{self.stem}-{len(self.paths) + 1}.weights")
            self.size_bytes = padding = 0
        place = Place(self.paths[-1], self.size_bytes + padding, length)
        with place.path.open("ab" if place.offset else "wb") as file:
            file.write(bytes(padding))
            file.writelines(pieces)
        self.size_bytes = place.offset + length
        return place


def write_external(
    graph: bytes, data_folder: Path, folder: Path, stem: str, *, inside: Inside = "nothing"
) -> tuple[Path, tuple[Path, ...]]:
    """Writes `graph` to `folder` as `<stem>.onnx` and its large weights as `<stem>-1.weights`, `<stem>-2.weights` ...

    `graph` is a serialized ModelProto; its external references are relative to `data_folder`. Weights are copied in
    pieces: memory does not grow with them. What is to be `inside` stays in the graph. The same input gives the same
    bytes. Raises ModelError for a tensor or a graph of 2 GiB and more, and for data that ends too early.
    """
    import onnx

    proto = onnx.ModelProto.FromString(graph)
    kept = names_inside(proto, inside)
    large = [tensor for tensor in proto.graph.initializer if _is_large(tensor) and tensor.name not in kept]
    moving = {id(tensor) for tensor in large}
    for tensor in weights.external_tensors(proto):
        if id(tensor) not in moving:
            take_in(tensor, data_folder)
    shards = Shards(folder, stem)
    for tensor in large:
        _move_out(tensor, data_folder, shards)
    _refuse_too_large(proto.ByteSize(), f"the graph of '{stem}', without its large weights,")
    path = folder / f"{stem}.onnx"
    path.write_bytes(proto.SerializeToString(deterministic=True))
    return path, tuple(shards.paths)


def _is_large(tensor: "TensorProto") -> bool:
    """Of a kind that can be mapped, and worth it."""
    is_raw = tensor.data_location == tensor.EXTERNAL or tensor.HasField("raw_data")
    return is_raw and weights.size_of(tensor) >= KEEP_INLINE_BYTES


def _move_out(tensor: "TensorProto", data_folder: Path, shards: Shards) -> None:
    """Copies the data of `tensor` to a data file and makes it a reference to there."""
    length = weights.size_of(tensor)
    _refuse_too_large(length, f"tensor '{tensor.name}'")
    if tensor.HasField("raw_data"):
        place = shards.append(iter([tensor.raw_data]), length)
    else:
        place = shards.copy(source_of(tensor, data_folder))
    refer(tensor, place)


def refer(tensor: "TensorProto", place: Place) -> None:
    """Makes `tensor` a reference to `place`, in a file beside its model."""
    tensor.ClearField("raw_data")
    del tensor.external_data[:]
    for key, value in (("location", place.path.name), ("offset", str(place.offset)), ("length", str(place.length))):
        tensor.external_data.add(key=key, value=value)
    tensor.data_location = tensor.EXTERNAL


def names_inside(proto: "ModelProto", inside: Inside) -> set[str]:
    """The initializers that `inside` means."""
    tensors = [tensor for graph in walk.all_graphs(proto) for tensor in graph.initializer]
    conversions = [node for node in walk.all_nodes(proto) if node.op_type in ("QuantizeLinear", "DequantizeLinear")]
    converted = {node.input[0] for node in conversions}
    parameters = {name for node in conversions for name in node.input[1:]}
    return {
        tensor.name
        for tensor in tensors
        if inside == "weights"
        or (inside == "parameters" and tensor.name in converted and tensor.data_type == tensor.INT32)
        or (inside == "parameters" and tensor.name in parameters and len(tensor.dims) <= 1)  # those of blocks are many
    }


def take_in(tensor: "TensorProto", data_folder: Path) -> None:
    """Reads the data of `tensor` into the graph: small, or of a subgraph, where runtimes do not look for files."""
    source = source_of(tensor, data_folder)
    _refuse_too_large(source.length, f"tensor '{tensor.name}'")
    tensor.raw_data = b"".join(pieces_of(source))
    del tensor.external_data[:]
    tensor.ClearField("data_location")


def source_of(tensor: "TensorProto", data_folder: Path) -> Place:
    """Where the data of an external tensor lie."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    offset, length = int(entries.get("offset", 0)), int(entries.get("length", weights.size_of(tensor)))
    return Place(data_folder / entries["location"], offset, length)


def pieces_of(source: Place) -> Iterator[bytes]:
    """The bytes that lie there. Raises ModelError when there are fewer."""
    with source.path.open("rb") as file:
        file.seek(source.offset)
        left = source.length
        while left:
            piece = file.read(min(left, PIECE_BYTES))
            if not piece:
                raise ModelError(
                    f"{source.path}: the last {left:,} bytes of a tensor are missing",
                    hint="the file was changed while it was read: run again",
                )
            left -= len(piece)
            yield piece


def _refuse_too_large(size_bytes: int, what: str) -> None:
    if size_bytes > LARGEST_BYTES:
        raise ModelError(
            f"{what} has {size_bytes:,} bytes: an app maps less than 2 GiB at once",
            hint="split the tensor in the graph, or ship a variant with smaller weights",
        )
