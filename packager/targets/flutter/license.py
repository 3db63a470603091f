"""LICENSE of a pub package: the text of its licence, by which pub.dev knows it."""

from collections.abc import Mapping
from pathlib import Path

from packager.core.values import Package
from packager.files.installed import templates_folder

HOLDERS = "{HOLDERS}"
"""in the texts of licences that name who holds the rights"""
NOTHING = "This package has no licence: all rights reserved.\n"


def license_text(package: Package, models: Mapping[str, Path]) -> str:
    """The text of the package's licence, or else of its models', which are in files of theirs as well."""
    known = templates_folder() / "licenses" / f"{package.license}.txt"
    if package.license and known.is_file():
        holders = ", ".join(package.developers) or f"the authors of {package.name}"
        return known.read_text(encoding="utf-8").replace(HOLDERS, holders)
    if package.license:
        return f"SPDX-License-Identifier: {package.license}\n\nhttps://spdx.org/licenses has the text.\n"
    texts = dict.fromkeys(file.read_text(encoding="utf-8", errors="replace") for file in models.values())
    return "\n\n".join(text.strip() for text in texts) + "\n" if texts else NOTHING
