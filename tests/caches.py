"""Empty caches for tests that build: results are made anew, while other ONNX Runtimes are those of the user's cache."""

from pathlib import Path

from packager.environments import ensure
from packager.environments.runtime import Runtime
from packager.files.user_cache import cache_folder

OWN = cache_folder()
"""the user's cache, before any test points elsewhere"""

ensure(Runtime())  # every build needs it; on a new machine this fetches it once


def empty_cache(folder: Path) -> Path:
    """`folder` as XDG_CACHE_HOME: without results, with the environments of the user's cache."""
    cache = folder / "mobpack"
    cache.mkdir(parents=True, exist_ok=True)
    if not (cache / "environments").exists():
        (cache / "environments").symlink_to(OWN / "environments")
    return folder
