"""The modules of a project that its functions are made of."""

import ast
from collections.abc import Iterator
from pathlib import Path

from packager.core.errors import ConfigError


def modules_of(module: Path, folder: Path) -> tuple[Path, ...]:
    """`module` and the modules below `folder` that it imports, directly or not, sorted; empty if there is no such file:
    the function belongs to an installed package.

    Imports of names that only a run computes are not found. Raises ConfigError for a module that is not Python.
    """
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        path = waiting.pop()
        if path not in found and path.is_file():
            found.add(path)
            waiting += _imported(path, folder)
    return tuple(sorted(found))


def _imported(path: Path, folder: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: not a Python module: {error}", hint="correct it") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(folder, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else folder
            for alias in node.names:
                yield from _files(base, ".".join(filter(None, (node.module, alias.name))))


def _files(folder: Path, dotted: str) -> Iterator[Path]:
    """The files that an import of `dotted` may run: the module, the packages around it."""
    place = folder
    for part in dotted.split("."):
        place /= part
        yield from (place.with_suffix(".py"), place / "__init__.py")
