"""Moves weights in files from branches, loop bodies and Constant nodes to the main graph.

ONNX Runtime runs ONNX's checker on branches and bodies: it refuses files with several hard links (as model hubs and
package stores make them) and symbolic links, and it cannot compute shapes with data in a file. None of this applies to
the main graph's constants, which branches and bodies may use as well.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.names import free_name
from packager.graph.rewriting.finishing import FIRST_WITH_OWN_INITIALIZERS, external_tensors
from packager.graph.weights.places import source_of, take_in

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

KEEP_INLINE_BYTES = 1024
"""Smaller tensors are shapes, axes and the like, which shape inference computes with."""


def settle(proto: "ModelProto", data_folder: Path) -> None:
    """Reads small tensors whose data lie in a file into the graph, and lifts the others. Raises like `lift`."""
    outside = list(external_tensors(proto))
    for tensor, _ in outside:
        if source_of(tensor, data_folder).length < KEEP_INLINE_BYTES:
            take_in(tensor, data_folder)
    if not all(is_main for tensor, is_main in outside if _is_external(tensor)):
        lift(proto, data_folder)


def lift(proto: "ModelProto", data_folder: Path) -> None:
    """Makes every tensor whose data lie in a file a constant of the main graph.

    Tensors that cannot be moved are read into the graph: constants of functions, and those that a branch or a body
    returns or takes as defaults. Raises ModelError for one of 2 GiB and more.
    """
    if proto.ir_version >= FIRST_WITH_OWN_INITIALIZERS:
        _Lifting(proto.graph, Counter(_defined(proto))).constants(proto.graph)
    for tensor in [tensor for tensor, is_main in external_tensors(proto) if not is_main]:
        take_in(tensor, data_folder)


def _defined(proto: "ModelProto") -> Iterator[str]:
    """The name of every value of every graph, once for each definition."""
    for graph in traversal.all_graphs(proto):
        constants = {tensor.name for tensor in graph.initializer}
        yield from constants | {value.name for value in graph.input}
    for node in traversal.all_nodes(proto):
        yield from node.output


@dataclass(frozen=True)
class _Lifting:
    main: "GraphProto"
    names: Counter[str]

    def constants(self, graph: "GraphProto") -> None:
        """Moves those of `graph` and of the graphs in it; outputs and defaults of `graph` stay."""
        bound = {value.name for value in (*graph.input, *graph.output)}
        if graph is not self.main:
            for tensor in [each for each in graph.initializer if _is_external(each) and each.name not in bound]:
                self._move(tensor, tensor.name, graph)
                graph.initializer.remove(tensor)
        for node in [each for each in graph.node if _is_external_constant(each) and each.output[0] not in bound]:
            self._move(node.attribute[0].t, node.output[0], graph)
            graph.node.remove(node)
        for node in graph.node:
            for body in traversal.subgraphs(node):
                self.constants(body)

    def _move(self, tensor: "TensorProto", name: str, graph: "GraphProto") -> None:
        """Moves `tensor`, called `name` in `graph`, to the main graph, under another name if that is taken."""
        free = name if self.names[name] == 1 else free_name(name, self.names, first=1)
        self.names[free] = 1
        moved = self.main.initializer.add()
        moved.CopyFrom(tensor)
        moved.name = free
        if free != name:
            _rename(graph, name, free)


def _is_external(tensor: "TensorProto") -> bool:
    return tensor.data_location == tensor.EXTERNAL


def _is_external_constant(node: "NodeProto") -> bool:
    is_constant = node.op_type == "Constant" and node.domain in ("", "ai.onnx") and len(node.attribute) == 1
    return is_constant and node.attribute[0].HasField("t") and _is_external(node.attribute[0].t)


def _rename(graph: "GraphProto", name: str, new: str) -> None:
    """Makes every node of `graph` take `new` for `name`, including those in subgraphs that do not redefine it."""
    for node in graph.node:
        node.input[:] = [new if each == name else each for each in node.input]
        for body in traversal.subgraphs(node):
            if name not in _own_names(body):
                _rename(body, name, new)


def _own_names(graph: "GraphProto") -> set[str]:
    given = {value.name for value in (*graph.input, *graph.initializer)}
    return given | {name for node in graph.node for name in node.output}
