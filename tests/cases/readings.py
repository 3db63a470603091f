"""Reads facts in the source of every module of mobpack."""

import ast
import gc
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

Fact = TypeVar("Fact")
PACKAGER = Path(__file__).parents[2] / "packager"
Nodes = Sequence[ast.AST]
"""of a module, in the order of `ast.walk`"""


def of_all_modules(read: Callable[[str, Nodes], Fact]) -> Mapping[str, Fact]:
    """`read` of each module, of its path below `packager` and its nodes, by that path."""
    paths = {path.relative_to(PACKAGER).as_posix(): path for path in sorted(PACKAGER.rglob("*.py"))}
    return {name: read(name, nodes_of(path)) for name, path in paths.items()}


@cache
def nodes_of(path: Path) -> Nodes:
    """The nodes of a module. It is parsed once in a process: several tests read all modules, and parsing these takes
    seconds, more than twice as many with searches for garbage, which there is none of."""
    gc.disable()
    try:
        return nodes_in(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        gc.enable()


def nodes_in(source: str) -> Nodes:
    return list(ast.walk(ast.parse(source)))
