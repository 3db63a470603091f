"""The folder in which mobpack keeps data between runs."""

from pathlib import Path

from packager.core.errors import ToolError


def cache_folder() -> Path:
    """The user's cache folder for mobpack, created if it is missing."""
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("mobpack")).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(
            f"cannot make the cache folder {folder}: {error.strerror}",
            hint="set XDG_CACHE_HOME to a folder you can write to",
        ) from error
    return folder
