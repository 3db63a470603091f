"""Changes the keys of a channel, signs metadata that other people have begun, and renews what ends."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from securesystemslib.signer import Signer
from tuf.api.metadata import Metadata, Root

from packager.core.errors import ConfigError, GateError
from packager.distribution.channel.dates import refuse_implausible
from packager.distribution.channel.document import TIME
from packager.distribution.channel.places import Signing
from packager.distribution.channel.publishing import following, required
from packager.distribution.channel.repository import OvertakenError, Repository, is_soon
from packager.distribution.channel.roles import (
    LIMITS,
    ROLES,
    RoleKeys,
    facts_of,
    first_root,
    next_root,
    read,
    root_signers,
    with_signatures,
)
from packager.distribution.channel.storage import ExistsError


@dataclass(frozen=True, kw_only=True)
class RoleState:
    """Metadata of a role, as devices get it."""

    role: str
    number: int
    published: str
    expires: str
    keys: tuple[str, ...]
    """ids of the keys that may sign it"""
    threshold: int
    """how many of them have to"""


def states(place: Repository) -> tuple[RoleState, ...]:
    """The roles of a channel; root alone before anything was published."""
    found = place.announced()
    root = place.roots()[-1] if found is None else found.root
    others = () if found is None else (found.targets, found.snapshot, found.timestamp)
    return tuple(_state(each, root.signed) for each in (root, *others))


def _state(metadata: Metadata[Any], root: Root) -> RoleState:
    signed = metadata.signed
    role = root.roles[signed.type]
    return RoleState(
        role=signed.type,
        number=signed.version,
        published=facts_of(signed, signed.type)["published"],
        expires=signed.expires.strftime(TIME),
        keys=tuple(role.keyids),
        threshold=role.threshold,
    )


def begin(
    package: str,
    channel: str,
    roles: Mapping[str, RoleKeys],
    signers: tuple[Signer, ...],
    now: datetime,
    days: int,
) -> Metadata[Root]:
    """The first root of a channel, signed by those of the signers who may."""
    return sign_root(Metadata(first_root(package, channel, roles, now, days)), None, signers)


def rotated(
    place: Repository, roles: Mapping[str, RoleKeys], revoked: Iterable[str], now: datetime, days: int
) -> Metadata[Root]:
    """The next root of a channel, with other keys, signed by those of its signers who may. Keys that are revoked
    already may be named again: a command that was killed is continued."""
    chain = [each.signed for each in place.roots()]
    before = chain[-1]
    gone = {keyid for each in chain for keyid in each.keys} - before.keys.keys()
    left = [each for each in revoked if each not in gone]
    return sign_root(Metadata(next_root(before, roles, left, now, days)), before, place.signers)


def sign_root(metadata: Metadata[Root], before: Root | None, signers: tuple[Signer, ...]) -> Metadata[Root]:
    """Adds signatures. Raises ConfigError if none of the signers may sign it."""
    return _signed_also(metadata, signers, root_signers(metadata.signed, before))


def sign_targets(place: Repository, metadata: Metadata[Any]) -> Metadata[Any]:
    """Adds signatures to targets or a snapshot. Raises ConfigError if none of the signers may sign it."""
    return _signed_also(metadata, place.signers, set(place.root().roles[metadata.signed.type].keyids))


def _signed_also(metadata: Metadata[Any], signers: tuple[Signer, ...], allowed: set[str]) -> Metadata[Any]:
    if not allowed & {each.public_key.keyid for each in signers}:
        raise ConfigError(
            f"the key may not sign {metadata.signed.type} {metadata.signed.version}",
            hint="sign with one of its keys: mobpack channel show lists their ids",
        )
    return with_signatures(metadata, signers, allowed)


def put_root(place: Repository, metadata: Metadata[Root], signing: Signing, *, number: int = 0) -> tuple[str, ...]:
    """Creates the file of a root, and signs anew what its keys have not signed: of several targets, those with a
    `number`, or the newest. Returns what holders of other keys have to do.

    Raises GateError if the channel has another root of this version.
    """
    name = place.path("root", metadata.signed.version)
    try:
        place.storage.create(name, metadata.to_bytes())
    except ExistsError as error:
        present = place.storage.read(name, limit_bytes=LIMITS["root"])
        if present is None or read(present, Root, name).signed != metadata.signed:
            raise OvertakenError(
                f"the channel '{place.channel}' has another {name}",
                hint="see what it is: mobpack channel show; a channel of its own needs another name or address",
            ) from error
    return settle(place, signing, number=number)


def settle(place: Repository, signing: Signing, *, number: int = 0) -> tuple[str, ...]:
    """Signs anew what the keys of the newest root have not signed. Returns what holders of other keys have to do."""
    root = place.root()
    known = place.signed_ever()
    if not known:
        return ()
    if place.top(root) is None:
        document = place.numbered(number or known[-1])
        if not place.can_sign(root, "targets"):
            return (
                f"apps get nothing until a key of the role 'targets' has signed: mobpack channel rollback --to URL "
                f"--number {document.number} --key KEY",
            )
        made = following(place, document, document.models, replace(signing, after=0), restores=document.restores)
        place.commit(made, signing)
    return place.announce(signing)


def renew(place: Repository, signing: Signing, *, is_whole: bool = False) -> tuple[str, ...]:
    """Signs the timestamp anew; targets and snapshot, too, if all is `whole`, or they end soon and the signers may.
    Returns what holders of other keys have to do.

    Raises GateError if something has ended that the signers cannot sign.
    """
    before = place.newest() or required(place)
    if not signing.is_clock_trusted:
        refuse_implausible(before, signing.now)
    root = place.root()
    if "targets" in renewed_roles(place, signing.now, is_whole=is_whole):
        place.commit(following(place, before, before.models, signing, restores=before.restores), signing)
    waiting = place.announce(signing, ("timestamp", "snapshot") if is_whole else ("timestamp",))
    if waiting:
        return waiting
    kept = (
        () if place.can_sign(root, "timestamp") else ("the timestamp ends when it did: no key of its role was given",)
    )
    return (*kept, *_ending(place, signing.now))


def renewed_roles(place: Repository, now: datetime, *, is_whole: bool = False) -> tuple[str, ...]:
    """Roles that `renew` signs anew."""
    root = place.root()
    found = place.announced()
    ends = {
        "targets": is_whole or ((top := place.top(root)) is not None and is_soon(top.signed, now)),
        "snapshot": is_whole or (found is not None and is_soon(found.snapshot.signed, now)),
    }
    ends["snapshot"] |= ends["targets"] and place.can_sign(root, "targets")
    return tuple(role for role in ROLES[1:] if ends.get(role, True) and place.can_sign(root, role))


def _ending(place: Repository, now: datetime) -> Iterator[str]:
    """Words about all that ends soon. Raises GateError for what has ended: devices get nothing then."""
    found = place.announced()
    for each in (found.root, found.targets, found.snapshot, found.timestamp) if found else ():
        signed = each.signed
        what = f"{signed.type} {signed.version} of the channel '{place.channel}'"
        command = "rotate" if signed.type == "root" else "renew"
        action = f"a holder of a key of the role '{signed.type}' runs mobpack channel {command} --to URL --key KEY"
        if signed.is_expired(now):
            raise GateError(
                f"{what} has ended at {signed.expires.strftime(TIME)}: devices get nothing new", hint=action
            )
        if is_soon(signed, now):
            yield f"{what} ends at {signed.expires.strftime(TIME)}: {action}"


def refuse_strangers(place: Repository, role: str | None) -> None:
    """Raises ConfigError for a signer that is none of the channel's, and if none of them is one of a `role`."""
    root = place.root()
    known = {keyid for name in ROLES for keyid in root.roles[name].keyids}
    given = {each.public_key.keyid for each in place.signers}
    hint = "mobpack channel show lists the ids of its keys; mobpack channel rotate adds one"
    if odd := sorted(given - known):
        raise ConfigError(f"the key {odd[0][:16]}... is none of the channel '{place.channel}'", hint=hint)
    if role and not given & set(root.roles[role].keyids):
        raise ConfigError(f"none of the keys may sign '{role}' of the channel '{place.channel}'", hint=hint)
