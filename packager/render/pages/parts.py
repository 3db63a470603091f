"""Views that every page has, and how a page is written."""

from dataclasses import dataclass
from pathlib import Path

from packager.files.atomic import atomic_file


@dataclass(frozen=True, kw_only=True)
class TileView:
    """One of the few most important figures."""

    label: str
    value: str
    note: str


@dataclass(frozen=True, kw_only=True)
class FactView:
    label: str
    value: str


def write(path: Path, text: str) -> None:
    """Writes a page. Raises ToolError if the folder cannot be written to."""
    with atomic_file(path) as file:
        file.write(text.encode())
