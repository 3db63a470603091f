"""Writes the report of a fleet, and reads that of the last run."""

from pathlib import Path

from packager.core.characters import to_json
from packager.core.to_json import plain
from packager.files.atomic import atomic_file
from packager.measuring.fleet.document import FleetDocument
from packager.render.pages import parts


def write(path: Path, found: FleetDocument, text: str) -> None:
    """Writes the page at `path`, and the JSON beside it. Raises ToolError if the folder cannot be written to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts.write(path, text)
    with atomic_file(path.with_suffix(".json")) as file:
        file.write(as_text(found).encode())


def as_text(found: FleetDocument) -> str:
    return to_json(plain(found), indent=2, allow_nan=False) + "\n"


def read(out: Path) -> FleetDocument | None:
    """The result of the last run into `out`; None without one, or for that of another version."""
    from pydantic import TypeAdapter, ValidationError

    try:
        text = (out / "fleet.json").read_text(encoding="utf-8")
        return TypeAdapter(FleetDocument).validate_json(text)
    except (OSError, ValueError, ValidationError):
        return None
