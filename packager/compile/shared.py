"""Lets an ONNX file use the weights of an ORT-format file: two graphs of a model, and its weights once.

Most tensors have the same bytes in a graph that was fused for the CPU and in one that was not. External data of an ONNX
tensor are a file, an offset and a length, and the file may be the `.ort` beside it.
"""

import mmap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from packager.compile import inserted_casts
from packager.compile.canonical import flatbuffer_classes
from packager.compile.external import names_inside
from packager.graph.rewriting.finishing import external_tensors
from packager.graph.rewriting.lifting import lift
from packager.graph.traversal import all_graphs
from packager.graph.weights.places import ALIGNMENT_BYTES, CHUNK_BYTES, Place, chunks_of, refer, source_of, take_in

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

    from packager.core.decision import Inside

LARGE_BYTES = 1024
"""The size in converter.EXTERNAL_ENTRIES. Smaller tensors stay in the graph."""


def share(onnx_file: Path, ort_file: Path | None, output: Path, *, inside: "Inside" = "nothing") -> Path | None:
    """Writes the ONNX file again to `output`, with external data in `ort_file` for all bytes that it contains.

    `ort_file`, if any, must lie beside `output`. Other data go to a file `<stem>.weights` there, which is returned;
    None if there are none. Tensors named by `inside` go into the graph.
    """
    import onnx

    proto = onnx.load(onnx_file, load_external_data=False)
    if not all(is_main for _, is_main in external_tensors(proto)):
        lift(proto, onnx_file.parent)
    tensors = [
        tensor for graph in all_graphs(proto) for tensor in graph.initializer if tensor.data_location == tensor.EXTERNAL
    ]
    kept = names_inside(proto, inside)
    for tensor in tensors:
        if tensor.name in kept:
            take_in(tensor, onnx_file.parent)
    tensors = [tensor for tensor in tensors if tensor.data_location == tensor.EXTERNAL]
    rest = output.with_suffix(".weights")
    left_over = []
    with ExitStack() as opened:
        weights = opened.enter_context(_weights_of(ort_file)) if ort_file else None
        sources: dict[Path, BinaryIO] = {}
        for tensor in tensors:
            source = source_of(tensor, onnx_file.parent)
            if source.path not in sources:
                sources[source.path] = opened.enter_context(source.path.open("rb"))
            found = weights.find(sources[source.path], source) if weights else None
            if found:
                refer(tensor, found)
            else:
                left_over.append((tensor, source))
    _write_rest(left_over, rest)
    inserted_casts.rename(proto)
    _sort_opsets(proto)
    output.write_bytes(proto.SerializeToString(deterministic=True))
    return rest if left_over else None


@dataclass(frozen=True)
class _Weights:
    """The large tensors of an ORT-format file."""

    path: Path
    file: BinaryIO
    offsets: Mapping[int, list[int]]
    """length in bytes -> offsets of tensors of that length"""

    def find(self, file: BinaryIO, source: Place) -> Place | None:
        """Location of the bytes at `source` in this file, if it contains them; `file` is the open source."""
        for offset in self.offsets.get(source.length, ()):
            if _are_same(self.file, offset, file, source.offset, source.length):
                return Place(self.path, offset, source.length)
        return None


@contextmanager
def _weights_of(ort_file: Path) -> Iterator[_Weights]:
    fbs = flatbuffer_classes()
    offsets: dict[int, list[int]] = {}
    with ort_file.open("rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            session = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0)
            for offset, length in _raw_data(session.Model().Graph()):
                offsets.setdefault(length, []).append(offset)
            del session
        yield _Weights(ort_file, file, offsets)


def _are_same(one: BinaryIO, start: int, other: BinaryIO, begin: int, length: int) -> bool:
    """Compares two byte ranges by reading: mapped pages count as memory. Most tensors differ early, so the first read
    is short."""
    at, step = 0, LARGE_BYTES
    while at < length:
        size = min(step, length - at)
        one.seek(start + at)
        other.seek(begin + at)
        if one.read(size) != other.read(size):
            return False
        at, step = at + size, CHUNK_BYTES
    return True


def _raw_data(graph: Any) -> "list[tuple[int, int]]":
    """Offset and length of the bytes of every large initializer, including those of branches and bodies; field 4 of
    table Tensor in ort.fbs is `raw_data`."""
    places = []
    for index in range(graph.InitializersLength()):
        tensor = graph.Initializers(index)
        if tensor.RawDataLength() >= LARGE_BYTES:
            table = tensor._tab
            places.append((table.Vector(table.Offset(4 + 2 * RAW_DATA_FIELD)), tensor.RawDataLength()))
    for node in (graph.Nodes(index) for index in range(graph.NodesLength())):
        if node.OpType() in WITH_GRAPHS:
            attributes = (node.Attributes(index) for index in range(node.AttributesLength()))
            places += [place for each in attributes if (inner := each.G()) for place in _raw_data(inner)]
    return places


WITH_GRAPHS = (b"If", b"Loop", b"Scan")
"""Operators with branches and bodies as attributes."""
RAW_DATA_FIELD = 4
"""Index of `raw_data` in table Tensor of ort.fbs, after name, doc_string, dims and data_type."""


def _write_rest(tensors: "list[tuple[TensorProto, Place]]", path: Path) -> None:
    if not tensors:
        return
    with path.open("wb") as out:
        for tensor, source in tensors:
            out.write(bytes(-out.tell() % ALIGNMENT_BYTES))
            refer(tensor, Place(path, out.tell(), source.length))
            out.writelines(chunks_of(source))


def _sort_opsets(proto: "ModelProto") -> None:
    """Sorts the imported domains, which ONNX Runtime writes in the order of a hash map."""
    entries = sorted((entry.domain, entry.version) for entry in proto.opset_import)
    del proto.opset_import[:]
    for domain, version in entries:
        proto.opset_import.add(domain=domain, version=version)
