"""Removes what earlier commands left behind, once no running command can still need it."""

import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

DAY_S = 24 * 60 * 60


def remove_old(paths: Iterable[Path], *, days: float = 1) -> None:
    """Removes those of `paths`, files and folders, that were last changed more than `days` days ago: a younger one may
    belong to a command that still runs.

    Raises nothing for a path that is gone meanwhile, as another process removes it too or gives it its final name, nor
    for one that cannot be removed, as it belongs to another user: the next command tries again.
    """
    for path in paths:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > days * DAY_S:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
