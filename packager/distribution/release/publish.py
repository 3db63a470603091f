"""Moves a finished release into place: all of it, or nothing."""

from contextlib import AbstractContextManager
from pathlib import Path

from packager.files.replaced_folder import FolderKind, replaced

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 64 << 20
"""largest manifest that is read"""
RELEASE = FolderKind(words="a mobpack release", mark=MANIFEST, option="--out")


def staged(out: Path) -> AbstractContextManager[Path]:
    """A folder beside `out` to fill; it replaces `out` when the block succeeds, otherwise it is removed.

    Raises ConfigError if `out` holds something other than a release by mobpack, ToolError if it cannot be written.
    """
    return replaced(out, RELEASE)
