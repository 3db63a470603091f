"""Puts a finished release where the user wants it: all of it, or nothing."""

from contextlib import AbstractContextManager
from pathlib import Path

from packager.files.replaced_folder import Kind, replaced

MANIFEST = "manifest.json"
RELEASE = Kind(words="a mobpack release", mark=MANIFEST, option="--out")


def staged(out: Path) -> AbstractContextManager[Path]:
    """A folder beside `out` to fill; when the block ends well it takes `out`'s place, otherwise it is removed.

    Raises ConfigError when `out` holds something that is not a release of ours, ToolError when it cannot be written.
    """
    return replaced(out, RELEASE)
