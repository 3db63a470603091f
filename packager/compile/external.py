"""Writes a model as ONNX with its weights in files beside it, so that loading maps them instead of reading them.

Pages of a mapped file are loaded when a run first touches them and dropped when memory is short; weights inside a graph
are parsed, copied and stay.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.weights.places import (
    ALIGNMENT_BYTES,
    Place,
    chunks_of,
    refer,
    refuse_too_large,
    size_of,
    source_of,
    take_in,
)
from packager.models import weights

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

    from packager.core.decision import Inside

KEEP_INLINE_BYTES = 1024
"""Smaller tensors stay in the graph: shapes, axes and scales, which optimizers compute with."""

SHARD_BYTES = 1 << 30
"""Maximum size of a data file, unless one tensor alone is larger."""


@dataclass
class Shards:
    """The data files in progress, one after the other."""

    folder: Path
    stem: str
    paths: list[Path] = field(default_factory=list)
    size_bytes: int = 0
    """size of the last file"""
    copied: dict[Place, Place] = field(default_factory=dict)
    """source -> copy: tensors that share their bytes keep sharing them"""

    def copy(self, source: Place) -> Place:
        if source not in self.copied:
            self.copied[source] = self.append(chunks_of(source), source.length)
        return self.copied[source]

    def append(self, chunks: Iterator[bytes], length: int) -> Place:
        """Writes `chunks`, `length` bytes in all, at the next aligned offset."""
        padding = -self.size_bytes % ALIGNMENT_BYTES
        if not self.paths or self.size_bytes + padding + length > SHARD_BYTES:
            self.paths.append(self.folder / f"{self.stem}-{len(self.paths) + 1}.weights")
            self.size_bytes = padding = 0
        place = Place(self.paths[-1], self.size_bytes + padding, length)
        with place.path.open("ab" if place.offset else "wb") as file:
            file.write(bytes(padding))
            file.writelines(chunks)
        self.size_bytes = place.offset + length
        return place


def write_external(
    graph: bytes, data_folder: Path, folder: Path, stem: str, *, inside: "Inside" = "nothing"
) -> tuple[Path, tuple[Path, ...]]:
    """Writes `graph` to `folder` as `<stem>.onnx` and its large weights as `<stem>-1.weights`, `<stem>-2.weights` ...

    `graph` is a serialized ModelProto; its external references are relative to `data_folder`. Weights are copied in
    chunks: memory does not grow with them. Tensors named by `inside` stay in the graph. The same input gives the same
    bytes. Raises ModelError for a tensor or a graph of 2 GiB and more, and for data that end too early.
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
    refuse_too_large(proto.ByteSize(), f"the graph of '{stem}', without its large weights,")
    path = folder / f"{stem}.onnx"
    path.write_bytes(proto.SerializeToString(deterministic=True))
    return path, tuple(shards.paths)


def _is_large(tensor: "TensorProto") -> bool:
    """Whether `tensor` can be mapped and is large enough for it."""
    is_raw = tensor.data_location == tensor.EXTERNAL or tensor.HasField("raw_data")
    return is_raw and size_of(tensor) >= KEEP_INLINE_BYTES


def _move_out(tensor: "TensorProto", data_folder: Path, shards: Shards) -> None:
    """Copies the data of `tensor` to a data file and makes it a reference to them."""
    length = size_of(tensor)
    refuse_too_large(length, f"tensor '{tensor.name}'")
    if tensor.HasField("raw_data"):
        place = shards.append(iter([tensor.raw_data]), length)
    else:
        place = shards.copy(source_of(tensor, data_folder))
    refer(tensor, place)


def names_inside(proto: "ModelProto", inside: "Inside") -> set[str]:
    """The initializers that `inside` selects."""
    tensors = [tensor for graph in traversal.all_graphs(proto) for tensor in graph.initializer]
    conversions = [
        node for node in traversal.all_nodes(proto) if node.op_type in ("QuantizeLinear", "DequantizeLinear")
    ]
    converted = {node.input[0] for node in conversions}
    parameters = {name for node in conversions for name in node.input[1:]}
    return {
        tensor.name
        for tensor in tensors
        if inside == "weights"
        or (inside == "parameters" and tensor.name in converted and tensor.data_type == tensor.INT32)
        or (inside == "parameters" and tensor.name in parameters and len(tensor.dims) <= 1)  # blockwise ones are large
    }
