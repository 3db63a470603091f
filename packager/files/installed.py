"""Where mobpack itself lies: its code and its templates."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
"""`packager/`"""


def templates_folder() -> Path:
    """`templates/`: inside the package when installed, at the repository's root in an editable install."""
    installed = PACKAGE / "templates"
    return installed if installed.is_dir() else PACKAGE.parent / "templates"
