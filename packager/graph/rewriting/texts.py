"""Finds the nodes that make tokens of texts, for providers that are told which nodes to leave to the CPU.

Most values of a tokenizer are 64-bit integers, which a graphics processor has no kernels for. It would take the others:
a few nodes here and there, between which every value is copied from the CPU and back.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from packager.core.contract import ADDED
from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

CHOSEN = frozenset({"Where"})
"""operators whose first input says nothing about the type of the values that they compute"""


def tokenizing_nodes(model: "ModelProto", texts: Collection[str]) -> Iterator[str]:
    """Names of the nodes that a contract has added, that follow from `texts`, names of inputs with code points, and
    whose values are not 64 bits wide, in order: those of their branches and loops, too."""
    import onnx

    if not texts:
        return
    described = onnx.shape_inference.infer_shapes(model).graph
    made = list(_following(described, texts))
    yield from _narrow(made, _types(described))


def _following(graph: "GraphProto", texts: Collection[str]) -> "Iterator[NodeProto]":
    """The added nodes before the model: what they give it has the model's own names, and ends the search."""
    known = set(texts)
    for node in graph.node:
        if node.name.startswith(ADDED) and not known.isdisjoint(traversal.taken_by(node)):
            known |= {name for name in node.output if name.startswith(ADDED)}
            yield node


def _narrow(nodes: "Iterable[NodeProto]", types: Mapping[str, int]) -> Iterator[str]:
    from onnx import TensorProto

    for node in nodes:
        computed = node.input[1 if node.op_type in CHOSEN else 0] if node.input else ""
        if node.name.startswith(ADDED) and types.get(computed) not in (TensorProto.INT64, TensorProto.DOUBLE):
            yield node.name
        for graph in traversal.subgraphs(node):
            yield from _narrow(graph.node, {**types, **_types(graph)})


def _types(graph: "GraphProto") -> Mapping[str, int]:
    """Element types by value."""
    described = {
        value.name: value.type.tensor_type.elem_type for value in (*graph.input, *graph.value_info, *graph.output)
    }
    return {**described, **{tensor.name: tensor.data_type for tensor in graph.initializer}}
