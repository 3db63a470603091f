"""A channel in a store as a repository of The Update Framework (TUF 1.0), written with python-tuf.

    stable/1.root.json                          which keys may sign; every version is kept
    stable/timestamp.json                       the one file that is replaced: which snapshot is the newest
    stable/12.snapshot.json                     which targets belong together
    stable/12.targets.json                      length and sha256 of every file
    targets/vision/SHA256.releases.json         releases of the model `vision`, with what devices need to choose one
    targets/vision/SHA256.SHA256                model files and deltas

Whoever creates the file of a number has published it: a second publisher is refused there. Files are written before the
metadata that names them, and `timestamp.json` at last. What was interrupted is finished by the next command.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from securesystemslib.signer import Signer
from tuf.api.exceptions import LengthOrHashMismatchError
from tuf.api.metadata import Metadata, MetaFile, Root, Signed, Snapshot, TargetFile, Targets, Timestamp

from packager.core.errors import ConfigError, GateError
from packager.core.to_json import plain
from packager.distribution.channel.dates import refuse_before
from packager.distribution.channel.document import (
    AGAIN,
    MAX_INTEGER,
    SCHEMA_VERSION,
    TIME,
    ChannelModel,
    Document,
    ModelReleases,
    model_blobs,
    parsed_releases,
    time_of,
)
from packager.distribution.channel.places import Hosted, LacksSignaturesError, Signing
from packager.distribution.channel.roles import (
    LIMITS,
    dated,
    facts_of,
    read,
    refuse_unverified,
    with_signatures,
)
from packager.distribution.channel.roots import OURS, trusted_root
from packager.distribution.channel.storage import ChangedError, ChannelStorage, ExistsError
from packager.signing.statements import payload

FOLDER = "targets"
RELEASES = "releases.json"
RESTORES = "restores"
MAX_ROOTS = 256
METADATA = re.compile(r"[1-9][0-9]{0,15}\.(root|targets|snapshot)\.json")
SOON = 1 / 3
"""Share of its time for which metadata is left when it is signed anew."""


class LostError(GateError):
    """A list of releases is not in the store that targets name."""


class OvertakenError(GateError):
    """Another publisher has created the file of a number."""


@dataclass(frozen=True, kw_only=True)
class Announced:
    """Metadata that devices get."""

    root: Metadata[Root]
    timestamp: Metadata[Timestamp]
    snapshot: Metadata[Snapshot]
    targets: Metadata[Targets]


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A channel, as apps see it that were shipped with a root."""

    storage: ChannelStorage
    trusted: bytes
    """content of the root's file"""
    signers: tuple[Signer, ...] = ()
    vouched: int = 0
    """number of the targets that count as the newest where nothing else does: keys are gone that have signed them, or
    releases are lost that newer ones name"""
    folder: str = FOLDER

    @cached_property
    def first(self) -> Metadata[Root]:
        return trusted_root(self.trusted, "the root")

    @property
    def channel(self) -> str:
        return str(facts_of(self.first.signed, "the root")["channel"])

    @property
    def package(self) -> str:
        return str(facts_of(self.first.signed, "the root")["package"])

    @property
    def pointer(self) -> str:
        return f"{self.channel}/timestamp.json"

    def path(self, role: str, number: int) -> str:
        return f"{self.channel}/{number}.{role}.json"

    def roots(self) -> list[Metadata[Root]]:
        """The root that apps have, and those that follow it in the store, each signed by the one before."""
        chain = [self.first]
        for _ in range(MAX_ROOTS):
            before = chain[-1].signed
            name = self.path("root", before.version + 1)
            content = self.storage.read(name, limit_bytes=LIMITS["root"])
            if content is None:
                break
            found = self._own(read(content, Root, name), name)
            refuse_unverified(found, before, name)
            refuse_unverified(found, found.signed, name)
            if found.signed.version != before.version + 1:
                raise GateError(f"{name} is version {found.signed.version} of the root", hint=AGAIN)
            chain.append(found)
        return chain

    def root(self) -> Root:
        return self.roots()[-1].signed

    def announced(self) -> Announced | None:
        """Metadata that devices get, if any. Raises GateError if keys of its roles have not signed it."""
        chain = self.roots()
        root = chain[-1].signed
        content = self.storage.read(self.pointer, limit_bytes=LIMITS["timestamp"])
        if content is None:
            return None
        timestamp = self._verified(content, Timestamp, root, self.pointer)
        number = timestamp.signed.snapshot_meta.version
        snapshot = self._required(Snapshot, number, root, timestamp.signed.snapshot_meta)
        meta = snapshot.signed.meta["targets.json"]
        targets = self._required(Targets, meta.version, root, meta)
        return Announced(root=chain[-1], timestamp=timestamp, snapshot=snapshot, targets=targets)

    def current(self) -> Document | None:
        found = self.announced()
        return self.document(found.targets) if found else None

    def newest(self) -> Document | None:
        """The newest document that a key of the current root has signed.

        Raises GateError if only keys that are gone have signed some, and for one whose releases are lost.
        """
        found = self.top(self.root())
        if found is None and self.vouched:
            return self.numbered(self.vouched)
        if found is None and (left := self.signed_ever()):
            raise GateError(
                f"the targets of the channel '{self.channel}' are signed by keys that it has no more",
                hint=f"sign the last ones that are yours with a key that it has: mobpack channel rollback --number "
                f"{left[-1]}",
            )
        try:
            return self.document(found) if found else None
        except LostError:
            if self.vouched:
                return self.numbered(self.vouched)
            raise

    def top(self, root: Root) -> Metadata[Targets] | None:
        """The newest targets that keys of a root have signed."""
        return next(self._versions(Targets, root), None)

    def numbers(self) -> Iterator[int]:
        """Numbers of the targets in the store that keys of the current root have signed, the newest first: those of a
        thief are gone. Reads no more of them than are taken."""
        return (each.signed.version for each in self._versions(Targets, self.root()))

    def signed_ever(self) -> list[int]:
        """Numbers of the targets in the store that keys of any root have signed."""
        return [each for each in self.listed("targets") if self._signed(each)]

    def numbered(self, number: int) -> Document:
        """The document with a number, also one that a key has signed which is gone: whoever names it vouches for it."""
        found = self._signed(number)
        if found is None:
            raise ConfigError(
                f"the channel '{self.channel}' has no targets {number}", hint="see mobpack channel show --history"
            )
        return self.document(found)

    def _signed(self, number: int) -> Metadata[Targets] | None:
        found = (self._metadata(Targets, number, each.signed) for each in reversed(self.roots()))
        return next((each for each in found if each), None)

    def document(self, targets: Metadata[Targets]) -> Document:
        """The models that targets name. Raises GateError for a list of releases that is not the one they name."""
        where = self.path("targets", targets.signed.version)
        facts = facts_of(targets.signed, where)
        restores = facts.get(RESTORES, 0)
        files = targets.signed.targets
        lists = [path for path in sorted(files) if path.rpartition("/")[2] == RELEASES]
        return Document(
            package=self.package,
            channel=self.channel,
            number=targets.signed.version,
            restores=restores if isinstance(restores, int) else 0,
            published=facts["published"],
            expires=targets.signed.expires.strftime(TIME),
            models=tuple(self._model(path, files[path], targets.signed.version) for path in lists),
        )

    def _model(self, path: str, file: TargetFile, number: int) -> ChannelModel:
        model = path.rpartition("/")[0]
        name = hosted_name(path, file.hashes.get("sha256", ""))
        content = self.storage.read(name, limit_bytes=file.length)
        if content is None:
            before = max((each for each in self.listed("targets") if each < number), default=0)
            back = f"; without one: mobpack channel rollback --number {before}, and publish the release again"
            raise LostError(f"{name} is missing", hint=f"{AGAIN}{back if before else ''}")
        _refuse_other(content, file, name)
        found = parsed_releases(content, name)
        if (found.package, found.channel, found.model) != (self.package, self.channel, model):
            raise GateError(f"{name} is of {found.package}, {found.channel}, {found.model}", hint=AGAIN)
        return ChannelModel(name=model, releases=found.releases)

    def hosted(self, document: Document) -> Mapping[str, Hosted]:
        return {hosted_name(path, each.sha256): each for path, each in self.paths(document).items()}

    def paths(self, document: Document) -> dict[str, Hosted]:
        """Path of a target -> file."""
        found = {}
        for model in document.models:
            content = payload(
                plain(
                    ModelReleases(
                        schema_version=SCHEMA_VERSION,
                        package=self.package,
                        channel=self.channel,
                        model=model.name,
                        releases=model.releases,
                    )
                )
            )
            sha256 = hashlib.sha256(content).hexdigest()
            found[f"{model.name}/{RELEASES}"] = Hosted(sha256=sha256, size_bytes=len(content), content=content)
            for sha256, size in model_blobs(model).items():
                found[f"{model.name}/{sha256}"] = Hosted(sha256=sha256, size_bytes=size)
        return found

    def superseded(self, kept: Collection[int]) -> list[str]:
        """Roots stay: apps that have an old one need every step to the newest."""
        root = self.root()
        needed = {
            each: found.signed.meta["targets.json"].version
            for each in self.listed("snapshot")
            if (found := self._metadata(Snapshot, each, root))
        }
        targets = [self.path("targets", each) for each in self.listed("targets") if each not in kept]
        return targets + [
            self.path("snapshot", each) for each in self.listed("snapshot") if needed.get(each) not in kept
        ]

    def siblings(self) -> list[str]:
        return channels(self.storage)

    def commit(self, document: Document, signing: Signing) -> Document:
        """Creates the targets of a document. They get a larger number than the document where keys that are gone have
        signed the file of its own.

        Raises GateError if another publisher was faster, LacksSignaturesError if other people have to sign, too.
        """
        self._keep_first()
        targets = Targets(
            version=document.number,
            targets={
                path: TargetFile(each.size_bytes, {"sha256": each.sha256}, path)
                for path, each in self.paths(document).items()
            },
            unrecognized_fields=self._facts(**({RESTORES: document.restores} if document.restores else {})),
        )
        root = self.root()
        made = self.create(self._sign(dated(targets, signing.now, signing.days), root), root)
        return replace(document, number=made.signed.version)

    def create(self, metadata: Metadata[Any], root: Root) -> Metadata[Any]:
        """Creates the file of targets or a snapshot, once enough keys have signed it."""
        signed, content = metadata.signed, metadata.to_bytes()
        result = root.get_verification_result(signed.type, metadata.signed_bytes, metadata.signatures)
        if not result:
            raise LacksSignaturesError(content, role=signed.type, number=signed.version, missing=result.missing)
        if len(content) > LIMITS[signed.type]:
            raise GateError(
                f"{signed.type} would have {len(content):,} bytes: devices take {LIMITS[signed.type]:,}",
                hint="use --keep 1, or fewer models",
            )
        _refuse_last(signed)
        name = self.path(signed.type, signed.version)
        try:
            self.storage.create(name, content)
        except ExistsError as error:
            existing = self._metadata(type(signed), signed.version, root)
            if existing is None:  # by a key that is gone
                signed.version += 1
                return self.create(self._sign(signed, root), root)
            if existing.signed != signed:
                raise OvertakenError(
                    f"somebody else has published {name} meanwhile",
                    hint="see what it is (mobpack channel show), and run the command again if it is still wanted",
                ) from error
            return existing
        return metadata

    def announce(self, signing: Signing, renewed: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Gives devices the newest targets by a snapshot and a timestamp, and signs these anew if they are `renewed` or
        end soon. Writes nothing that is there. Returns what holders of other keys have to do."""
        root = self.root()
        targets = self.top(root)
        if targets is None:
            return ()
        snapshot = self._snapshot(root, targets, signing, is_renewed="snapshot" in renewed)
        if snapshot is None:
            return (_waits(self, root, "snapshot", f"targets {targets.signed.version}"),)
        if not self._point(root, snapshot, signing, is_renewed="timestamp" in renewed):
            return (_waits(self, root, "timestamp", f"targets {targets.signed.version}"),)
        later = self.top(root)
        is_overtaken = later is not None and later.signed.version != targets.signed.version
        return self.announce(signing) if is_overtaken else ()

    def _snapshot(
        self, root: Root, targets: Metadata[Targets], signing: Signing, *, is_renewed: bool
    ) -> Metadata[Snapshot] | None:
        """The snapshot of the newest targets; None if a key is missing that it needs."""
        found = next(self._versions(Snapshot, root), None)
        content = self._content(Targets, targets.signed.version)
        meta = {"targets.json": _meta(targets.signed.version, content)}
        can_sign = self.can_sign(root, "snapshot")
        if (
            found
            and found.signed.meta == meta
            and not (can_sign and (is_renewed or is_soon(found.signed, signing.now)))
        ):
            return found
        if not can_sign:
            return None
        snapshot = Snapshot(
            version=found.signed.version + 1 if found else 1, meta=meta, unrecognized_fields=self._facts()
        )
        try:
            return self.create(self._sign(dated(snapshot, signing.now, signing.days), root), root)
        except OvertakenError:
            newest = next(self._versions(Targets, root))
            return self._snapshot(root, newest, signing, is_renewed=False)

    def _point(self, root: Root, snapshot: Metadata[Snapshot], signing: Signing, *, is_renewed: bool) -> bool:
        """Makes the timestamp name a snapshot, unless it names a newer one. False if a key is missing."""
        present = self.storage.read(self.pointer, limit_bytes=LIMITS["timestamp"])
        found = self._tried(present, Timestamp, root, self.pointer)
        if found and found.signed.snapshot_meta.version > snapshot.signed.version:
            return True
        meta = _meta(snapshot.signed.version, self._content(Snapshot, snapshot.signed.version))
        can_sign = self.can_sign(root, "timestamp")
        is_named = found is not None and found.signed.snapshot_meta == meta
        if found and is_named and not (can_sign and (is_renewed or is_soon(found.signed, signing.now))):
            return True
        if not can_sign:
            return False
        timestamp = Timestamp(
            version=found.signed.version + 1 if found else 1, snapshot_meta=meta, unrecognized_fields=self._facts()
        )
        if found and not signing.is_clock_trusted:
            facts = facts_of(found.signed, self.pointer)
            refuse_before(f"timestamp {found.signed.version}", facts["published"], signing.now)
        _refuse_last(timestamp)
        made = self._sign(dated(timestamp, signing.now, signing.timestamp_days), root)
        try:
            self.storage.replace(self.pointer, made.to_bytes(), expected=present)
        except ChangedError:  # by another publisher, who may have an older snapshot
            return self._point(root, snapshot, signing, is_renewed=False)
        return True

    def can_sign(self, root: Root, role: str) -> bool:
        """Whether the signers are as many as a role needs."""
        allowed = root.roles[role]
        return len({each.public_key.keyid for each in self.signers} & set(allowed.keyids)) >= allowed.threshold

    def listed(self, role: str) -> list[int]:
        """Numbers of a role's files, in order, whoever has signed them. In a store without lists, those up to the
        announced one that follow each other."""
        if not self.storage.has_lists:
            return self._probed(role)
        pattern = re.compile(rf"{re.escape(self.channel)}/([1-9][0-9]{{0,15}})\.{role}\.json")
        found = (pattern.fullmatch(each.name) for each in self.storage.listed(self.channel))
        return sorted(int(each[1]) for each in found if each)

    def _probed(self, role: str) -> list[int]:
        announced = self.announced()
        number = getattr(announced, role).signed.version if announced else 0
        found: list[int] = []
        while number > 0 and self.storage.read(self.path(role, number), limit_bytes=0) is not None:
            found.insert(0, number)
            number -= 1
        return found

    def _keep_first(self) -> None:
        """Puts the root that apps have into the store, where it is not there."""
        name = self.path("root", self.first.signed.version)
        if self.storage.read(name, limit_bytes=LIMITS["root"]) is None:
            self.storage.create(name, self.trusted)

    def _sign(self, signed: Signed, root: Root) -> Metadata[Any]:
        return with_signatures(Metadata(signed), self.signers, root.roles[signed.type].keyids)

    def _facts(self, **more: int) -> dict[str, Any]:
        return {OURS: {"package": self.package, "channel": self.channel, **more}}

    def _versions(self, kind: type[Signed], root: Root) -> Iterator[Metadata[Any]]:
        """Metadata of a kind that the keys of a root have signed, the newest first."""
        for number in reversed(self.listed(kind.type)):
            if found := self._metadata(kind, number, root):
                yield found

    def _content(self, kind: type[Signed], number: int) -> bytes:
        name = self.path(kind.type, number)
        content = self.storage.read(name, limit_bytes=LIMITS[kind.type])
        if content is None:
            raise GateError(f"{name} is missing", hint=AGAIN)
        return content

    def _metadata(self, kind: type[Signed], number: int, root: Root) -> Metadata[Any] | None:
        """Metadata with a number; None if the keys of a root have not signed it."""
        name = self.path(kind.type, number)
        found = self._tried(self.storage.read(name, limit_bytes=LIMITS[kind.type]), kind, root, name)
        return found if found and found.signed.version == number else None

    def _required(self, kind: type[Signed], number: int, root: Root, meta: MetaFile) -> Metadata[Any]:
        name = self.path(kind.type, number)
        content = self._content(kind, number)
        _refuse_other(content, meta, name)
        found = self._verified(content, kind, root, name)
        if found.signed.version != number:
            raise GateError(f"{name} has the number {found.signed.version}", hint=AGAIN)
        return found

    def _tried(self, content: bytes | None, kind: type[Signed], root: Root, name: str) -> Metadata[Any] | None:
        try:
            return None if content is None else self._verified(content, kind, root, name)
        except GateError:
            return None

    def _verified(self, content: bytes, kind: type[Signed], root: Root, name: str) -> Metadata[Any]:
        found = read(content, kind, name)
        refuse_unverified(found, root, name)
        return self._own(found, name)

    def _own(self, metadata: Metadata[Any], name: str) -> Metadata[Any]:
        facts = facts_of(metadata.signed, name)
        if (facts["package"], facts["channel"]) != (self.package, self.channel):
            raise GateError(f"{name} is of the channel '{facts['channel']}' of '{facts['package']}'", hint=AGAIN)
        return metadata


def channels(storage: ChannelStorage) -> list[str]:
    """Names of the channels in a store that are repositories of TUF."""
    parts = (each.name.partition("/") for each in storage.listed(""))
    return sorted({name for name, _, rest in parts if rest == "timestamp.json" or METADATA.fullmatch(rest)})


def hosted_name(path: str, sha256: str) -> str:
    """Name in the store of the file of a target, as TUF has it with consistent snapshots."""
    folder, _, name = path.rpartition("/")
    return f"{FOLDER}/{folder}/{sha256}.{name}"


def _meta(number: int, content: bytes) -> MetaFile:
    return MetaFile(number, len(content), {"sha256": hashlib.sha256(content).hexdigest()})


def _refuse_other(content: bytes, file: MetaFile | TargetFile, name: str) -> None:
    try:
        file.verify_length_and_hashes(content)
    except LengthOrHashMismatchError as error:
        raise GateError(f"{name} was changed: {error}", hint=AGAIN) from error


def _refuse_last(signed: Signed) -> None:
    """Raises GateError for a number that not every client can read."""
    if signed.version > MAX_INTEGER:
        raise GateError(
            f"{signed.type} {signed.version - 1} has the largest number that there is: somebody has stolen a key",
            hint=f"give the role other keys: mobpack channel rotate --{signed.type}-key NEW.pub; see docs/delivery.md",
        )


def is_soon(signed: Signed, now: datetime) -> bool:
    """Whether metadata ends soon, or has ended."""
    published = time_of(facts_of(signed, signed.type)["published"])
    return signed.expires - now < (signed.expires - published) * SOON


def _waits(place: Repository, root: Root, role: str, what: str) -> str:
    threshold = root.roles[role].threshold
    keys = "a key" if threshold == 1 else f"{threshold} keys"
    return f"devices get {what} when {keys} of the role '{role}' signed: mobpack channel renew --to URL --key KEY"
