"""Folders that are replaced as a whole, or not at all."""

import contextlib
import glob
import json
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.atomic import NO_SPACE
from packager.errors import ConfigError, ToolError

ABANDONED_AFTER_S = 24 * 60 * 60


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a folder of ours is for, and how one is known: nothing else is ever replaced."""

    words: str
    mark: str
    """a JSON file in it that has a key `mobpack`"""
    option: str
    """of the command line, that names another folder"""


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
        staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise ToolError(
            f"cannot write to {out.parent}: {error.strerror}", hint=f"choose another folder with {kind.option}"
        ) from error
    try:
        yield staging
        staging.chmod(0o755)
        _swap(staging, out, kind)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise ToolError(f"no space left on the disk of {out}", hint="free some space, then run again") from error
        raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _remove_abandoned(out: Path) -> None:
    """Removes what commands that were killed have left beside `out`; one of today may still be running."""
    for left in out.parent.glob(f".{glob.escape(out.name)}.*"):
        with contextlib.suppress(OSError):
            if left.is_dir() and time.time() - left.stat().st_mtime > ABANDONED_AFTER_S:
                shutil.rmtree(left)


def refuse_foreign(out: Path, kind: Kind) -> None:
    """Raises ConfigError when `out` holds something that `replaced` would have to throw away."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    try:
        manifest = json.loads((out / kind.mark).read_text(encoding="utf-8"))
        is_ours = isinstance(manifest, dict) and "mobpack" in manifest
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        raise ConfigError(
            f"{out} exists and is not {kind.words}", hint=f"choose another folder with {kind.option}, or empty this one"
        )


def _swap(staging: Path, out: Path, kind: Kind) -> None:
    """Renames `staging` to `out`. Interrupts wait meanwhile; a failure puts the previous folder back."""
    with interrupts_deferred():
        previous = staging.with_name(staging.name + ".previous")
        try:
            if out.exists():
                out.rename(previous)
            staging.rename(out)
        except OSError as error:
            if previous.exists():
                previous.rename(out)
            raise ToolError(
                f"cannot put {kind.words} at {out}: {error.strerror}",
                hint=f"choose another folder with {kind.option}; a mount point cannot be replaced",
            ) from error
        shutil.rmtree(previous, ignore_errors=True)


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
