"""Removes the casts that ONNX Runtime inserts around nodes for which its CPU has no kernel in 16 bits.

It inserts them whenever a session is made, so a file that was saved from one contains them. Providers that compute in
16 bits (CoreML, QNN, WebGPU) would convert to 32 bits and back for nothing; on the phone, the CPU gets its own casts at
load.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from packager.graph.traversal import all_graphs, all_nodes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

INSERTED = "InsertedPrecisionFreeCast_"
"""Prefix of such casts, and of the values between them and their node (insert_cast_transformer.cc)."""


def remove(onnx_file: Path, output: Path) -> bool:
    """Writes the ONNX file to `output`, in the same folder, without inserted casts; returns False, and writes nothing,
    if there are none."""
    import onnx

    proto = onnx.load(onnx_file, load_external_data=False)
    if not any(map(_is_inserted, all_nodes(proto))):
        return False
    names = _joined(proto)
    for graph in all_graphs(proto):
        _remove(graph, names)
    output.write_bytes(proto.SerializeToString(deterministic=True))
    return True


def _is_inserted(node: "NodeProto") -> bool:
    return bool(node.op_type == "Cast" and node.name.startswith(INSERTED))


def _joined(proto: "ModelProto") -> dict[str, str]:
    """Value that an inserted cast made or was made for -> the model's own value on the cast's other side."""
    names = {}
    for node in filter(_is_inserted, all_nodes(proto)):
        (before,), (behind,) = node.input, node.output
        inserted, own = (before, behind) if before.startswith(INSERTED) else (behind, before)
        names[inserted] = own
    return names


def _remove(graph: "GraphProto", names: Mapping[str, str]) -> None:
    nodes = [node for node in graph.node if not _is_inserted(node)]
    del graph.node[:]
    graph.node.extend(nodes)
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    values = [value for value in graph.value_info if value.name not in names]
    del graph.value_info[:]
    graph.value_info.extend(values)


def rename(proto: "ModelProto") -> None:
    """Renames the inserted casts and their values: a runtime that inserts casts, too, would define the same name
    twice."""
    for node in all_nodes(proto):
        for names in (node.input, node.output):
            names[:] = [name.replace(INSERTED, "Cast_") for name in names]
    for graph in all_graphs(proto):
        for value in graph.value_info:
            value.name = value.name.replace(INSERTED, "Cast_")
