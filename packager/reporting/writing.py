"""Writes the report as JSON and as an HTML page."""

from collections.abc import Sequence
from pathlib import Path

from packager.core.characters import to_json
from packager.core.findings import Report
from packager.core.to_json import plain
from packager.core.values import Plan
from packager.files.atomic import atomic_file
from packager.reporting.describing import NOTHING_MORE, Extras, document
from packager.reporting.document import ReportDocument
from packager.reporting.page import write_page

NAME = "report"


def write(
    plans: Sequence[Plan], report: Report, folder: Path, extras: Extras = NOTHING_MORE, *, name: str = NAME
) -> None:
    """Writes `name`.json and `name`.html to `folder`; the same report gives the same bytes.

    Raises ToolError if the folder cannot be written.
    """
    found = document(plans, report, extras)
    write_page(folder / f"{name}.html", found)
    write_json(folder / f"{name}.json", found)


def write_json(path: Path, found: ReportDocument) -> None:
    with atomic_file(path) as file:
        file.write(as_text(found).encode())


def as_text(found: ReportDocument) -> str:
    return to_json(plain(found), indent=2, allow_nan=False) + "\n"
