"""Counts the nodes of a model after inlining all calls of the functions that it defines."""

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ModelError
from packager.graph import traversal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import FunctionProto, ModelProto, NodeProto

LIMIT = 1_000_000
"""Maximum number of nodes: ONNX's shape inference and ONNX Runtime visit each, and twelve functions can make 10^12 of
them."""

Name = tuple[str, str, str]
"""Domain, name and overload."""


def refuse_endless(proto: "ModelProto", path: Path) -> None:
    """Raises ModelError for recursive functions, or for functions that expand to more nodes than anything could run."""
    functions = {_name(each): each for each in proto.functions}
    if not functions:
        return
    calls = {name: _calls(function.node, functions) for name, function in functions.items()}
    try:
        order = list(TopologicalSorter(calls).static_order())
    except CycleError as error:
        circle = " -> ".join(name for _, name, _ in error.args[1])
        raise ModelError(
            f"{path}: a function in it calls itself: {circle}", hint="export the model without recursion"
        ) from error
    sizes: dict[Name, int] = {}
    for name in order:
        called = sum(count * sizes[other] for other, count in calls[name].items())
        sizes[name] = len(functions[name].node) + called
    total = sum(count * sizes[name] for name, count in _calls(proto.graph.node, functions).items())
    if total > LIMIT:
        raise ModelError(
            f"{path}: its functions expand to {total:,} nodes, more than {LIMIT:,}",
            hint="the file is damaged or malicious: export the model again",
        )


def _name(function: "FunctionProto") -> Name:
    return _domain(function.domain), function.name, function.overload


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _calls(nodes: "Iterable[NodeProto]", functions: "dict[Name, FunctionProto]") -> Counter[Name]:
    """How often `nodes`, and those in their branches and bodies, call each function."""
    called = ((_domain(node.domain), node.op_type, node.overload) for node in traversal.nodes_in(nodes))
    return Counter(name for name in called if name in functions)
