"""Locks, links, syncing and renaming of files, which systems do differently: other modules leave them to this one."""

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from packager.core import user_files
from packager.core.errors import ToolError

POLL_S = 0.05
"""Time between two attempts at a lock on Windows."""
PATIENCE_S = 2.0
"""Time for which Windows may refuse to rename: a virus scanner has new files open for a moment."""
OWN = 0o700
"""Permissions of a folder that is the user's alone."""
NO_PRIVILEGE = 1314
"""ERROR_PRIVILEGE_NOT_HELD of Windows: symbolic links need it unless developer mode is on."""


if sys.platform == "win32":
    import msvcrt

    def lock(descriptor: int, *, is_shared: bool = False, waits: bool = True) -> bool:
        """Locks an open file until it is closed. Returns False if another process has locked it, unless it `waits`.

        Windows' C library has no shared locks: those exclude each other too.
        """
        while True:
            try:
                os.lseek(descriptor, 0, os.SEEK_SET)
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except PermissionError:  # another process has it
                if not waits:
                    return False
                time.sleep(POLL_S)
            else:
                return True

    def opened_folder(folder: Path) -> int:
        """A descriptor that `lock` takes to lock `folder`: that of a file, because Windows locks no folders."""
        name = hashlib.sha256(str(user_files.resolved(folder)).casefold().encode()).hexdigest()[:16]
        return os.open(Path(tempfile.gettempdir(), f"mobpack-{name}.lock"), os.O_RDWR | os.O_CREAT)

    def sync(path: Path) -> None:
        """Syncs the content of a file to the disk; Windows syncs folders by itself."""
        if path.is_dir():
            return
        descriptor = os.open(path, os.O_RDWR)  # to sync is to write
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _when_closed(rename: Callable[[Path], object], target: Path) -> None:
        """Renames as soon as no other program has the file, or one in the folder, open."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                rename(target)
            except FileExistsError:
                raise
            except PermissionError:
                if time.monotonic() > end:
                    raise
                time.sleep(POLL_S)
            else:
                return

    def replace_open(file: IO[bytes], path: Path, target: Path) -> None:
        """Gives the open file at `path` the name `target`: Windows renames closed ones alone."""
        file.close()
        replace(path, target)

else:
    import fcntl

    def lock(descriptor: int, *, is_shared: bool = False, waits: bool = True) -> bool:
        """Locks an open file or folder until it is closed. Returns False if another process has locked it, unless it
        `waits`. Raises OSError if the disk has no locks."""
        how = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, how if waits else how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def opened_folder(folder: Path) -> int:
        """A descriptor that `lock` takes to lock `folder`. Raises PermissionError if it cannot be read."""
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    def sync(path: Path) -> None:
        """Syncs the content of a file, or the names in a folder, to the disk."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _when_closed(rename: Callable[[Path], object], target: Path) -> None:
        rename(target)

    def replace_open(file: IO[bytes], path: Path, target: Path) -> None:
        """Gives the open file at `path` the name `target`; it stays open, and locked."""
        path.replace(target)


def close_to_others(folder: Path) -> None:
    """Lets nobody but the user open a folder of the user's; on Windows, what is below the user's home is closed
    already."""
    status = folder.stat()
    if os.name == "posix" and status.st_mode & 0o077 and status.st_uid == os.geteuid():
        folder.chmod(OWN)


def is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is still the one at `path`."""
    try:
        return os.path.samestat(path.stat(follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def rename(source: Path, target: Path) -> None:
    """Renames a file or folder; nothing may exist at `target` but, on Linux and macOS, an empty folder."""
    _when_closed(source.rename, target)


def replace(source: Path, target: Path) -> None:
    """Renames a file; it replaces one that exists."""
    _when_closed(source.replace, target)


def link(place: Path, target: str) -> None:
    """Makes a symbolic link to `target`, a path with slashes. Raises ToolError where Windows does not allow it."""
    try:
        place.symlink_to(Path(target), target_is_directory=(place.parent / target).is_dir())
    except OSError as error:
        if getattr(error, "winerror", None) != NO_PRIVILEGE:
            raise
        raise ToolError(
            f"cannot make the symbolic link {place}", hint="turn on Windows' developer mode, or run on Linux or macOS"
        ) from error
