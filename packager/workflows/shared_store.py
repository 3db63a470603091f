"""The user's store of results, with the store of several machines behind it that `--cache`, MOBPACK_CACHE or the table
`[cache]` names.

Functions import what talks to that one: most commands have none, and would wait for its modules.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import parsing, user_files
from packager.core.console import Console, size
from packager.core.errors import ConfigError, GateError, MobpackError, ToolError, UnprovenError
from packager.files import host
from packager.files.atomic import atomic_file
from packager.files.store import Store, key_of
from packager.files.store.index import FILES, INDEX
from packager.files.store.origin import OWN, origin_of
from packager.files.store.pruning import entries
from packager.files.user_cache import cache_folder
from packager.workflows.private_models import is_private as is_private_project

if TYPE_CHECKING:
    from packager.config import CacheTable, Config
    from packager.files.store.objects import StoredObject
    from packager.files.store.remote import Counts, Remote, Seal

REMOTE, MODE, KEY = "MOBPACK_CACHE", "MOBPACK_CACHE_MODE", "MOBPACK_CACHE_KEY"
CERTIFICATE = "MOBPACK_CACHE_CERTIFICATE"
READ, READ_WRITE = "read", "read-write"
SIGNED_TYPE = "application/vnd.mobpack.cache+json"
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
"""Names that systems give to processors -> one name for each."""
PRIVATE = "a project encrypts these models, and results contain them as they are"
MAX_PROJECT_BYTES = 8 << 20
CHECK = "check the address, its credentials and the network"
SIGN = "sign results with a private key in MOBPACK_CACHE_KEY, such as cache.pem"


def named(table: "CacheTable", option: str | None = None) -> "CacheTable":
    """`table` with the address of `--cache`, or else of MOBPACK_CACHE, and the mode of MOBPACK_CACHE_MODE.

    Raises ConfigError for a mode that does not exist.
    """
    mode = os.environ.get(MODE) or table.mode
    if mode not in ("", READ, READ_WRITE):
        raise ConfigError(f"{MODE} is '{mode}'", hint=f"set it to {READ} or {READ_WRITE}")
    return table.model_copy(update={"remote": option or os.environ.get(REMOTE) or table.remote, "mode": mode})


def is_named(option: str | None) -> bool:
    """Whether `--cache` or the environment says something of a remote store."""
    return bool(option or os.environ.get(REMOTE) or os.environ.get(MODE))


def store_of(config: "Config", console: Console) -> AbstractContextManager[Store]:
    """`opened_store` for a project: nothing of it is sent if it is private."""
    return opened_store(config.cache, console, is_private=is_private_project(config))


@contextmanager
def opened_store(cache: "CacheTable | None", console: Console, *, is_private: bool = False) -> Iterator[Store]:
    """The user's store, which asks the remote one of `cache`, if any, for what it lacks. At the end of the block, also
    when it fails, waits until the results that were made in it are sent, and says what was fetched and sent.

    A project that encrypts its models is private, and so is whatever is done in its folder, or with its models anywhere
    (`private_models.py`): no remote store takes part, as results contain the models in plain text.

    Raises ConfigError for an address or a key that cannot be used; a store that does not answer is a warning.
    """
    remote = remote_of(cache, console) if cache else None
    is_private = is_private or encrypts_here()
    if remote and is_private:
        console.caution(f"the cache {remote.name} is left out: {PRIVATE}")
        remote = None
    store = Store(cache_folder() / "store", remote=remote, is_private=is_private)
    if remote is None:
        yield store
        return
    try:
        with doubting(store):
            yield store
    finally:
        finish(remote, console)


@contextmanager
def doubting(store: Store) -> Iterator[None]:
    """Raises UnprovenError for whatever fails in the block, if results of other machines were used in it: one of them
    may be why. Where only keys are trusted, it is not why a project is refused."""
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:  # whatever a wrong file leads to
        is_signed = store.remote is not None and bool(store.remote.seal.trusted)
        is_interrupted = isinstance(error.__cause__, KeyboardInterrupt)
        if not store.borrowed or is_interrupted or (is_signed and isinstance(error, MobpackError)):
            raise
        from packager.files.store.attempts import words_of

        message = error.message if isinstance(error, MobpackError) else words_of(error)
        where = store.remote.name if store.remote else "another machine"
        raise UnprovenError(
            f"this failed with results of {where} ({message}): it is done again without them"
        ) from error


def encrypts_here() -> bool:
    """Whether the project in the current folder encrypts its models."""
    try:
        document = parsing.toml_of(user_files.read_text(Path("mobpack.toml"), limit_bytes=MAX_PROJECT_BYTES))
        return bool(document["package"].get("encryption"))
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return False  # no project, or one that its own commands refuse


def remote_of(cache: "CacheTable", console: Console) -> "Remote | None":
    """The remote store of `cache`; None if it names none. Connects to nothing. Raises ConfigError."""
    from packager.config.cache import OFF

    if not cache.remote or cache.remote == OFF:
        return None
    from packager.files.store.objects import open_objects
    from packager.files.store.remote import Remote

    objects = open_objects(cache.remote)
    mode = _mode(cache, is_read_only=objects.is_read_only)
    return Remote(
        objects=objects,
        name=cache.remote if "://" in cache.remote else str(Path(cache.remote).absolute()),
        machine=machine(),
        warn=console.caution,
        is_written=mode == READ_WRITE,
        seal=_seal(cache, is_written=mode == READ_WRITE),
    )


def machine() -> str:
    """Machines that share results: `linux-x86_64`."""
    processor = platform.machine().lower()
    return f"{sys.platform}-{PROCESSORS.get(processor, processor)}"


def finish(remote: "Remote", console: Console) -> None:
    """Waits for results that are being sent, says what was done, and adds it to the totals."""
    if remote.is_sending:
        with console.step(f"send results to {remote.name}"):
            remote.flush()
    remote.flush()
    if words := in_words(remote.counts):
        console.say(f"  cache {remote.name}: {words}")
        _add_to_totals(remote)


def in_words(counts: "Counts") -> str:
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


def push(store: Store, used_since_s: float) -> None:
    """Sends the results in `store` that were made on this machine, and used since a time, in seconds since 1970."""
    assert store.remote
    for entry in entries(store):
        is_own = (entry.path / OWN).exists() or origin_of(entry.path) is not None
        if entry.used_s >= used_since_s and not is_own and (entry.path / INDEX).exists():
            store.remote.offer(entry.step, entry.key, entry.path / FILES)


def prune(remote: "Remote", max_age_s: float) -> "tuple[StoredObject, ...]":
    """Removes the objects of a remote store that were written more than `max_age_s` ago; returns them. Results that
    lose a file are made and sent again by whoever asks for them.

    Raises ToolError if the store fails.
    """
    limit_s = time.time() - max_age_s
    with _failing(remote.name):
        old = [each for each in remote.listed() if each.changed_s is not None and each.changed_s < limit_s]
        for each in sorted(old, key=lambda each: "/results/" not in each.name):  # lists before the files that they name
            remote.objects.delete(each.name)
    return tuple(old)


def contents(remote: "Remote") -> Mapping[str, tuple[int, int]]:
    """Objects and bytes by what they are: the results of each step, and the files that they share.

    Raises ToolError if the store fails.
    """
    from packager.files.store.remote import LAYOUT

    found: dict[str, tuple[int, int]] = {}
    with _failing(remote.name):
        for each in remote.listed():
            kind, *parts = each.name.removeprefix(f"{LAYOUT}/").split("/")
            name = "/".join(parts[:2]) if kind == "results" else "files"
            count, size_bytes = found.get(name, (0, 0))
            found[name] = count + 1, size_bytes + each.size_bytes
    return dict(sorted(found.items()))


@contextmanager
def _failing(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # every store's library has errors of its own
        from packager.files.store.attempts import words_of

        raise ToolError(f"{name}: {words_of(error)}", hint=CHECK) from error


def all_totals() -> "Mapping[str, Counts]":
    """Counts of all commands on this machine, by the address of the remote store."""
    from packager.files.store.remote import Counts

    found = {}
    for path in sorted((cache_folder() / "remotes").glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError):
            document = parsing.json_of(path.read_text(encoding="utf-8"))
            name = str(document.pop("cache"))
            found[name] = Counts(**document)
    return found


def answers(cache: "CacheTable") -> str:
    """Why the remote store of `cache` cannot be used, in words; empty if it answers. Raises ConfigError."""
    remote = remote_of(cache, Console(quiet=True))
    if remote is None:
        return "no shared cache is named"
    remote.warn = lambda text: None
    remote.has("doctor", "0")
    return remote.problem


def totals(name: str) -> "Counts":
    """Counts of all commands on this machine with the remote store `name`."""
    from packager.files.store.remote import Counts

    try:
        document = parsing.json_of(_place(name).read_text(encoding="utf-8"))
        return Counts(**{key: value for key, value in document.items() if key != "cache"})
    except (OSError, ValueError, TypeError, AttributeError):  # none so far, or those of another version
        return Counts()


def _add_to_totals(remote: "Remote") -> None:
    place = _place(remote.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("a") as lock:
        host.lock(lock.fileno())
        known = asdict(totals(remote.name))
        summed = {key: known[key] + value for key, value in asdict(remote.counts).items()}
        with atomic_file(place) as file:
            file.write(json.dumps({"cache": remote.name, **summed}).encode())


def _place(name: str) -> Path:
    return cache_folder() / "remotes" / f"{key_of(name)[:16]}.json"


def _mode(cache: "CacheTable", *, is_read_only: bool) -> str:
    has_key = bool(os.environ.get(KEY))
    if cache.mode == READ_WRITE:
        if is_read_only:
            raise ConfigError(f"{cache.remote} can only be read", hint=f'set mode = "{READ}" in [cache]')
        if cache.trust and not has_key:
            raise ConfigError("cache.trust accepts signed results alone, and there is no key to sign with", hint=SIGN)
    if is_read_only or (cache.trust and not has_key):
        return READ
    return cache.mode or READ_WRITE


def _seal(cache: "CacheTable", *, is_written: bool) -> "Seal":
    from packager.files.store.listing import UnusableError
    from packager.files.store.remote import Seal
    from packager.signing.envelope import parsed, written
    from packager.signing.keys import chain_of, open_signer, signed
    from packager.signing.verifying import trusted, verify

    if cache.subject and not cache.trusted:
        raise ConfigError("cache.subject belongs to a certificate", hint='set trust = "root.pem" in [cache], too')
    keys = trusted(cache.trusted, cache.subject or None, option="subject in [cache]")
    key = os.environ.get(KEY) if is_written else None
    signer = open_signer(key) if key else None
    certificate = os.environ.get(CERTIFICATE)
    chain = chain_of(Path(certificate), signer) if signer and certificate else ()

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
            return bundle.payload, verify(bundle, keys, "it", option="cache.trust").identity
        except GateError as error:
            raise UnusableError(error.message) from error

    def sign_listing(content: bytes) -> bytes:
        assert signer
        return written(signed(signer, SIGNED_TYPE, content, chain))

    return Seal(
        open=open_listing,
        sign=sign_listing if signer else None,
        trusted=frozenset(each.identity for each in keys),
    )


def described(counts: "Counts") -> Mapping[str, object]:
    """The counts as JSON, for `mobpack cache --json`."""
    return {key.replace("_", "-"): value for key, value in asdict(counts).items()}
