"""Results that several machines share: fetched before they are computed, verified, and sent after they were made.

An object `results/<machine>/<step>/<key>` lists the files of a result (`listing.py`); files over 256 kB, and the small
ones together, are objects by their sha256, `blobs/<sha256>`, which results share. A list is created after all that it
names, and only if it is not there: a killed process leaves blobs that nothing names, and of several that make the same
result at the same moment one is kept. Nothing that arrives is used before its size and sha256 are those that the list
says, and where keys are trusted, the list is signed by one of them.

A store that fails is asked no more after a few attempts: one warning, and the command goes on with what is here.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from packager.files.store.attempts import ATTEMPTS, FIRST_ATTEMPTS, FailedError, T, attempted, words_of
from packager.files.store.lanes import Lanes
from packager.files.store.listing import (
    MAX_LISTING_BYTES,
    Listing,
    UnusableError,
    allow,
    listing_of,
    packed,
    parsed,
    put,
    unpacked,
    written,
)
from packager.files.store.objects import Objects, StoredObject
from packager.files.store.origin import Origin

LAYOUT = "mobpack-1"
"""First folder of all names: other layouts have another."""
FIRST_DEADLINE_S = 15.0
"""for the first answer: credentials are looked for, and connections are made"""
DEADLINE_S = 120.0
"""for each answer after it, with all attempts"""
SLOWEST_BYTES_PER_S = 100_000
"""rate below which sending a file is given up"""
CHUNK_BYTES = 8 << 20
REQUESTS, SENDERS = 12, 4
"""at the same time"""
FLUSH_S = 15 * 60.0
"""longest time for which the end of a command waits for results that are being sent"""
RIGHTS = "reading needs s3:GetObject and s3:ListBucket in S3, or what other stores have for these"


class OfflineError(Exception):
    """The store is asked no more, or takes nothing any more."""


@dataclass(frozen=True, kw_only=True)
class Seal:
    """How lists are signed and verified."""

    open: Callable[[bytes], tuple[bytes, str]]
    """signed or unsigned content -> content of the list, and the identity of the trusted key that has signed it, empty
    if none has to; raises UnusableError if one has to"""

    sign: Callable[[bytes], bytes] | None = None
    """content of a list -> the signed content; None to sign nothing"""
    trusted: frozenset[str] = frozenset()
    """identities of the keys that `open` accepts; none if it accepts everything"""


@dataclass
class Counts:
    """Counts of a remote store in this process."""

    hits: int = 0
    misses: int = 0
    refused: int = 0
    """results that were not what they should be"""
    sent: int = 0
    known: int = 0
    """results that were made here and were there already"""
    unsent: int = 0
    received_bytes: int = 0
    sent_bytes: int = 0
    waited_s: float = 0.0
    """time for which a command waited for results"""


@dataclass
class Remote:
    """A store of results that several machines share."""

    objects: Objects
    name: str
    """in messages: its address"""
    machine: str
    """machines of another kind have other results: `linux-x86_64`"""
    warn: Callable[[str], None]
    seal: Seal
    is_written: bool = True
    counts: Counts = field(default_factory=Counts)
    _requests: Lanes = field(default_factory=lambda: Lanes(REQUESTS))
    _senders: Lanes = field(default_factory=lambda: Lanes(SENDERS))
    _sending: "list[Future[None]]" = field(default_factory=list)
    _spoiled: set[str] = field(default_factory=set)
    """objects that are not what they should be: they are replaced, not kept"""
    _present: set[str] = field(default_factory=set)
    """blobs that are known to be there"""
    _offline: str = ""
    """why the store is asked no more"""
    _closed: str = ""
    """why it gets nothing any more"""
    _said: set[str] = field(default_factory=set)
    _has_answered: bool = False
    _lock: Lock = field(default_factory=Lock)

    def accepts(self, origin: Origin) -> bool:
        """Whether a result that an earlier command has fetched would be fetched now."""
        return origin.signer in self.seal.trusted if self.seal.trusted else origin.cache == self.name

    def has(self, step: str, key: str) -> bool:
        """Whether a result is there; it may prove to be unusable when it is fetched."""
        name = self._name_of(step, key)
        try:
            return self._asked(lambda: self.objects.size_of(name)) is not None
        except OfflineError:
            return False

    def fetch(self, step: str, key: str, folder: Path) -> str | None:
        """Writes the files of a result to the empty `folder`. Returns the identity of the trusted key that has
        signed it, empty without one; None if there is no usable result: `folder` then holds nothing to be used."""
        began = time.monotonic()
        name = self._name_of(step, key)
        try:
            content = self._asked(lambda: self.objects.read(name, limit_bytes=MAX_LISTING_BYTES + 1))
            if content is None:
                self._count(misses=1)
                return None
            if len(content) > MAX_LISTING_BYTES:
                raise UnusableError("its list of files is too large")
            payload, signer = self.seal.open(content)
            listing = parsed(payload, step, key)
            self._receive(listing, folder)
            self._count(hits=1, received_bytes=len(content))
            return signer
        except UnusableError as error:
            self._spoiled.add(name)
            self._refuse(f"{step}/{key[:12]}", str(error))
        except OfflineError:
            self._count(misses=1)
        except OSError as error:  # this disk is full, or does not take what the other machine's took
            self._refuse(f"{step}/{key[:12]}", f"it cannot be written here: {error.strerror or error}")
        finally:
            self._count(waited_s=time.monotonic() - began)
        return None

    def spoil(self, step: str, key: str, reason: str) -> None:
        """Marks a result that proved to be useless after it was fetched: the one that is made here replaces it."""
        self._spoiled.add(self._name_of(step, key))
        self._refuse(f"{step}/{key[:12]}", reason)

    def offer(self, step: str, key: str, folder: Path) -> None:
        """Sends the files of `folder` as a result, in the background. They must not change before `flush`."""
        if self.is_written:
            self._sending.append(self._senders.start(lambda: self._send(step, key, folder)))

    def flush(self) -> None:
        """Waits until all results are sent, or cannot be; `counts.unsent` says how many were not."""
        end = time.monotonic() + FLUSH_S
        for future in self._sending:
            try:
                future.result(timeout=max(0.0, end - time.monotonic()))
            except TimeoutError:
                self._close(f"sending results takes more than {FLUSH_S / 60:.0f} minutes")
                self._count(unsent=1)
        self._sending.clear()

    @property
    def is_sending(self) -> bool:
        return not all(future.done() for future in self._sending)

    def listed(self) -> Iterator[StoredObject]:
        """Every object of mobpack in the store. Raises the store's own errors."""
        return self.objects.listed(LAYOUT)

    @property
    def problem(self) -> str:
        """Why the store is asked no more, or gets nothing any more; empty if all is well."""
        return self._offline or self._closed

    def _name_of(self, step: str, key: str) -> str:
        return f"{LAYOUT}/results/{self.machine}/{step}/{key}"

    def _receive(self, listing: Listing, folder: Path) -> None:
        """Writes and verifies all files of a list; several requests at the same time."""
        pack = None
        if listing.pack:
            pack = self._started(self._part(_blob(listing.pack), 0, listing.pack_bytes()))
        coming: deque[tuple[Path, Future[bytes]]] = deque()
        for path, request in self._parts(listing, folder):
            if len(coming) == REQUESTS:
                self._append(*coming.popleft())
            coming.append((path, self._started(request)))
        while coming:
            self._append(*coming.popleft())
        for file in listing.large():
            if sha256_of(folder / file.name) != file.sha256:
                self._spoiled.add(_blob(file.sha256))
                raise UnusableError(f"{file.name} has another sha256 than is listed")
            allow(folder / file.name, file)
        content = self._answer(pack) if pack else listing.inline or b""
        self._count(received_bytes=len(content) if pack else 0)
        try:
            for file, text in unpacked(listing, content):
                put(folder, file, text)
        except UnusableError:
            self._spoiled.add(_blob(listing.pack))
            raise

    def _parts(self, listing: Listing, folder: Path) -> "Iterator[tuple[Path, Callable[[], bytes]]]":
        """Requests for the parts of all large files, in order, with the file that each belongs to."""
        for file in listing.large():
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            for start in range(0, file.size_bytes, CHUNK_BYTES):
                yield path, self._part(_blob(file.sha256), start, min(CHUNK_BYTES, file.size_bytes - start))

    def _append(self, path: Path, future: "Future[bytes]") -> None:
        content = self._answer(future)
        with path.open("ab") as output:
            output.write(content)
        self._count(received_bytes=len(content))

    def _part(self, name: str, start: int, length: int) -> Callable[[], bytes]:
        """A request for exactly `length` bytes of an object; it raises UnusableError if it has fewer, or is not
        there."""

        def read() -> bytes:
            try:
                content = self.objects.read(name, start=start, limit_bytes=length)
            except (FileNotFoundError, PermissionError):
                content = b""
            if len(content) != length:
                self._spoiled.add(name)
                raise UnusableError("one of its files is missing, or cut short")
            return content

        return read

    def _send(self, step: str, key: str, folder: Path) -> None:
        try:
            self._send_now(step, key, folder)
        except OfflineError:
            self._count(unsent=1)
        except FileNotFoundError as error:
            self._count(unsent=1)
            if folder.exists():  # else another process has pruned it
                self._close(words_of(error))

    def _send_now(self, step: str, key: str, folder: Path) -> None:
        name = self._name_of(step, key)
        if name not in self._spoiled and self._told(lambda: self.objects.size_of(name)) is not None:
            self._count(known=1)
            return
        listing = listing_of(step, key, folder)
        if listing is None:
            return
        if name in self._spoiled:  # what has damaged the list may have damaged what it names
            shas = [*(file.sha256 for file in listing.large()), *([listing.pack] if listing.pack else [])]
            self._spoiled |= set(map(_blob, shas)) - self._present
        for file in listing.large():
            self._send_blob(file.sha256, file.size_bytes, folder / file.name)
        if listing.pack:
            self._send_blob(listing.pack, listing.pack_bytes(), packed(listing, folder))
        content = written(listing)
        if len(content) > MAX_LISTING_BYTES // 2:  # leaves room for a signature
            return
        try:
            content = self.seal.sign(content) if self.seal.sign else content
        except ToolError as error:
            raise self._close(error.message) from error
        is_new = True
        if name in self._spoiled:
            self._told(lambda: self.objects.replace(name, content))
            self._spoiled.discard(name)
        else:
            is_new = self._told(lambda: self.objects.create(name, content))
        self._count(sent=is_new, known=not is_new, sent_bytes=len(content))

    def _send_blob(self, sha256: str, size_bytes: int, source: Path | bytes) -> None:
        name = _blob(sha256)
        is_sound = name not in self._spoiled
        if is_sound and (name in self._present or self._told(lambda: self.objects.size_of(name)) == size_bytes):
            self._present.add(name)
            return
        send = self.objects.replace if isinstance(source, bytes) else self.objects.upload
        self._told(lambda: send(name, source), DEADLINE_S + size_bytes / SLOWEST_BYTES_PER_S)  # type: ignore[arg-type]
        self._present.add(name)
        self._spoiled.discard(name)
        self._count(sent_bytes=size_bytes)

    def _told(self, request: Callable[[], T], deadline_s: float = DEADLINE_S) -> T:
        """The answer to a request that writes. Raises OfflineError if the store takes nothing, or nothing any more."""
        if self._closed:
            raise OfflineError
        try:
            return self._answer(self._started(request), deadline_s)
        except PermissionError as error:
            raise self._close(f"it does not accept results: {words_of(error)}") from error

    def _asked(self, request: Callable[[], T]) -> T | None:
        """The answer to a request that reads; None if the object is not there. Raises OfflineError."""
        try:
            return self._answer(self._started(request))
        except FileNotFoundError as error:
            if "bucket" in str(error).lower():
                raise self._leave(words_of(error)) from error
            return None
        except PermissionError as error:
            raise self._leave(f"{words_of(error)} ({RIGHTS})") from error

    def _started(self, request: Callable[[], T]) -> "Future[T]":
        """Begins a request, in another thread. Raises OfflineError."""
        if self._offline:
            raise OfflineError
        attempts = ATTEMPTS if self._has_answered else FIRST_ATTEMPTS
        return self._requests.start(lambda: attempted(request, attempts))

    def _answer(self, future: "Future[T]", deadline_s: float = DEADLINE_S) -> T:
        """The answer to a request. Raises OfflineError if the store fails, or does not answer in time."""
        limit_s = deadline_s if self._has_answered else min(deadline_s, FIRST_DEADLINE_S)
        try:
            answer = future.result(timeout=limit_s)
        except FailedError as error:
            raise self._leave(str(error)) from error
        except TimeoutError as error:
            raise self._leave(f"no answer in {limit_s:.0f} s") from error
        except (FileNotFoundError, PermissionError, UnusableError):
            self._has_answered = True
            raise
        self._has_answered = True
        return answer

    def _leave(self, reason: str) -> OfflineError:
        """Asks the store no more, and says so once."""
        with self._lock:
            is_first = not self._offline
            self._offline = self._offline or reason
        if is_first:
            self.warn(f"the cache {self.name} is left out: {reason}; this command uses what is on this machine")
        return OfflineError(reason)

    def _close(self, reason: str) -> OfflineError:
        """Sends nothing more, and says so once."""
        with self._lock:
            is_first = not self._closed and not self._offline
            self._closed = self._closed or reason
        if is_first:
            self.warn(f"the cache {self.name} gets no results of this command: {reason}")
        return OfflineError(reason)

    def _refuse(self, what: str, reason: str) -> None:
        """Counts a result that is not what it should be, and says the first time why."""
        self._count(refused=1)
        with self._lock:
            is_first = reason not in self._said
            self._said.add(reason)
        if is_first:
            self.warn(f"the cache {self.name} has a result of {what} that is not used, and made here instead: {reason}")

    def _count(self, **changes: float) -> None:
        with self._lock:
            for key, change in changes.items():
                setattr(self.counts, key, getattr(self.counts, key) + change)


def _blob(sha256: str) -> str:
    return f"{LAYOUT}/blobs/{sha256[:2]}/{sha256}"
