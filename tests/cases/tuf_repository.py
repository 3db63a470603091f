"""Metadata of The Update Framework (TUF 1.0), right or wrong, as the clients of all languages get it."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.formats import encode_canonical

from packager.core.values import Delivery
from tests.cases.trust_vectors import IN_USE, sign

Json = dict[str, Any]
Edit = Callable[[Json], object]
ROLES = ("root", "timestamp", "snapshot", "targets")
FAR = "2099-01-01T00:00:00Z"
PUBLISHED = "2026-01-01T00:00:00Z"


def nothing(signed: Json) -> None:
    """Leaves metadata as it is."""


def public(key: ec.EllipticCurvePrivateKey) -> Json:
    """A key as roots list it."""
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return {"keytype": "ecdsa", "scheme": "ecdsa-sha2-nistp256", "keyval": {"public": pem}}


def canonical(value: Any) -> bytes:
    return str(encode_canonical(value)).encode()


def key_id(key: ec.EllipticCurvePrivateKey) -> str:
    return hashlib.sha256(canonical(public(key))).hexdigest()


def signed_by(signed: Json, keys: Iterable[ec.EllipticCurvePrivateKey]) -> bytes:
    """A file of metadata, with a signature of each key."""
    message = canonical(signed)
    signatures = [{"keyid": key_id(each), "sig": sign(message, each).hex()} for each in keys]
    return json.dumps({"signatures": signatures, "signed": signed}, separators=(",", ":")).encode()


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Who signs a role, and how many of them must."""

    keys: Sequence[ec.EllipticCurvePrivateKey] = (IN_USE,)
    threshold: int = 1


ALL: Mapping[str, Keys] = dict.fromkeys(ROLES, Keys())
UNCHANGED: Mapping[str, Keys] = {}
Signers = Mapping[str, Sequence[ec.EllipticCurvePrivateKey]]
NOBODY: Signers = {}
UNEDITED: Mapping[str, Edit] = {}


@dataclass(kw_only=True)
class Repository:
    """The keys of a channel, and what they sign."""

    package: str
    channel: str
    roles: dict[str, Keys] = field(default_factory=lambda: dict(ALL))
    roots: list[bytes] = field(default_factory=list)
    """in their order; the first has version 1"""
    delegated: dict[str, Json] = field(default_factory=dict)
    """what every snapshot says of delegated roles: none may lose one"""

    def __post_init__(self) -> None:
        self.rotate()

    def named(self, role: str, version: object, **fields: object) -> Json:
        """The part of metadata that is signed."""
        named = {"package": self.package, "channel": self.channel, "published": PUBLISHED}
        head = {"_type": role, "spec_version": "1.0.31", "version": version, "expires": FAR, "mobpack": named}
        return {**head, **fields}

    def rotate(
        self,
        edit: Edit = nothing,
        *,
        signers: Sequence[ec.EllipticCurvePrivateKey] | None = None,
        keys: Mapping[str, Keys] = UNCHANGED,
    ) -> bytes:
        """Adds a root with other keys for some roles, which the root keys before and afterwards have signed, or the
        `signers` alone."""
        before = self.roles["root"].keys if self.roots else ()
        self.roles |= keys
        used = {key_id(key): public(key) for each in self.roles.values() for key in each.keys}
        roles = {
            name: {"keyids": [key_id(key) for key in each.keys], "threshold": each.threshold}
            for name, each in self.roles.items()
        }
        root = self.named("root", len(self.roots) + 1, consistent_snapshot=True, keys=used, roles=roles)
        edit(root)
        both = {key_id(key): key for key in (*before, *self.roles["root"].keys)}
        self.roots.append(signed_by(root, both.values() if signers is None else signers))
        return self.roots[-1]

    def files(
        self, document: Json, number: int, edits: Mapping[str, Edit] = UNEDITED, signers: Signers = NOBODY
    ) -> dict[str, bytes]:
        """Metadata of a document, and its releases, by their paths on a server: the `number` names files, the document
        has the versions that stand in them."""
        folder = f"/{self.channel}"
        files = {f"{folder}/{version}.root.json": content for version, content in enumerate(self.roots, 1)}
        releases = self._releases(document) if "models" in document else {}
        files |= {target_path(path, content): content for path, content in releases.items()}
        listed = {path: target(content) for path, content in releases.items()} if "models" in document else None
        targets = self._made("targets", document, edits, signers, targets=listed)
        meta = {"targets.json": {"version": document.get("number")}, **self.delegated}
        snapshot = self._made("snapshot", document, edits, signers, meta=meta)
        meta = {"snapshot.json": {"version": document.get("number"), **target(snapshot)}}
        timestamp = self._made("timestamp", document, edits, signers, meta=meta)
        return {
            **files,
            f"{folder}/{number}.targets.json": targets,
            f"{folder}/{number}.snapshot.json": snapshot,
            f"{folder}/timestamp.json": timestamp,
        }

    def _releases(self, document: Json) -> dict[str, bytes]:
        """The releases of each model in a file of their own, by the paths of the targets."""
        elsewhere = {"models", "number", "restores", "published", "expires"}
        kept = {"schema-version": 1, **{key: value for key, value in document.items() if key not in elsewhere}}
        return {
            f"{each['name']}/releases.json": json.dumps(
                {**kept, "model": each["name"], "releases": each["releases"]}
            ).encode()
            for each in document["models"]
        }

    def _made(self, role: str, document: Json, edits: Mapping[str, Edit], signers: Signers, **fields: object) -> bytes:
        named = {name: document[name] for name in ("package", "channel", "published") if name in document}
        expires = {"expires": document["expires"]} if "expires" in document else {}
        signed = self.named(role, document.get("number"), mobpack=named, **expires, **fields)
        signed = {name: value for name, value in signed.items() if value is not None}
        edits.get(role, nothing)(signed)
        return signed_by(signed, signers.get(role, self.roles[role].keys))


def delivery(package: str, contracts: Mapping[str, str]) -> Delivery:
    """The channel of a package in a test."""
    return Delivery(channel="stable", root=root_text(package, "stable"), contracts=contracts)


def root_text(package: str, channel: str) -> str:
    """The first root of a channel whose roles all have the key `IN_USE`; the same text each time."""
    return Repository(package=package, channel=channel).roots[0].decode()


def target(content: bytes) -> Json:
    """Length and digest of a file, as targets metadata has them."""
    return {"length": len(content), "hashes": {"sha256": hashlib.sha256(content).hexdigest()}}


def target_path(path: str, content: bytes) -> str:
    """Path of a target on a server."""
    folder, _, name = path.rpartition("/")
    return f"/targets/{folder}/{hashlib.sha256(content).hexdigest()}.{name}"
