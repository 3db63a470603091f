"""The folder in which mobpack keeps data between runs."""

import os
from pathlib import Path

from packager.core.errors import ToolError

OWN = 0o700
"""permissions: the user's alone"""


def cache_folder() -> Path:
    """The user's cache folder for mobpack, created if it is missing: it has models in plain text, and programs that
    mobpack starts, so nobody else may open it. A folder of another user stays as it is."""
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("mobpack")).absolute()
    try:
        folder.mkdir(mode=OWN, parents=True, exist_ok=True)
        status = folder.stat()
        if os.name == "posix" and status.st_mode & 0o077 and status.st_uid == os.geteuid():
            folder.chmod(OWN)
    except OSError as error:
        raise ToolError(
            f"cannot make the cache folder {folder}: {error.strerror}",
            hint="set XDG_CACHE_HOME to a folder you can write to",
        ) from error
    return folder
