"""The folder in which mobpack keeps data between runs."""

from pathlib import Path

from packager.core.errors import ToolError
from packager.files import host


def cache_folder() -> Path:
    """The user's cache folder for mobpack, created if it is missing: it has models in plain text, and programs that
    mobpack starts, so nobody else may open it. A folder of another user stays as it is."""
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("mobpack")).absolute()
    try:
        folder.mkdir(mode=host.OWN, parents=True, exist_ok=True)
        host.close_to_others(folder)
    except OSError as error:
        raise ToolError(
            f"cannot make the cache folder {folder}: {error.strerror}",
            hint="set XDG_CACHE_HOME to a folder you can write to",
        ) from error
    return folder
