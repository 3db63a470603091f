"""Stores results by content: the same inputs are never computed twice, and an incomplete or damaged result is never
used.

A key covers everything that a step's output depends on, including the code that computes it (`keys.py`). The files of a
result lie in `<root>/<step>/<key>/files/`, and their index beside that folder. A step writes into a scratch folder that
is renamed into place once it is synced to the disk, so that neither a killed build nor a power cut leaves half an entry
behind. Every read compares an entry with its index first; an entry that differs is removed and made anew.

Behind it there may be a store of several machines (`remote.py`): it is asked for what is not here, and gets what was
made here.
"""

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.files import host
from packager.files.atomic import NO_SPACE
from packager.files.leftovers import remove_old
from packager.files.store.index import FILES, INDEX, damage_of, write_index
from packager.files.store.keys import Step
from packager.files.store.origin import OWN, Origin, origin_of, write_origin

if TYPE_CHECKING:
    from packager.files.store.remote import Remote

SCRATCH = "scratch"
GRACE_S = 60 * 60
"""Grace period: results used within it are never pruned."""
USERS = ".users"
"""Folder of the store with a locked file for each running build."""
USES = ".uses"
"""Lock file of the store: shared by all that look for an entry, exclusive to the one that removes one."""
REPAIRS = ".repairs"
"""Lock file of the store, held while a damaged entry is removed."""


CLAIMS = ".claims"
"""Folder of the store with a locked file for each result that is being made."""


def _warn(text: str) -> None:
    Console().caution(text)


def _count_nothing(name: str) -> None:
    """Takes the name of a result, where nobody counts them."""


