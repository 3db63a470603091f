"""`mobpack channel`: opens channels as repositories of TUF, and writes the files that people hand on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuf.api.metadata import Metadata, Root

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.distribution.channel import rotating
from packager.distribution.channel.places import LacksSignaturesError, Signing
from packager.distribution.channel.repository import Repository
from packager.distribution.channel.roles import (
    LIMITS,
    ROLES,
    RoleKeys,
    missing_of_root,
    read_any,
)
from packager.distribution.channel.signers import public_key, signer
from packager.distribution.channel.storage import open_storage
from packager.files.atomic import atomic_file


@dataclass(frozen=True, kw_only=True)
class AskedKeys:
    """Keys that the command line gives to roles."""

    keys: Mapping[str, tuple[str, ...]]
    thresholds: tuple[str, ...]
    """such as `root=2`"""


@dataclass(frozen=True, kw_only=True)
class Rooted:
    """Result of a change of a root, or of a signature of one."""

    metadata: Metadata[Any]
    path: Path
    """the file for people to hand on, or for projects"""
    missing: int
    """signatures of other people that it needs"""
    is_published: bool
    notes: tuple[str, ...] = ()
    """what others have to do before apps get something, a sentence each"""


def opened(
    url: str,
    root: Path,
    keys: Sequence[str] = (),
    *,
    role: str | None = None,
    vouched: int = 0,
    has_new_keys: bool = False,
) -> Repository:
    """The channel at `url`, as apps see it that were shipped with the file `root`.

    Raises ConfigError for a key that is none of its own, unless it `has_new_keys`, for keys of which none is one of a
    `role`, and for a file that cannot be read.
    """
    place = Repository(
        storage=open_storage(url), trusted=_read(root), signers=tuple(map(signer, keys)), vouched=vouched
    )
    if not has_new_keys:
        rotating.refuse_strangers(place, role)
    return place


def init(
    package: str, channel: str, asked: AskedKeys, keys: Sequence[str], signing: Signing, path: Path, url: str | None
) -> Rooted:
    """Writes the root of a new channel to `path`, and to the store at `url` if enough keys have signed it.

    Raises ConfigError if the file is there already; GateError if the store has another channel of this name.
    """
    if path.exists():
        raise ConfigError(
            f"{path} is there already", hint="to change the keys of a channel: mobpack channel rotate; else name --out"
        )
    roles = {name: RoleKeys(keys=()) for name in ROLES} | _roles(asked, None, keys)
    metadata = rotating.begin(package, channel, roles, tuple(map(signer, keys)), signing.now, signing.days)
    return _handed(metadata, None, path, signing, _begun(metadata, url))


def rotate(
    place: Repository,
    asked: AskedKeys,
    revoked: Sequence[str],
    signing: Signing,
    *,
    days: int,
    path: Path | None,
    number: int,
    is_dry: bool,
) -> Rooted:
    """Gives a channel a root with other keys, and writes its file: for people who have to sign it, too, and for apps
    to come."""
    before = place.root()
    ids = [public_key(each).keyid for each in revoked]
    metadata = rotating.rotated(place, _roles(asked, before, ()), ids, signing.now, days)
    path = path or Path(f"{place.channel}.{metadata.signed.version}.root.json")
    if is_dry:
        missing = missing_of_root(metadata, before)
        return Rooted(metadata=metadata, path=path, missing=missing, is_published=False)
    return _handed(metadata, before, path, signing, place, number)


def sign(
    path: Path, keys: Sequence[str], signing: Signing, url: str | None, root: Path | None, *, number: int
) -> Rooted:
    """Adds signatures to metadata in a file, and publishes it once enough have signed.

    Raises ConfigError for a key that may not sign it, and without the channel that it belongs to.
    """
    content = _read(path)
    metadata = read_any(content, str(path))
    if isinstance(metadata.signed, Root) and metadata.signed.version == 1:
        rotating.sign_root(metadata, None, tuple(map(signer, keys)))
        return _handed(metadata, None, path, signing, _begun(metadata, url))
    if url is None or root is None:
        raise ConfigError(
            f"{path} belongs to a channel that is published", hint="give its address and its root: --to URL --root FILE"
        )
    place = Repository(storage=open_storage(url), trusted=_read(root), signers=tuple(map(signer, keys)))
    if isinstance(metadata.signed, Root):
        before = place.root()
        if metadata.signed.version != before.version + 1:
            raise ConfigError(
                f"{path} is version {metadata.signed.version} of the root, and the channel has {before.version}",
                hint="somebody has published another one: begin anew with mobpack channel rotate",
            )
        rotating.sign_root(metadata, before, place.signers)
        return _handed(metadata, before, path, signing, place, number)
    rotating.sign_targets(place, metadata)
    _write(path, metadata)
    try:
        place.create(metadata, place.root())
    except LacksSignaturesError as error:
        return Rooted(metadata=metadata, path=path, missing=error.missing, is_published=False)
    return Rooted(metadata=metadata, path=path, missing=0, is_published=True, notes=place.announce(signing))


def _begun(metadata: Metadata[Root], url: str | None) -> Repository | None:
    """The channel at `url` that begins with a root."""
    return Repository(storage=open_storage(url), trusted=metadata.to_bytes()) if url else None


def _handed(
    metadata: Metadata[Root],
    before: Root | None,
    path: Path,
    signing: Signing,
    place: Repository | None,
    number: int = 0,
) -> Rooted:
    """Writes a root to its file, and to the store if enough keys have signed it."""
    _write(path, metadata)
    missing = missing_of_root(metadata, before)
    if missing or place is None:
        return Rooted(metadata=metadata, path=path, missing=missing, is_published=False)
    notes = rotating.put_root(place, metadata, signing, number=number)
    return Rooted(metadata=metadata, path=path, missing=0, is_published=True, notes=notes)


def kept(error: LacksSignaturesError, channel: str) -> Path:
    """Writes metadata that other people have to sign to a file in the current folder."""
    path = Path(f"{channel}.{error.number}.{error.role}.json")
    with atomic_file(path) as file:
        file.write(error.content)
    return path


def _roles(asked: AskedKeys, before: Root | None, keys: Sequence[str]) -> dict[str, RoleKeys]:
    """Keys and thresholds of the roles that get some: those that are asked for, else those `before`, else `keys`."""
    thresholds = dict(_threshold(each) for each in asked.thresholds)
    own = tuple(map(public_key, keys))
    found: dict[str, RoleKeys] = {}
    for name in ROLES:
        given = tuple(map(public_key, asked.keys.get(name, ())))
        if before is not None and not given and name not in thresholds:
            continue
        if before is not None:
            role = before.roles[name]
            threshold = thresholds.get(name, 1 if given else role.threshold)
            found[name] = RoleKeys(keys=given or tuple(before.keys[each] for each in role.keyids), threshold=threshold)
        else:
            default = own if name == "root" or "targets" not in found else found["targets"].keys
            found[name] = RoleKeys(keys=given or default, threshold=thresholds.get(name, 1))
    return found


def _threshold(text: str) -> tuple[str, int]:
    name, _, count = text.partition("=")
    if name not in ROLES or not count.isdecimal() or not 1 <= int(count) <= 100:
        raise ConfigError(
            f"--threshold {text} says nothing about a role", hint=f"for example: root=2; roles: {', '.join(ROLES)}"
        )
    return name, int(count)


def _read(path: Path) -> bytes:
    try:
        return user_files.read(path, limit_bytes=max(LIMITS.values()))
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror or error}",
            hint="name the root of the channel, which mobpack channel init has written: --root stable.root.json",
        ) from error


def _write(path: Path, metadata: Metadata[Any]) -> None:
    with atomic_file(path) as file:
        file.write(metadata.to_bytes())
