"""Which names of the standard library macOS and Windows lack, as its type stubs say (typeshed, which mypy carries)."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import mypy

STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"
HERE = "linux"
OTHERS = ("darwin", "win32")
OLDEST_PYTHON = (3, 11)


@cache
def missing(module: str, platform: str) -> frozenset[str]:
    """Names in `module` on Linux that it lacks on `platform`; empty for a module that is not the standard library's."""
    return names(module, HERE) - names(module, platform)


def is_missing(module: str, platform: str) -> bool:
    """Whether `platform` lacks the whole module."""
    body = [node for node in _stub(module) if not isinstance(node, ast.ImportFrom)]
    return any(_defined(body, HERE)) and not any(_defined(body, platform))


@cache
def names(module: str, platform: str) -> frozenset[str]:
    """Names that a module of the standard library has on `platform`."""
    return frozenset(_defined(_stub(module), platform))


def lacking(modules: Iterable[str], platform: str) -> Mapping[str, frozenset[str] | None]:
    """For each of `modules` the names that it lacks on `platform`; None for a module that is missing itself."""
    return {each: None if is_missing(each, platform) else missing(each, platform) for each in sorted(set(modules))}


@cache
def _stub(module: str) -> list[ast.stmt]:
    file = STUBS.joinpath(*module.split("."))
    found = next((each for each in (file.with_suffix(".pyi"), file / "__init__.pyi") if each.is_file()), None)
    return ast.parse(found.read_text(encoding="utf-8")).body if found else []


def _defined(body: list[ast.stmt], platform: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If):
            holds = _holds(node.test, platform)
            yield from _defined(node.body, platform) if holds is not False else ()
            yield from _defined(node.orelse, platform) if holds is not True else ()
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            yield from _imported(node, platform)


def _imported(node: ast.ImportFrom, platform: str) -> Iterator[str]:
    """Names that a stub imports; `signal` and `socket` take nearly all of theirs from a module of C with all of
    them."""
    for alias in node.names:
        if alias.name == "*":
            yield from names(node.module or "", platform)
        else:
            yield alias.asname or alias.name


def _holds(test: ast.expr, platform: str) -> bool | None:
    """Whether a condition of a stub holds on `platform`; None if it depends on anything else."""
    if isinstance(test, ast.BoolOp):
        parts = [_holds(each, platform) for each in test.values]
        decisive = isinstance(test.op, ast.Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    if isinstance(test, ast.Compare) and ast.unparse(test.left) == "sys.platform":
        is_equal = bool(platform == ast.literal_eval(test.comparators[0]))
        return is_equal == isinstance(test.ops[0], ast.Eq)
    if isinstance(test, ast.Compare) and ast.unparse(test.left) == "sys.version_info":
        is_reached = bool(ast.literal_eval(test.comparators[0]) <= OLDEST_PYTHON)
        return is_reached == isinstance(test.ops[0], ast.GtE)
    return None
