"""The user's store of results, with the store of several machines behind it that `--cache`, MOBPACK_CACHE or the table
`[cache]` names."""

import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from packager.config import CacheTable
from packager.config.cache import OFF
from packager.core.console import Console, size
from packager.core.errors import ConfigError, GateError
from packager.files import host
from packager.files.atomic import atomic_file
from packager.files.store import Store, key_of
from packager.files.store.listing import UnusableError
from packager.files.store.objects import open_objects
from packager.files.store.remote import Counts, Remote, Seal
from packager.files.user_cache import cache_folder

REMOTE, MODE, KEY = "MOBPACK_CACHE", "MOBPACK_CACHE_MODE", "MOBPACK_CACHE_KEY"
READ, READ_WRITE = "read", "read-write"
SIGNED_TYPE = "application/vnd.mobpack.cache+json"
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
"""Names that systems give to processors -> one name for each."""
SIGN = "sign results with a private key in MOBPACK_CACHE_KEY, such as cache.pem"


def named(table: CacheTable, option: str | None = None) -> CacheTable:
    """`table` with the address of `--cache`, or else of MOBPACK_CACHE, and the mode of MOBPACK_CACHE_MODE.

    Raises ConfigError for a mode that does not exist.
    """
    mode = os.environ.get(MODE) or table.mode
    if mode not in ("", READ, READ_WRITE):
        raise ConfigError(f"{MODE} is '{mode}'", hint=f"set it to {READ} or {READ_WRITE}")
    return table.model_copy(update={"remote": option or os.environ.get(REMOTE) or table.remote, "mode": mode})


@contextmanager
def opened_store(cache: CacheTable, console: Console) -> Iterator[Store]:
    """The user's store, which asks the remote one of `cache` for what it lacks. At the end of the block, also when it
    fails, waits until the results that were made in it are sent, and says what was fetched and sent.

    Raises ConfigError for an address or a key that cannot be used; a store that does not answer is a warning.
    """
    remote = remote_of(cache, console)
    store = Store(cache_folder() / "store", remote=remote)
    if remote is None:
        yield store
        return
    try:
        yield store
    finally:
        finish(remote, console)


def remote_of(cache: CacheTable, console: Console) -> Remote | None:
    """The remote store of `cache`; None if it names none. Connects to nothing. Raises ConfigError."""
    if not cache.remote or cache.remote == OFF:
        return None
    objects = open_objects(cache.remote)
    mode = _mode(cache, is_read_only=objects.is_read_only)
    return Remote(
        objects=objects,
        name=cache.remote,
        machine=machine(),
        warn=console.caution,
        is_written=mode == READ_WRITE,
        seal=_seal(cache, is_written=mode == READ_WRITE),
    )


def machine() -> str:
    """Machines that share results: `linux-x86_64`."""
    processor = platform.machine().lower()
    return f"{sys.platform}-{PROCESSORS.get(processor, processor)}"


def finish(remote: Remote, console: Console) -> None:
    """Waits for results that are being sent, says what was done, and adds it to the totals."""
    if remote.is_sending:
        with console.step(f"send results to {remote.name}"):
            remote.flush()
    remote.flush()
    if words := in_words(remote.counts):
        console.say(f"  cache {remote.name}: {words}")
        _add_to_totals(remote)


def in_words(counts: Counts) -> str:
    """`14 results fetched (21.0 MB), 1 sent (2.0 MB)`; empty if nothing was done."""
    asked = counts.hits + counts.misses + counts.refused
    received = f" ({size(counts.received_bytes)})" if counts.hits else ""
    parts = [
        f"{counts.hits} of {asked} results fetched{received}" if asked else "",
        f"{counts.sent} sent ({size(counts.sent_bytes)})" if counts.sent else "",
        f"{counts.refused} refused" if counts.refused else "",
        f"{counts.unsent} NOT sent: `mobpack cache --push` sends them" if counts.unsent else "",
    ]
    return ", ".join(filter(None, parts))


def totals(name: str) -> Counts:
    """What all commands on this machine have done with the remote store `name`."""
    try:
        return Counts(**json.loads(_place(name).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # none so far, or those of another version
        return Counts()


def _add_to_totals(remote: Remote) -> None:
    place = _place(remote.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("a") as lock:
        host.lock(lock.fileno())
        known = asdict(totals(remote.name))
        summed = {key: known[key] + value for key, value in asdict(remote.counts).items()}
        with atomic_file(place) as file:
            file.write(json.dumps(summed).encode())


def _place(name: str) -> Path:
    return cache_folder() / "remotes" / f"{key_of(name)[:16]}.json"


def _mode(cache: CacheTable, *, is_read_only: bool) -> str:
    has_key = bool(os.environ.get(KEY))
    if cache.mode == READ_WRITE:
        if is_read_only:
            raise ConfigError(f"{cache.remote} can only be read", hint=f'set mode = "{READ}" in [cache]')
        if cache.trust and not has_key:
            raise ConfigError("cache.trust accepts signed results alone, and there is no key to sign with", hint=SIGN)
    if is_read_only or (cache.trust and not has_key):
        return READ
    return cache.mode or READ_WRITE


def _seal(cache: CacheTable, *, is_written: bool) -> Seal:
    from packager.signing.envelope import parsed, written
    from packager.signing.keys import fingerprint, open_signer, signed
    from packager.signing.verifying import trusted, verify

    keys = trusted(cache.trusted)
    key = os.environ.get(KEY) if is_written else None
    signer = open_signer(key) if key else None

    def open_listing(content: bytes) -> tuple[bytes, str]:
        is_signed = b'"dsseEnvelope"' in content[:4096]
        if not is_signed:
            if keys:
                raise UnusableError("it is not signed, and cache.trust names keys")
            return content, ""
        try:
            bundle = parsed(content, "its signature")
            if bundle.payload_type != SIGNED_TYPE:
                raise UnusableError("its signature is of something else")
            if not keys:
                return bundle.payload, ""
            return bundle.payload, fingerprint(verify(bundle, keys, "it", option="cache.trust").key)
        except GateError as error:
            raise UnusableError(error.message) from error

    def sign_listing(content: bytes) -> bytes:
        assert signer
        return written(signed(signer, SIGNED_TYPE, content))

    return Seal(
        open=open_listing,
        sign=sign_listing if signer else None,
        trusted=frozenset(fingerprint(each.key) for each in keys),
    )


def described(counts: Counts) -> Mapping[str, object]:
    """The counts as JSON, for `mobpack cache --json`."""
    return {key.replace("_", "-"): value for key, value in asdict(counts).items()}
