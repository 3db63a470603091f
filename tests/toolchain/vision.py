"""The package of the sample apps, made by the command in their READMEs: once for all tests, then kept."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packager.files.store import Step, Store
from packager.files.user_cache import cache_folder

ROOT = Path(__file__).parents[2]
FOLDER = Path("sample_apps", "vision")
BUILT = Step(
    name="sample-vision", caller=__name__, computed_by=("packager.cli", "packager.cli.__main__"), templates=("",)
)
SOURCES = ("make", "mobpack.toml", "classifier.py", "models.txt")


def root() -> Path:
    """A folder that looks like this repository's after `sh sample_apps/vision/make`, of sample_apps/vision alone.

    Its files are shared: nothing may write there.
    """
    sources = {name: hashlib.sha256((ROOT / FOLDER / name).read_bytes()).hexdigest() for name in SOURCES}
    with _alone():
        return Store(cache_folder() / "store").results(BUILT, sources, make)


def dist() -> Path:
    """Output of `mobpack build` for the sample apps."""
    return root() / FOLDER / "dist"


def make(folder: Path) -> None:
    """Runs the command in a copy of the sources, with this environment in place of one of its own."""
    (folder / FOLDER).mkdir(parents=True)
    for name in SOURCES:
        shutil.copy(ROOT / FOLDER / name, folder / FOLDER / name)
    borrowed = {folder / "scripts": ROOT / "scripts", folder / ".venv": Path(sys.prefix)}
    for link, target in borrowed.items():
        link.symlink_to(target)
    environment = {**os.environ, "CI": "true"}
    command = ["sh", str(FOLDER / "make")]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    for link in borrowed:
        link.unlink()


@contextmanager
def _alone() -> Iterator[None]:
    """Other processes wait: they need the same package, and building it takes all processors."""
    with (cache_folder() / "sample-vision.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
