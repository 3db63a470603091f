"""Which attributes of a module a program uses, read from its source: variables that hold the module's objects always
bear the same names."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Names:
    module: frozenset[str]
    """variables that hold the module itself"""
    objects: Mapping[str, str]
    """variable -> the module's class that it is of"""


TENSORRT = Names(
    module=frozenset({"trt", "_trt"}),
    objects={
        "builder": "Builder",
        "network": "INetworkDefinition",
        "parser": "OnnxParser",
        "config": "IBuilderConfig",
        "profile": "IOptimizationProfile",
        "_runtime": "Runtime",
        "engine": "ICudaEngine",
        "_engine": "ICudaEngine",
        "context": "IExecutionContext",
        "_context": "IExecutionContext",
        "tensor": "ITensor",
        "error": "ParserError",
    },
)
CUDA_CORE = Names(
    module=frozenset({"core"}),
    objects={
        "_device": "Device",
        "_stream": "Stream",
        "_pinned": "LegacyPinnedMemoryResource",
        "device": "Buffer",
        "host": "Buffer",
        "buffer": "Buffer",
    },
)
PYCUDA = Names(
    module=frozenset({"_driver"}),
    objects={"_context": "Context", "_stream": "Stream", "base": "PagelockedHostAllocation"},
)


def used(source: Path, names: Names, classes: frozenset[str], *, is_inside: bool) -> set[str]:
    """`Builder.create_network` and so on, in the `classes` of `source`, or outside them."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    bodies = [node for node in tree.body if (isinstance(node, ast.ClassDef) and node.name in classes) == is_inside]
    found = {path for body in bodies for node in ast.walk(body) if (path := resolved(node, names))}
    return {path for path in found if not any(other.startswith(f"{path}.") for other in found)}


def resolved(node: ast.AST, names: Names) -> str:
    """The path below the module that `node` reads; empty if it does not belong to the module."""
    if not isinstance(node, ast.Attribute):
        return ""
    holder = last_name(node.value)
    if holder in names.module:
        return node.attr
    if holder in names.objects:
        return f"{names.objects[holder]}.{node.attr}"
    above = resolved(node.value, names)
    is_of_module = above and above.split(".")[0] not in names.objects.values()
    return f"{above}.{node.attr}" if is_of_module else ""


def last_name(node: ast.AST) -> str:
    """`b` of `b` and of `a.b`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def variables(source: Path) -> Iterator[str]:
    """Every variable and attribute name of the program."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name | ast.Attribute):
            yield last_name(node)
        elif isinstance(node, ast.arg):
            yield node.arg
