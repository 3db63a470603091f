"""Compilers' results are kept in the user's cache by content: any test run compiles the same sources once.

A compiler's result is a function of what it reads. What is kept was made by a compilation without errors or warnings;
tests run it as they would run a fresh one. MOBPACK_TESTS_FRESH has everything compiled anew, as it is at night.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from packager.files.leftovers import remove_old
from packager.files.user_cache import cache_folder
from tests.toolchain.debian_root import make_alone

ROOT = Path(__file__).parents[2]
PRODUCT = ("packager", "templates")
FRESH = "MOBPACK_TESTS_FRESH"
KEPT_DAYS = 7
"""Time after the last use."""


def kept(name: str, make: Callable[[Path], None], *content: Path | str) -> Path:
    """The folder that `make` fills, made now unless it is kept for the same `content`: texts, files and folders.

    Nobody may write to it.
    """
    return keep(place(name, *content), make)


def place(name: str, *content: Path | str) -> Path:
    """The folder for a result of `content`."""
    return cache_folder() / "compiled" / f"{name}-{digest(*content)}"


def keep(folder: Path, make: Callable[[Path], None]) -> Path:
    """Has `make` fill the folder, which `place` gave, unless it is kept."""
    if os.environ.get(FRESH) and not _is_of_this_run(folder):
        shutil.rmtree(folder, ignore_errors=True)
    make_alone(folder, make)
    os.utime(folder)
    remove_unused(folder.parent)
    return folder


@cache
def product() -> str:
    """Digest of mobpack's code and templates and of the tests' helpers: packages are built again after a change."""
    found = [path for name in PRODUCT for path in sorted(ROOT.joinpath(name).rglob("*")) if path.suffix != ".pyc"]
    files = [path for path in found if path.is_file()]
    helpers = [path for path in sorted(ROOT.joinpath("tests").rglob("*.py")) if not path.name.startswith("test_")]
    return digest(*(each for path in files + helpers for each in (path.relative_to(ROOT).as_posix(), path)))


def linked(source: str, destination: str) -> None:
    """Another name for a kept file, for `shutil.copytree`; a copy on another disk. To be replaced, not written to."""
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)


def digest(*content: Path | str) -> str:
    """Hex digest of texts, and of the paths and bytes of files."""
    whole = hashlib.sha256()
    for each in content:
        if isinstance(each, str):
            whole.update(f"text {each}\0".encode())
            continue
        for path in sorted(each.rglob("*")) if each.is_dir() else [each]:
            if path.is_file():
                whole.update(f"file {path.relative_to(each.parent)}\0".encode())
                whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:32]


def _is_of_this_run(folder: Path) -> bool:
    """Whether any process of this test run has made it."""
    return folder.is_dir() and folder.stat().st_mtime > float(os.environ[FRESH])


def remove_unused(folder: Path) -> None:
    """Removes the files and folders in `folder` that are older than KEPT_DAYS; `kept` renews those that it gives."""
    remove_old(folder.glob("*"), days=KEPT_DAYS)
