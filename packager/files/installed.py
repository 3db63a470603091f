"""Where mobpack itself lies: its code, its templates and its pins."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import cast

from packager.files.pins import Pins

PACKAGE = Path(__file__).parents[1]
"""`packager/`"""
PINS = "files/processes/pins.toml"
"""below `packager/`"""


def templates_folder() -> Path:
    """`templates/`: inside the package when installed, at the repository's root in an editable install."""
    installed = PACKAGE / "templates"
    return installed if installed.is_dir() else PACKAGE.parent / "templates"


def read_pins() -> Pins:
    """The pins of mobpack."""
    return pins_in(PACKAGE)


@cache
def pins_in(package: Path) -> Pins:
    """The pins of this or of another version of `packager/`."""
    return cast("Pins", tomllib.loads((package / PINS).read_text(encoding="utf-8")))


@cache
def files_of_the_wheel() -> Sequence[str]:
    """Lines of the wheel's RECORD for its files, sorted: path, sha256 and size of each. Empty in a checkout."""
    if not (PACKAGE / "templates").is_dir():
        return ()
    try:
        record = distribution("mobpack").read_text("RECORD") or ""
    except PackageNotFoundError:  # copied, not installed
        return ()
    lines = record.splitlines()
    return tuple(sorted(each for each in lines if each.startswith("packager/") and ".pyc," not in each))
