"""Writes files completely or not at all."""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from packager.core.errors import ToolError
from packager.files import host
from packager.files.leftovers import remove_old

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors of writing to a full disk or beyond a quota."""
BEGIN, END = ".mobpack-", ".unfinished"
"""of the names of what is being written"""


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
def atomic_file(path: Path, *, is_synced: bool = True) -> Iterator[IO[bytes]]:
    """A file to write that is moved to `path` when the block succeeds, and removed when it fails. It is on the disk
    before it has its name; not with `is_synced` off, for files whose readers notice that they are incomplete.

    Raises ToolError when the folder cannot be written to or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_left(path.parent)
        with _unfinished(path.parent) as (unfinished, file):
            yield file
            file.flush()
            if is_synced:
                os.fsync(file.fileno())
            host.replace_open(file, unfinished, path)
    except OSError as error:
        raise _cannot_write(path, error) from error


@contextmanager
def _unfinished(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new, locked file in `folder` under a name that nobody can guess; if it still has the name at the end, it is
    removed."""
    while True:
        path = folder / f"{BEGIN}{secrets.token_hex(8)}{END}"
        try:
            with path.open("xb") as file:  # follows no link
                if _is_locked(file.fileno(), waits=True) and not host.is_at(path, file.fileno()):
                    continue  # another process took it for a leftover before it was locked
                yield path, file
        finally:
            path.unlink(missing_ok=True)
        return


@contextmanager
def atomic_files(folder: Path) -> Iterator[Path]:
    """A folder to write files to that are moved into `folder`, in order of their names, when the block succeeds. They
    are on the disk before they have their names.

    Raises ToolError when `folder` cannot be written to or the disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_left(folder)
        with _unfinished_folder(folder) as unfinished:
            yield unfinished
            files = sorted(unfinished.iterdir(), reverse=True)
            for file in files:
                host.sync(file)
            for file in files:
                host.replace(file, folder / file.name)
    except OSError as error:
        raise _cannot_write(folder, error) from error


@contextmanager
def _unfinished_folder(folder: Path) -> Iterator[Path]:
    """A new, locked folder in `folder`, which is removed at the end."""
    while True:
        with (
            tempfile.TemporaryDirectory(dir=folder, prefix=BEGIN, suffix=END, ignore_cleanup_errors=True) as scratch,
            ExitStack() as stack,
        ):
            try:
                stack.enter_context(_held(Path(scratch), waits=True))
            except FileNotFoundError:
                continue  # as above
            if not Path(scratch).exists():
                continue
            yield Path(scratch)
        return


def _remove_left(folder: Path) -> None:
    """Removes what killed processes have left unfinished: nobody holds the locks of it. On disks without locks, and on
    Windows, which removes nothing that is open, a day later."""
    for path in folder.glob(f"{BEGIN}*{END}"):
        if path.is_symlink():
            continue
        with suppress(OSError), _held(path) as is_left:
            if is_left:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        remove_old([path])


@contextmanager
def _held(path: Path, *, waits: bool = False) -> Iterator[bool]:
    """Whether this process has locked the file or folder in the block: not if another one has it."""
    descriptor = host.opened_folder(path) if path.is_dir() else os.open(path, os.O_RDWR)
    try:
        yield _is_locked(descriptor, waits=waits)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, *, waits: bool) -> bool:
    """Whether this process has locked an open file or folder; also False on disks without locks."""
    try:
        return host.lock(descriptor, waits=waits)
    except OSError:
        return False


def _cannot_write(path: Path, error: OSError) -> ToolError:
    return ToolError(
        f"cannot write {path}: {error.strerror or error}",
        hint="check the folder's permissions and its free disk space",
    )


def install_once(folder: Path, make: Callable[[Path], None]) -> None:
    """Lets `make` fill `folder` if it does not exist yet: completely or not at all, even with several processes."""
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
