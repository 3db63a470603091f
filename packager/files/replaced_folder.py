"""Replaces folders as a whole, or not at all."""

import contextlib
import errno
import glob
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.core import parsing, user_files
from packager.core.console import Console
from packager.core.errors import ConfigError, ToolError
from packager.files import host
from packager.files.atomic import NO_SPACE
from packager.files.exchange import exchange
from packager.files.leftovers import remove_old

NO_LOCKS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""Errors of locking on disks that do not support it."""
CHANGING = "check its permissions, the free space, and whether something else is changing it; then run again"
MAX_MARK_BYTES = 64 << 20
_own = threading.Lock()
"""Held while a thread of this process replaces a folder: its other threads wait for it silently."""


@dataclass(frozen=True, kw_only=True)
class FolderKind:
    """Purpose of a folder of ours, and how to recognize one: no other folder is ever replaced."""

    words: str
    mark: str
    """name of a JSON file in it with a key `mobpack`"""
    option: str
    """command-line option that names another folder"""


class StrandedError(ToolError):
    """Neither the new folder nor the previous one could be put in place: both are left where they are."""


@contextlib.contextmanager
def replaced(out: Path, kind: FolderKind) -> Iterator[Path]:
    """A folder beside `out` to fill; it replaces `out` when the block succeeds and is removed when it fails.

    Raises ConfigError when `out` holds something that is not of `kind`, ToolError when it cannot be written.
    """
    out = user_files.resolved(out)  # a link to a folder stays a link
    refuse_foreign(out, kind)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(out)
        staging = out.with_name(f".{out.name}.{secrets.token_hex(6)}")
        staging.mkdir()  # with the permissions of the user's umask, like everything written into it
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
    except ToolError as error:
        _refuse_full_disk(error.__cause__, out)  # names the user's folder, not the one beside it
        raise
    except shutil.Error as error:  # of copytree, with the reason of each file in words
        reasons = [str(reason) for *_, reason in error.args[0]]
        if any(os.strerror(number) in reason for number in NO_SPACE for reason in reasons):
            raise _full_disk(out) from error
        raise ToolError(f"cannot copy files beside {out}: {reasons[0]}", hint=CHANGING) from error
    except OSError as error:
        _refuse_full_disk(error, out)
        raise
    finally:
        if not is_stranded:
            shutil.rmtree(staging, ignore_errors=True)


def _refuse_full_disk(error: BaseException | None, out: Path) -> None:
    """Raises ToolError if `error` is about a full disk."""
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        raise _full_disk(out) from error


def _full_disk(out: Path) -> ToolError:
    return ToolError(f"no space left on the disk of {out}", hint="free some space, then run again")


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Locks the folder around `out`: waits, with a message, while another mobpack replaces a folder there.

    The lock is on the parent folder, so no file is left behind. Where it cannot be locked, as on some network disks,
    the last writer wins with a complete folder.
    """
    with _own:
        try:
            folder = host.opened_folder(out.parent)
        except PermissionError:  # writable but not readable: nobody can lock it
            yield
            return
        try:
            _lock(folder, out)
            yield
        finally:
            os.close(folder)


def _lock(folder: int, out: Path) -> None:
    try:
        if not host.lock(folder, waits=False):
            Console().say(f"another mobpack is replacing a folder in {out.parent}: waiting for it")
            host.lock(folder)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _remove_abandoned(out: Path) -> None:
    """Removes folders that killed commands left beside `out`. If there is no `out`, one may be its only copy: all
    stay."""
    if out.exists():
        remove_old(left for left in out.parent.glob(f".{glob.escape(out.name)}.*") if left.is_dir())


def refuse_foreign(out: Path, kind: FolderKind) -> None:
    """Raises ConfigError when `out` holds something that `replaced` would have to throw away."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    try:
        manifest = parsing.json_of(user_files.read_text(out / kind.mark, limit_bytes=MAX_MARK_BYTES))
        is_ours = isinstance(manifest, dict) and "mobpack" in manifest
    except (OSError, ValueError, RecursionError):
        is_ours = False
    if not is_ours:
        raise ConfigError(
            f"{out} exists and is not {kind.words}", hint=f"choose another folder with {kind.option}, or empty it"
        )


def _swap(staging: Path, out: Path, kind: FolderKind) -> None:
    """Puts `staging` in the place of `out` and removes the previous folder. Interrupts are deferred."""
    with interrupts_deferred(f"{out} is {kind.words} of this run, and complete"):
        if not out.exists() or not exchange(staging, out):
            _rename(staging, out, kind)
        shutil.rmtree(staging, ignore_errors=True)  # the previous one, if they were exchanged


def _rename(staging: Path, out: Path, kind: FolderKind) -> None:
    """Moves `out` away and `staging` to its place; a failure puts the previous folder back."""
    previous = staging.with_name(staging.name + ".previous")
    try:
        if out.exists():
            host.rename(out, previous)
        host.rename(staging, out)
    except OSError as error:
        message = f"cannot put {kind.words} at {out}: {error.strerror}"
        if previous.exists():
            _put_back(previous, staging, out, message)
        raise ToolError(
            message,
            hint=f"choose another folder with {kind.option}; mount points cannot be replaced, "
            "nor, on Windows, folders with open files",
        ) from error
    shutil.rmtree(previous, ignore_errors=True)


def _put_back(previous: Path, staging: Path, out: Path, message: str) -> None:
    """Puts the previous folder back. Raises StrandedError, which names both places, if that fails too."""
    try:
        host.rename(previous, out)
    except OSError as error:
        raise StrandedError(
            f"{message}; the previous folder could not be put back ({error.strerror}): it is in {previous}, "
            f"the new one in {staging}",
            hint=f"move one of them to {out}; mobpack touches neither",
        ) from error


@contextlib.contextmanager
def interrupts_deferred(words: str = "") -> Iterator[None]:
    """Defers Ctrl-C and termination inside the block to its end. `words` say how things are then."""
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
        raise KeyboardInterrupt(*([words] if words else []))
