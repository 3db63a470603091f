"""Writes results: as JSON, and as a page with the JSON beside it."""

import re
from pathlib import Path

from packager.core.characters import to_json
from packager.core.to_json import plain
from packager.files.atomic import atomic_file
from packager.measuring.bench import page
from packager.measuring.bench.document import BenchDocument
from packager.render.pages import parts

NUMBERS = re.compile(r"\[\s+((?:[\d.e+-]+,\s+)*[\d.e+-]+)\s+\]")


def as_text(found: BenchDocument) -> str:
    return in_lines(found)


def in_lines(found: object) -> str:
    """JSON of a document with each list of numbers in one line: there are thousands of times."""
    text = to_json(plain(found), indent=2, allow_nan=False) + "\n"
    return NUMBERS.sub(lambda match: f"[{', '.join(match[1].replace(',', ' ').split())}]", text)


def write(path: Path, found: BenchDocument) -> None:
    """Writes the page at `path`, and the JSON beside it. Raises ToolError if the folder cannot be written to."""
    parts.write(path, page.page(found))
    with atomic_file(path.with_suffix(".json")) as file:
        file.write(as_text(found).encode())
