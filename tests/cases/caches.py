"""Empty caches for tests that build: results are made anew, while other ONNX Runtimes are those of the user's cache."""

from collections.abc import Collection
from pathlib import Path

from packager.engines.environments import ensure
from packager.engines.environments.runtime import Runtime
from packager.files import host
from packager.files.user_cache import cache_folder
from tests.toolchain.unpacking import quickly

OWN = cache_folder()
"""the user's cache, before any test points elsewhere"""


def ensure_runtime() -> None:
    """Installs the runtime, which every build needs: on a new machine once, though several processes ask at once."""
    if Runtime().missing():
        OWN.mkdir(parents=True, exist_ok=True)
        with (OWN / "runtime.lock").open("w") as lock:
            host.lock(lock.fileno())
            with quickly():
                ensure(Runtime())


ensure_runtime()


def empty_cache(folder: Path, without: Collection[str] = ()) -> Path:
    """`folder` as XDG_CACHE_HOME: without results, with the environments of the user's cache but for `without`."""
    cache = folder / "mobpack"
    cache.mkdir(parents=True, exist_ok=True)
    environments = cache / "environments"
    if without:
        environments.mkdir(exist_ok=True)
        for each in (OWN / "environments").iterdir():
            if each.name not in without and not (environments / each.name).exists():
                (environments / each.name).symlink_to(each)
    elif not environments.exists():
        environments.symlink_to(OWN / "environments")
    return folder
