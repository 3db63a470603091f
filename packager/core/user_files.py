"""Opens files that users name: regular ones of a bounded size, without blocking."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Flags that keep a pipe or terminal from blocking; Windows has none of either among its files."""
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def opened(path: Path, *, limit_bytes: int | None = None) -> BufferedReader:
    """Opens the file at `path` for reading. Raises OSError, with a message for users, if it does not exist, is not a
    regular file (opening a pipe would block, and a device may do anything), or is too large."""
    _refuse(_status(path), path, limit_bytes)
    descriptor = os.open(path, os.O_RDONLY | WITHOUT_WAITING)
    try:
        _refuse(os.fstat(descriptor), path, limit_bytes)  # another file may have replaced it in the meantime
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read(path: Path, *, limit_bytes: int) -> bytes:
    """The content of the file. Raises OSError like `opened`, and if the file grows beyond the limit while it is
    read."""
    with opened(path, limit_bytes=limit_bytes) as file:
        content = file.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise _too_large(path, limit_bytes)
    return content


def read_text(path: Path, *, limit_bytes: int) -> str:
    """The content as text, without a byte-order mark. Raises UnicodeDecodeError if it is not UTF-8."""
    return read(path, limit_bytes=limit_bytes).decode("utf-8-sig")


def resolved(path: Path) -> Path:
    """The absolute path without links. Raises OSError for a link that leads back to itself, which Python 3.13 and later
    leave as it is."""
    try:
        return path.resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def size_of(path: Path) -> int:
    """Size in bytes. Raises OSError like `opened`."""
    status = _status(path)
    _refuse(status, path, None)
    return status.st_size


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except ValueError as error:  # the path contains a zero byte
        raise OSError(errno.EINVAL, "not a valid file path", str(path)) from error


def _refuse(status: os.stat_result, path: Path, limit_bytes: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((words for is_kind, words in KINDS if is_kind(status.st_mode)), "something else")
        raise OSError(errno.EINVAL, f"{kind}, not a file", str(path))
    if limit_bytes is not None and status.st_size > limit_bytes:
        raise _too_large(path, limit_bytes)


def _too_large(path: Path, limit_bytes: int) -> OSError:
    limit = f"{limit_bytes >> 20} MiB" if limit_bytes >= 1 << 20 else f"{limit_bytes >> 10} KiB"
    return OSError(errno.EFBIG, f"larger than {limit}", str(path))
