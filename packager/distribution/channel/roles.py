"""Root metadata of a channel: which keys may sign what. The first one ships in apps; every later one is signed by the
keys of the one before, and by its own."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from securesystemslib.signer import Key, Signer
from tuf.api.exceptions import RepositoryError, UnsignedMetadataError
from tuf.api.metadata import Metadata, Role, Root, Signed, Targets

from packager.core.errors import ConfigError, GateError, MobpackError
from packager.distribution.channel.document import AGAIN, NAME, TIME
from packager.distribution.channel.roots import MAX_ROOT_BYTES, OURS

S = TypeVar("S", bound=Signed)
ROLES = ("root", "targets", "snapshot", "timestamp")
LIMITS = {"root": MAX_ROOT_BYTES, "targets": 5_000_000, "snapshot": 2_000_000, "timestamp": 16_384}
"""Most bytes of a role's metadata, as python-tuf's client has them."""


@dataclass(frozen=True, kw_only=True)
class RoleKeys:
    """Keys of a role, of which `threshold` have to sign."""

    keys: tuple[Key, ...]
    threshold: int = 1


def first_root(package: str, channel: str, roles: Mapping[str, RoleKeys], now: datetime, days: int) -> Root:
    """The root of a new channel. Raises ConfigError for names and thresholds that cannot be."""
    for name in (package, channel):
        if not NAME.fullmatch(name) or name in ("blobs", "targets"):
            raise ConfigError(
                f"'{name}' is not the name of a package or a channel",
                hint="use letters, digits, '.', '-' and '_': stable, beta",
            )
    root = Root(consistent_snapshot=True, unrecognized_fields={OURS: {"package": package, "channel": channel}})
    set_roles(root, roles)
    return dated(root, now, days)


def next_root(before: Root, roles: Mapping[str, RoleKeys], revoked: Iterable[str], now: datetime, days: int) -> Root:
    """The root that follows `before`, with other keys for some roles, and without the `revoked` ones (key ids).

    Raises ConfigError for a role that would have fewer keys than have to sign.
    """
    root = deepcopy(before)
    root.version += 1
    set_roles(root, roles)
    for keyid in revoked:
        users = [name for name in ROLES if keyid in root.roles[name].keyids]
        if not users:
            raise ConfigError(
                f"the channel has no key {keyid[:16]}...: nothing is to be revoked", hint="see mobpack channel show"
            )
        for name in users:
            root.revoke_key(keyid, name)
    _refuse_unreachable(root)
    return dated(root, now, days)


def set_roles(root: Root, roles: Mapping[str, RoleKeys]) -> None:
    for name, each in roles.items():
        for keyid in list(root.roles[name].keyids):
            root.revoke_key(keyid, name)
        root.roles[name] = Role([], each.threshold)
        for key in each.keys:
            root.add_key(key, name)
    _refuse_unreachable(root)


def _refuse_unreachable(root: Root) -> None:
    for name, role in root.roles.items():
        if len(role.keyids) < role.threshold:
            raise ConfigError(
                f"{role.threshold} of {len(role.keyids)} keys of the role '{name}' cannot sign",
                hint=f"name more keys with --{name}-key, or a smaller --threshold {name}=1",
            )


def dated(signed: S, now: datetime, days: int) -> S:
    """The metadata with its time, and its end after so many days."""
    signed.expires = now + timedelta(days=days)
    signed.unrecognized_fields[OURS] = {**signed.unrecognized_fields[OURS], "published": now.strftime(TIME)}
    return signed


def with_signatures(metadata: "Metadata[Any]", signers: Sequence[Signer], allowed: Iterable[str]) -> "Metadata[Any]":
    """Adds the signatures of the signers whose key ids are `allowed`."""
    for signer in signers:
        if signer.public_key.keyid in allowed:
            try:
                metadata.sign(signer, append=True)
            except UnsignedMetadataError as error:
                raise error.__cause__ if isinstance(error.__cause__, MobpackError) else error from error
    return metadata


def root_signers(root: Root, before: Root | None) -> set[str]:
    """Key ids that sign a root: its own, and those of the one before."""
    return {*root.roles["root"].keyids, *(before.roles["root"].keyids if before else ())}


def missing_of_root(metadata: "Metadata[Root]", before: Root | None) -> int:
    """Number of signatures that a root lacks."""
    found = metadata.signed.get_root_verification_result(before, metadata.signed_bytes, metadata.signatures)
    own, other = found.first.missing, found.second.missing
    both = set(found.first.unsigned) & set(found.second.unsigned)
    return max(own, other) if len(both) >= min(own, other) else own + other


def read_any(content: bytes, where: str) -> "Metadata[Any]":
    """The metadata in `content`, whose signatures nobody has verified. Raises GateError if it is none."""
    try:
        return Metadata.from_bytes(content)
    except RepositoryError as error:
        raise GateError(f"{where} is no metadata of TUF: {error.__cause__ or error}", hint=AGAIN) from error


def read(content: bytes, kind: type[Signed], where: str) -> "Metadata[Any]":
    """Like `read_any`, of a kind."""
    role = kind.type
    if len(content) > LIMITS[role]:
        raise GateError(f"{where} has more than {LIMITS[role]:,} bytes", hint=AGAIN)
    metadata = read_any(content, where)
    if metadata.signed.type != role:
        raise GateError(f"{where} is metadata of the role '{metadata.signed.type}', not '{role}'", hint=AGAIN)
    return metadata


def refuse_unverified(metadata: "Metadata[Any]", delegator: Root | Targets, where: str) -> None:
    """Raises GateError unless enough keys that `delegator` names have signed the metadata."""
    try:
        delegator.verify_delegate(metadata.signed.type, metadata.signed_bytes, metadata.signatures)
    except UnsignedMetadataError as error:
        raise GateError(
            f"{where} is not signed as {delegator.type} {delegator.version} demands: {error}", hint=AGAIN
        ) from error


def facts_of(signed: Signed, where: str) -> Mapping[str, Any]:
    """Package, channel and time of metadata. Raises GateError if it does not say them."""
    facts = signed.unrecognized_fields.get(OURS)
    if not isinstance(facts, dict) or not all(
        isinstance(facts.get(key), str) for key in ("package", "channel", "published")
    ):
        raise GateError(f"{where} does not say for which package and channel it was signed", hint=AGAIN)
    return facts
