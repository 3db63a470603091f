"""Where mobpack itself lies: its code, its templates and its pins."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
"""`packager/`"""
PINS = "files/processes/pins.toml"
"""below `packager/`"""


def templates_folder() -> Path:
    """`templates/`: inside the package when installed, at the repository's root in an editable install."""
    installed = PACKAGE / "templates"
    return installed if installed.is_dir() else PACKAGE.parent / "templates"


@cache
def read_pins(package: Path = PACKAGE) -> Mapping[str, Any]:
    """The pins of this or of another version of `packager/`."""
    return tomllib.loads((package / PINS).read_text(encoding="utf-8"))
