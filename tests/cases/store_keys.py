"""Modules that make a stored result, as Python imports them."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from packager.files.store import Step, closure
from packager.files.store.closure import INSTALLED, Code

ROOT = Path(__file__).parents[2]

MODULES = sorted((ROOT / "packager").rglob("*.py"))


def dotted(path: Path) -> str:
    """`packager.a.b`"""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def steps() -> Mapping[str, Step]:
    """Every step of the packager, by name."""
    callers = [path for path in MODULES if " = Step(" in path.read_text() or "    Step(" in path.read_text()]
    values = [value for path in callers for value in vars(import_module(dotted(path))).values()]
    return {step.name: step for step in values if isinstance(step, Step)}


def modules_of(step: Step, code: Code = INSTALLED) -> set[Path]:
    """All files that are part of the key of `step`."""
    own = code.module(step.caller)
    return {*closure.closure(code, step.computed_by), *([own] if own else [])}
