"""Reads facts in the source of every module of mobpack."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

Fact = TypeVar("Fact")
PACKAGER = Path(__file__).parents[2] / "packager"


def of_all_modules(read: Callable[[str, str], Fact]) -> Mapping[str, Fact]:
    """`read` of each module, of its path below `packager` and its text, by that path."""
    texts = {path.relative_to(PACKAGER).as_posix(): path.read_text("utf-8") for path in sorted(PACKAGER.rglob("*.py"))}
    return {path: read(path, text) for path, text in texts.items()}
