"""Names of a model's values and nodes, and how a new one is found beside them."""

from collections.abc import Container
from itertools import count
from typing import TYPE_CHECKING

from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import ModelProto


def all_names(proto: "ModelProto") -> set[str]:
    """Every name of the model: a name used in a subgraph must not be reused outside of it either."""
    names = {name for node in traversal.all_nodes(proto) for name in (node.name, *node.input, *node.output)}
    for graph in traversal.all_graphs(proto):
        names |= {each.name for each in (*graph.input, *graph.output, *graph.value_info, *graph.initializer)}
    return names


def free_name(name: str, taken: Container[str], *, first: int = 2) -> str:
    """`name`, or with a number appended, from `first` on, if it is one of `taken`."""
    numbers = (f"{name}_{number}" for number in count(first))
    return next(each for each in numbers if each not in taken) if name in taken else name
