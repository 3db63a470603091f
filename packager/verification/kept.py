"""The folder in which evidence is left for the user."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packager import __version__
from packager.core import user_files
from packager.core.errors import ConfigError
from packager.files.replaced_folder import FolderKind, refuse_foreign, replaced

MARK = "evidence.json"
KEPT = FolderKind(words="mobpack's evidence", mark=MARK, option="--evidence")


@contextmanager
def kept(folder: Path) -> Iterator[Path]:
    """A folder to fill that replaces `folder`, and an earlier run's content, as a whole.

    Raises ConfigError if that holds anything else, ToolError if it cannot be written.
    """
    with replaced(folder, KEPT) as made:
        (made / MARK).write_text(json.dumps({"mobpack": __version__}) + "\n", encoding="utf-8", newline="\n")
        yield made


def refuse_nested(folder: Path, out: Path) -> None:
    """Raises ConfigError if evidence would lie in a release, or a release in it: each is replaced as a whole."""
    first, second = user_files.resolved(folder), user_files.resolved(out)
    if out != Path() and (first == second or first in second.parents or second in first.parents):
        raise ConfigError(
            f"--evidence {folder} and --out {out}: one is inside the other", hint="use two separate folders"
        )


def refuse_other(folder: Path) -> None:
    """Raises ConfigError if `folder` holds something other than evidence: before the work, not after it."""
    refuse_foreign(folder, KEPT)
