"""Facts that tests read in the syntax of every module, kept in the user's cache by content.

Parsing all modules of mobpack takes a second or two; after a change of some, the facts of the others are known.
"""

import gc
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packager.files.atomic import atomic_file
from packager.files.user_cache import cache_folder
from tests.toolchain.kept import FRESH, digest, remove_unused

PACKAGER = Path(__file__).parents[1] / "packager"


def of_all_modules(read: Callable[[str, str], Any], *by: Path | str) -> Mapping[str, Any]:
    """`read` of each module of mobpack, of its path below `packager` and its text, by that path.

    It gives what JSON has: the same while arguments, files and texts in `by` and the Python are the same. Its own code
    is in `by`.
    """
    texts = {path.relative_to(PACKAGER).as_posix(): path.read_text("utf-8") for path in sorted(PACKAGER.rglob("*.py"))}
    keys = {path: hashlib.sha256(f"{path}\0{text}".encode()).hexdigest() for path, text in texts.items()}
    file = cache_folder() / "readings" / f"{read.__name__}-{digest(sys.version, Path(__file__), *by)}.json"
    known = {} if os.environ.get(FRESH) or not file.is_file() else json.loads(file.read_text("utf-8"))
    if keys.keys() - known.keys() or any(known[path][0] != key for path, key in keys.items()):
        with without_search_for_garbage():
            known = {
                path: known[path] if known.get(path, [""])[0] == key else [key, read(path, texts[path])]
                for path, key in keys.items()
            }
        with atomic_file(file) as whole:
            whole.write(json.dumps(known).encode())
        remove_unused(file.parent)
    os.utime(file)
    return {path: known[path][1] for path in keys}


@contextmanager
def without_search_for_garbage() -> Iterator[None]:
    """Trees of syntax are many objects: to look through them again and again takes four times as long as parsing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