@dataclass(frozen=True)
class Store:
    root: Path
    warn: Callable[[str], None] = field(default=_warn, compare=False)
    """gets a sentence for each damaged entry"""
    remote: "Remote | None" = field(default=None, compare=False)
    """a store of several machines behind this one"""
    made: Callable[[str], None] = field(default=_count_nothing, compare=False)
    """gets `step/key` of each result that was made here, once it is stored"""
    asked: Callable[[str], None] = field(default=_count_nothing, compare=False)
    """gets `step/key` of each result that is asked for"""
    borrowed: list[str] = field(default_factory=list, compare=False)
    """results of other machines that were used, in words"""
    is_private: bool = field(default=False, compare=False)
    """whether what is made here never leaves this machine, not even later"""
    has_claims: bool = field(default=False, compare=False)
    """whether a process waits for a result that another one makes already: many builds share the store"""

    def results(self, step: Step, inputs: object, make: Callable[[Path], None]) -> Path:
        """The folder with the files that `make` writes for `inputs` (any JSON value), made now unless a complete one
        exists, here or in the remote store.

        Nothing may write to it.
        """
        entry = self._entry(step, inputs)
        self.asked(f"{step.name}/{entry.name}")
        if self._is_whole(entry) or self._fetched(step, entry):
            return entry / FILES
        with self.claimed(step, inputs):
            if self.has_claims and self._is_whole(entry):
                return entry / FILES
            return self._made(step, inputs, make)

    def _made(self, step: Step, inputs: object, make: Callable[[Path], None]) -> Path:
        entry = self._entry(step, inputs)
        with self.scratch() as scratch:
            made = scratch / "entry"
            (made / FILES).mkdir(parents=True)
            make(made / FILES)
            if self.is_private or not step.is_shared:
                (made / OWN).touch()
            if self._placed(made, entry):
                if self.remote and step.is_shared:
                    self.remote.offer(step.name, entry.name, entry / FILES)
                self.made(f"{step.name}/{entry.name}")
                return entry / FILES
        if self._is_whole(entry):  # another build was faster: its result is as good
            return entry / FILES
        return self._made(step, inputs, make)

    @contextlib.contextmanager
    def claimed(self, step: Step, inputs: object) -> Iterator[None]:
        """Makes other processes that want to make the same result wait, in a store with claims. The claim ends with the
        process that holds it."""
        if not self.has_claims:
            yield
            return
        folder = self.root / CLAIMS
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{step.name}-{step.key(inputs)}"
        while True:
            with place.open("a") as file:
                host.lock(file.fileno())
                if not host.is_at(place, file.fileno()):
                    continue  # its last holder has removed it
                try:
                    yield
                finally:
                    with contextlib.suppress(OSError):
                        place.unlink()
                return

    def is_claimed(self, step: Step, inputs: object) -> bool:
        """Whether another process makes this result now."""
        try:
            with (self.root / CLAIMS / f"{step.name}-{step.key(inputs)}").open("r+") as file:
                return not host.lock(file.fileno(), waits=False)
        except FileNotFoundError:
            return False

    def find(self, step: Step, inputs: object) -> Path | None:
        """The folder of existing results, here or in the remote store; makes none."""
        entry = self._entry(step, inputs)
        return entry / FILES if self._is_whole(entry) or self._fetched(step, entry) else None

    def has(self, step: Step, inputs: object) -> bool:
        """Whether there are results, here or in the remote store; fetches none."""
        entry = self._entry(step, inputs)
        if self._is_whole(entry):
            return True
        return bool(self.remote and step.is_shared and self.remote.has(step.name, entry.name))

    def _fetched(self, step: Step, entry: Path) -> bool:
        """Whether the remote store had the result: it is an entry now."""
        if not self.remote or not step.is_shared:
            return False
        with self.scratch() as scratch:
            made = scratch / "entry"
            (made / FILES).mkdir(parents=True)
            signer = self.remote.fetch(step.name, entry.name, made / FILES)
            if signer is None:
                return False
            write_origin(made, Origin(cache=self.remote.name, signer=signer))
            self.borrowed.append(_words(entry))
            return self._placed(made, entry) or self._is_whole(entry)

    def _placed(self, made: Path, entry: Path) -> bool:
        """Gives a complete folder the name of an entry. Returns False if there is one, of a build that was faster."""
        write_index(made)
        self._make(entry.parent)
        try:
            host.rename(made, entry)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            return False
        host.sync(entry.parent)
        return True

    def _entry(self, step: Step, inputs: object) -> Path:
        return self.root / step.name / step.key(inputs)

    def _is_whole(self, entry: Path) -> bool:
        """Whether the entry exists and is undamaged; a damaged one is removed."""
        if not entry.exists():
            return False
        with self._locked(USES, is_shared=True):
            if not entry.exists():
                return False
            with contextlib.suppress(OSError):  # damaged; a store that belongs to another user
                os.utime(entry / INDEX)
        if not damage_of(entry):
            return self._is_accepted(entry)
        damage = self.remove_if_damaged(entry)
        if damage:
            self.warn(f"stored result {_words(entry)} is damaged ({damage}): it will be made again")
        return not damage and entry.exists()  # another build may have found it too, and made it again by now

    def _is_accepted(self, entry: Path) -> bool:
        """Whether a whole entry may be used: one made here, or one from a cache that this store trusts as much as the
        one that fetched it. Another is removed, to be made here."""
        origin = origin_of(entry)
        if origin is None:
            return True
        if self.remote and self.remote.accepts(origin):
            self.borrowed.append(_words(entry))
            return True
        self._move_out(entry, f"it is from {origin.cache}, which this project does not trust")
        return False

    def remove_if_damaged(self, entry: Path) -> str:
        """Removes an entry if it is damaged; returns the damage in words, empty if it is undamaged or gone."""
        with self._locked(REPAIRS):
            damage = damage_of(entry) if entry.exists() else ""
            if damage:
                self._move_out(entry, damage)
        return damage

    def _move_out(self, entry: Path, damage: str) -> None:
        try:
            with self.scratch() as scratch:
                host.rename(entry, scratch / "damaged")
        except PermissionError as error:  # another user's store, or a file that is open, on Windows
            raise ToolError(
                f"stored result {_words(entry)} is damaged ({damage}) and cannot be removed: {error.strerror}",
                hint=f"end programs that have it open, or remove {entry}",
            ) from error

    @contextlib.contextmanager
    def _locked(self, name: str, *, is_shared: bool = False) -> Iterator[None]:
        """Holds a lock of the store: other processes that take the same one wait until the block ends."""
        with (self.root / name).open("a") as lock:
            host.lock(lock.fileno(), is_shared=is_shared)
            yield

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Keeps other processes from pruning what this one uses in the block."""
        with self.scratch():  # raises if nothing can be written
            self._make(self.root / USERS)
        descriptor, name = tempfile.mkstemp(dir=self.root / USERS)
        try:
            host.lock(descriptor)
            yield
        finally:
            os.close(descriptor)
            with contextlib.suppress(PermissionError):  # on Windows, while `oldest_use` of another process looks at it
                Path(name).unlink(missing_ok=True)

    def oldest_use(self) -> float:
        """Start of the longest-running build that uses the store, in seconds since 1970; now, if there is none. Removes
        leftovers of killed processes."""
        started = [time.time()]
        for path in (self.root / USERS).iterdir() if (self.root / USERS).is_dir() else ():
            with contextlib.suppress(FileNotFoundError):
                with path.open("a") as file:
                    is_left = host.lock(file.fileno(), waits=False)
                used = path.stat().st_mtime
                if is_left and time.time() - used > GRACE_S:  # a younger one is about to be locked
                    path.unlink()
                else:
                    started.append(used)
        return min(started)

    def remove(self, entry: Path, *, unless_used_since: float) -> bool:
        """Removes an entry from the store; returns whether it did. Processes that have its files open can keep
        reading."""
        try:
            with self.scratch() as scratch, self._locked(USES):
                used = (entry / INDEX if (entry / INDEX).exists() else entry).stat().st_mtime
                if used >= unless_used_since:
                    return False
                host.rename(entry, scratch / "removed")
        except FileNotFoundError:  # another process has removed it
            return False
        except PermissionError as error:
            self.warn(f"stored result {_words(entry)} cannot be removed: {error.strerror}")
            return False
        return True

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder on the disk of the store."""
        base = self.root / SCRATCH
        self._make(base)
        try:
            remove_old(base.iterdir())  # of killed builds
            folder = Path(tempfile.mkdtemp(dir=base))
        except OSError as error:
            raise self._cannot_write(error) from error
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

    def _make(self, folder: Path) -> None:
        """Makes a folder of the store. Raises ToolError for a full or read-only disk, or a file in its place."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: OSError) -> ToolError:
        where = f" ({error.filename})" if isinstance(error, FileExistsError | NotADirectoryError) else ""
        return ToolError(
            f"cannot write to the cache {self.root}: {error.strerror}{where}",
            hint="free some space, or set XDG_CACHE_HOME to a folder you can write to",
        )


def _words(entry: Path) -> str:
    """`compile/0123456789ab`"""
    return f"{entry.parent.name}/{entry.name[:12]}"
