"""Results by content: the same inputs are never computed twice, and a half-made or damaged result is never used.

A key covers everything that a step's output depends on, the code that computes it too (`keys.py`). The files of a
result lie in `<root>/<step>/<key>/files/`, and their index beside that folder. A step writes into a scratch folder
that is renamed into place when all of it is on the disk, so that neither a killed build nor a power cut leaves half an
entry behind. Whatever is read is compared with its index first; an entry that differs is removed and made anew.
"""

import contextlib
import errno
import fcntl
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packager.atomic import NO_SPACE
from packager.console import Console
from packager.errors import ToolError
from packager.store.index import FILES, damage_of, sync, write_index
from packager.store.keys import Step

ABANDONED_AFTER_S = 24 * 60 * 60
SCRATCH = "scratch"
REPAIRS = ".repairs"
"""File of the store that is locked while a damaged entry is removed."""


def _warn(text: str) -> None:
    Console().caution(text)


@dataclass(frozen=True)
class Store:
    root: Path
    warn: Callable[[str], None] = field(default=_warn, compare=False)
    """gets a sentence for each entry that is damaged"""

    def results(self, step: Step, inputs: object, make: Callable[[Path], None]) -> Path:
        """The folder with what `make` writes for `inputs` (anything JSON can say), made now unless it is there, whole.

        Nothing may write to it.
        """
        entry = self._entry(step, inputs)
        if self._is_whole(entry):
            return entry / FILES
        with self.scratch() as scratch:
            made = scratch / "entry"
            (made / FILES).mkdir(parents=True)
            make(made / FILES)
            write_index(made)
            entry.parent.mkdir(parents=True, exist_ok=True)
            try:
                made.rename(entry)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            else:
                sync(entry.parent)
                return entry / FILES
        return self.results(step, inputs, make)  # another build was faster: its result is as good

    def find(self, step: Step, inputs: object) -> Path | None:
        """The folder of results that are there, without making them."""
        entry = self._entry(step, inputs)
        return entry / FILES if self._is_whole(entry) else None

    def _entry(self, step: Step, inputs: object) -> Path:
        return self.root / step.name / step.key(inputs)

    def _is_whole(self, entry: Path) -> bool:
        """Whether the entry is there and as it was made; a damaged one is removed."""
        if not entry.exists():
            return False
        if not damage_of(entry):
            return True
        with self._locked(REPAIRS):
            # Another build may have looked at it, too, and made it anew by now.
            return entry.exists() and not self._removed_if_damaged(entry)

    def _removed_if_damaged(self, entry: Path) -> bool:
        damage = damage_of(entry)
        if damage:
            with self.scratch() as scratch:
                entry.rename(scratch / "damaged")
            self.warn(f"stored result {_words(entry)} is damaged ({damage}): it is made anew")
        return bool(damage)

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Other processes wait for the end of the block, where they lock the same file of the store."""
        with (self.root / name).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder that is gone afterwards, on the disk of the store."""
        base = self.root / SCRATCH
        try:
            base.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(base)
            folder = Path(tempfile.mkdtemp(dir=base))
        except OSError as error:
            raise ToolError(
                f"cannot write to the cache {self.root}: {error.strerror}",
                hint="free some space, or set XDG_CACHE_HOME to a folder you can write to",
            ) from error
        try:
            yield folder
        except OSError as error:
            if error.errno in NO_SPACE:
                raise ToolError(
                    f"no space left on the disk of {self.root}", hint="free some space, then run again"
                ) from error
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _words(entry: Path) -> str:
    """`compile/0123456789ab`"""
    return f"{entry.parent.name}/{entry.name[:12]}"


def _remove_abandoned(base: Path) -> None:
    """Removes what builds that were killed have left; a build of today may still be running."""
    for folder in base.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > ABANDONED_AFTER_S:
                shutil.rmtree(folder)
