"""Folders that are replaced as a whole, or not at all."""

import contextlib
import errno
import fcntl
import glob
import json
import os
import secrets
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.core import user_files
from packager.core.console import Console
from packager.core.errors import ConfigError, ToolError
from packager.files.atomic import NO_SPACE
from packager.files.exchange import exchange

ABANDONED_AFTER_S = 24 * 60 * 60
NO_LOCKS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""What locking fails with on disks that cannot."""
MAX_MARK_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a folder of ours is for, and how one is known: nothing else is ever replaced."""

    words: str
    mark: str
    """a JSON file in it that has a key `mobpack`"""
    option: str
    """of the command line, that names another folder"""


class StrandedError(ToolError):
    """Neither the new folder nor the previous one could be put in its place: both are left where they are."""


@contextlib.contextmanager
def replaced(out: Path, kind: Kind) -> Iterator[Path]:
    """A folder beside `out` to fill; when the block ends well it takes `out`'s place, otherwise it is removed.

    Raises ConfigError when `out` holds something that is not of `kind`, ToolError when it cannot be written.
    """
    out = out.resolve()  # a link to a folder stays a link
    refuse_foreign(out, kind)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(out)
        staging = out.with_name(f".{out.name}.{secrets.token_hex(6)}")
        staging.mkdir()  # with the permissions that the user's umask gives, as whatever is written to it
    except OSError as error:
        raise ToolError(
            f"cannot write to {out.parent}: {error.strerror}", hint=f"choose another folder with {kind.option}"
        ) from error
    is_stranded = False
    try:
        yield staging
        with _locked(out):
            refuse_foreign(out, kind)  # it may hold something else by now
            _swap(staging, out, kind)
    except StrandedError:
        is_stranded = True
        raise
    except OSError as error:
        if error.errno in NO_SPACE:
            raise ToolError(f"no space left on the disk of {out}", hint="free some space, then run again") from error
        raise
    finally:
        if not is_stranded:
            shutil.rmtree(staging, ignore_errors=True)


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[None]:
    """While another mobpack replaces a folder beside `out` this one waits, and says that it does.

    The lock is on the folder that both lie in, so no file is left behind. Where that cannot be locked, as on some
    network disks, the last one to come stays, whole.
    """
    try:
        folder = os.open(out.parent, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # it can be written to and not read: nobody can lock it
        yield
        return
    try:
        _lock(folder, out)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, out: Path) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        Console().say(f"another mobpack replaces a folder in {out.parent}: waiting for it")
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _remove_abandoned(out: Path) -> None:
    """Removes what commands that were killed have left beside `out`; one of today may still be running. Where there is
    no `out`, what is left may be the only copy of it."""
    if not out.exists():
        return
    for left in out.parent.glob(f".{glob.escape(out.name)}.*"):
        with contextlib.suppress(OSError):
            if left.is_dir() and time.time() - left.stat().st_mtime > ABANDONED_AFTER_S:
                shutil.rmtree(left)


def refuse_foreign(out: Path, kind: Kind) -> None:
    """Raises ConfigError when `out` holds something that `replaced` would have to throw away."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    try:
        manifest = json.loads(user_files.read_text(out / kind.mark, limit_bytes=MAX_MARK_BYTES))
        is_ours = isinstance(manifest, dict) and "mobpack" in manifest
    except (OSError, ValueError, RecursionError):
        is_ours = False
    if not is_ours:
        raise ConfigError(
            f"{out} exists and is not {kind.words}", hint=f"choose another folder with {kind.option}, or empty this one"
        )


def _swap(staging: Path, out: Path, kind: Kind) -> None:
    """Puts `staging` in the place of `out` and removes what was there. Interrupts wait meanwhile."""
    with interrupts_deferred():
        if not out.exists() or not exchange(staging, out):
            _rename(staging, out, kind)
        shutil.rmtree(staging, ignore_errors=True)  # the previous one, where they were exchanged


def _rename(staging: Path, out: Path, kind: Kind) -> None:
    """Moves `out` away and `staging` to its place; a failure puts the previous folder back."""
    previous = staging.with_name(staging.name + ".previous")
    try:
        if out.exists():
            out.rename(previous)
        staging.rename(out)
    except OSError as error:
        message = f"cannot put {kind.words} at {out}: {error.strerror}"
        if previous.exists():
            _put_back(previous, staging, out, message)
        raise ToolError(
            message, hint=f"choose another folder with {kind.option}; a mount point cannot be replaced"
        ) from error
    shutil.rmtree(previous, ignore_errors=True)


def _put_back(previous: Path, staging: Path, out: Path, message: str) -> None:
    """Raises StrandedError, which says where both are, when that fails, too."""
    try:
        previous.rename(out)
    except OSError as error:
        raise StrandedError(
            f"{message}; what was there could not be put back ({error.strerror}): it is in {previous}, the new one in "
            f"{staging}",
            hint=f"move one of them to {out}; both stay where they are until you do",
        ) from error


@contextlib.contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Ctrl-C, and the end of a cancelled job, inside the block take effect behind it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        raise KeyboardInterrupt
