"""Repairs branches and bodies: gives those without nodes their inputs and outputs back, which ONNX Runtime loses.

Constant folding leaves such graphs, whose outputs are constants. ONNX Runtime, up to 1.31 at least, runs them from an
ORT-format file, but drops their inputs and outputs when it writes that file as ONNX: it collects those of nodes.
"""

import mmap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

GRAPH, GRAPHS = 5, 10
"""AttributeType of ort.fbs."""


def restore_ends(proto: "ModelProto", ort: Path) -> bool:
    """Completes `proto`, which ONNX Runtime wrote from the ORT-format file `ort`; False if nothing was missing."""
    if all(graph.output for graph in traversal.all_graphs(proto)):
        return False
    import_module("onnxruntime.tools.ort_format_model")  # puts ort_flatbuffers_py on sys.path
    session = import_module("ort_flatbuffers_py.fbs.InferenceSession").InferenceSession
    with ort.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        model = session.GetRootAsInferenceSession(content, 0).Model()
        _restore(proto.graph, model.Graph())
        del model  # it keeps views of the map
    return True


def _restore(graph: "GraphProto", table: Any) -> None:
    if not graph.output:
        constants = {tensor.name for tensor in graph.initializer}
        inputs = [table.Inputs(index).decode() for index in range(table.InputsLength())]
        del graph.input[:]
        for name in inputs:
            if name not in constants:
                graph.input.add(name=name)
        for index in range(table.OutputsLength()):
            graph.output.add(name=table.Outputs(index).decode())
    known = dict(_subgraphs(table))
    for node in graph.node:
        for attribute in node.attribute or ():
            inner = [attribute.g] if attribute.HasField("g") else attribute.graphs
            for each, other in zip(inner, known.get((*node.output, attribute.name), []), strict=False):
                _restore(each, other)


def _subgraphs(table: Any) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Outputs of a node and the name of an attribute -> the graphs in it."""
    for index in range(table.NodesLength()):
        node = table.Nodes(index)
        outputs = [node.Outputs(place).decode() for place in range(node.OutputsLength())]
        for place in range(node.AttributesLength()):
            attribute = node.Attributes(place)
            key = (*outputs, attribute.Name().decode())
            if attribute.Type() == GRAPH:
                yield key, [attribute.G()]
            elif attribute.Type() == GRAPHS:
                yield key, [attribute.Graphs(number) for number in range(attribute.GraphsLength())]


def move_constants(proto: "ModelProto") -> None:
    """Turns the constants of branches in functions into nodes: ONNX's inliner, up to 1.23 at least, gives the outputs
    of a branch new names, but not the constants that they are."""
    from onnx import helper

    for function in proto.functions:
        for node in traversal.nodes_in(function.node):
            for graph in traversal.subgraphs(node) if node.attribute else ():
                nodes = [helper.make_node("Constant", [], [each.name], value=each) for each in graph.initializer]
                nodes += [type(each).FromString(each.SerializeToString()) for each in graph.node if nodes]
                if nodes:
                    del graph.initializer[:], graph.node[:]
                    graph.node.extend(nodes)
