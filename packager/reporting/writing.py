"""Writes the report: JSON for programs, a page for people."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from packager.atomic import atomic_file
from packager.findings import Report
from packager.names import kebab_case
from packager.reporting.describing import NOTHING_MORE, Extras, document
from packager.reporting.document import ReportDocument
from packager.reporting.page import write_page
from packager.values import Plan

NAME = "report"


def write(
    plans: Sequence[Plan], report: Report, folder: Path, extras: Extras = NOTHING_MORE, *, name: str = NAME
) -> None:
    """Writes `name`.json and `name`.html to `folder`; the same report gives the same bytes.

    Raises ToolError where the folder cannot be written to.
    """
    found = document(plans, report, extras)
    write_page(folder / f"{name}.html", found)
    write_json(folder / f"{name}.json", found)


def write_json(path: Path, found: ReportDocument) -> None:
    with atomic_file(path) as file:
        file.write(as_text(found).encode())


def as_text(found: ReportDocument) -> str:
    return json.dumps(plain(found), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: object) -> Any:
    """What JSON can say, keys in kebab-case."""
    if is_dataclass(value):
        return {kebab_case(each.name): plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: value[key] for key in sorted(value)}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value
