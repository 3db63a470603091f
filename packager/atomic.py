"""Files that are there whole or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from packager.errors import ToolError

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What writing to a full disk, or beyond a quota, fails with."""


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes the name `path` when the block ends well, and is gone when it does not.

    Raises ToolError when the folder cannot be written to or the disk is full.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("wb") as file:
                yield file
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise ToolError(
            f"cannot write {path}: {error.strerror or error}",
            hint="check the folder's permissions and the space left on its disk",
        ) from error
