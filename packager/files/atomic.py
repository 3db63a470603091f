"""Writes files completely or not at all."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from packager.core.errors import ToolError
from packager.files import host

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors of writing to a full disk or beyond a quota."""


def copy_rest(source: IO[bytes], destination: IO[bytes]) -> None:
    """Copies `source` from its position to its end, inside the kernel if possible (copy_file_range(2)): no page passes
    through this process, and file systems that share blocks copy nothing at all."""
    destination.flush()
    if hasattr(os, "copy_file_range"):
        try:
            os.lseek(source.fileno(), source.tell(), os.SEEK_SET)
            while os.copy_file_range(source.fileno(), destination.fileno(), 1 << 30):
                pass
            return
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
            source.seek(os.lseek(source.fileno(), 0, os.SEEK_CUR))
    shutil.copyfileobj(source, destination, 1 << 20)


def link_or_copy(source: Path, destination: Path) -> None:
    """Puts the same content under another name: a hard link, or a copy if the disk has no links."""
    try:
        destination.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, destination)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that is moved to `path` when the block succeeds, and removed when it fails.

    Raises ToolError when the folder cannot be written to or the disk is full.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("wb") as file:
                yield file
            host.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(path, error) from error


@contextmanager
def atomic_files(folder: Path) -> Iterator[Path]:
    """A folder to write files to that are moved into `folder`, in order of their names, when the block succeeds.

    Raises ToolError when `folder` cannot be written to or the disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".unfinished-") as scratch:
            yield Path(scratch)
            for file in sorted(Path(scratch).iterdir(), reverse=True):
                host.replace(file, folder / file.name)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _cannot_write(path: Path, error: OSError) -> ToolError:
    return ToolError(
        f"cannot write {path}: {error.strerror or error}",
        hint="check the folder's permissions and its free disk space",
    )


def install_once(folder: Path, make: Callable[[Path], None]) -> None:
    """Has `make` fill `folder` if it does not exist yet: completely or not at all, even with several processes."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch, "made")
        made.mkdir()
        make(made)
        try:
            host.rename(made, folder)
        except OSError:  # another process was first; its folder has the same content
            if not folder.is_dir():
                raise
