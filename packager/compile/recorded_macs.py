"""Writes into a file how many MACs each of its nodes has, so that an app can say what share each provider runs.

Apps read the entry from the metadata of a session and add up the nodes that ONNX Runtime reports for each provider
(Session_GetEpGraphAssignmentInfo). Measured with 1.31.1: of an ORT-format file it reports no node at all. Of an ONNX
file it reports a node by its name in the file, or with an ending: `NAME_token_5` where a provider wants another layout
(XNNPACK, WebGPU, QNN; layout_transformation.cc), `NAME/MatMulAddFusion` where a graph that was not rewritten before it
shipped is at load.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from packager.compile import metadata
from packager.compile.reader import read_graph as read_ort
from packager.graph import traversal
from packager.graph.macs import COUNTERS, macs
from packager.models.graphs import read_graph as read_onnx
from packager.models.skeleton import read_skeleton

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

ENTRY = "mobpack.macs"
"""Key of the entry: a line `<MACs> <name of the node>` for each node that has any."""


def with_room(graph: bytes) -> bytes:
    """The serialized ModelProto `graph` with an empty entry: ORT-format files that are made from it can get one."""
    return metadata.serialized(ENTRY, "") + graph


def write_macs(path: Path) -> None:
    """Writes the entry into the ORT-format or ONNX file at `path`; an ORT-format file must have been made from a graph
    with room for it."""
    if path.suffix == ".ort":
        metadata.replace(path, ENTRY, lines(macs(read_ort(path))).encode())
    else:
        _write_onnx(path)


def write_macs_of_context(path: Path, graph: bytes) -> None:
    """Writes the entry into the ONNX file at `path`, which was compiled from `graph` for one chip. The first partition
    gets all MACs that are not left: the file does not say which nodes became which partition."""
    import onnx

    proto = onnx.load(path)
    left = macs(read_onnx(path.read_bytes()))
    first = next(node.name for node in proto.graph.node if node.op_type == "EPContext")
    taken = sum(macs(read_onnx(graph)).values()) - sum(left.values())
    metadata.set_entry(proto, ENTRY, lines({**left, first: taken}))
    path.write_bytes(proto.SerializeToString(deterministic=True))


def lines(counted: Mapping[str, int]) -> str:
    """The value of the entry: sorted, without nodes whose names would break a line."""
    return "\n".join(f"{count} {name}" for name, count in sorted(counted.items()) if "\n" not in name)


def _write_onnx(path: Path) -> None:
    import onnx

    proto = onnx.load(path, load_external_data=False)
    if name_nodes(proto):
        path.write_bytes(proto.SerializeToString(deterministic=True))
    metadata.set_entry(proto, ENTRY, lines(macs(read_onnx(read_skeleton(path)))))
    path.write_bytes(proto.SerializeToString(deterministic=True))


def name_nodes(proto: "ModelProto") -> bool:
    """Names unnamed nodes that may have MACs, as ONNX Runtime refuses two nodes of one name. Returns whether there were
    any."""
    taken = {node.name for node in proto.graph.node}
    nameless = [node for node in proto.graph.node if not node.name and _may_count(node)]
    for node in nameless:
        node.name = next(name for name in _names(node) if name not in taken)
        taken.add(node.name)
    return bool(nameless)


def _may_count(node: "NodeProto") -> bool:
    return node.op_type in COUNTERS or any(True for _ in traversal.subgraphs(node))


def _names(node: "NodeProto") -> Iterator[str]:
    """Names for `node`: that of its first output, which no other node makes, then numbered ones."""
    first = next((name for name in node.output if name), node.op_type)
    yield first
    number = 2
    while True:
        yield f"{first}_{number}"
        number += 1
