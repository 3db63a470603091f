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


@dataclass(kw_only=True)
class Repository:
    """The keys of a channel, and what they sign."""

    package: str
    channel: str
    roles: dict[str, Keys] = field(default_factory=lambda: dict(ALL))
    roots: list[bytes] = field(default_factory=list)
    """in their order; the first has version 1"""

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


def delivery(package: str, contracts: Mapping[str, str]) -> Delivery:
    """The channel of a package in a test."""
    return Delivery(channel="stable", root=root_text(package, "stable"), contracts=contracts)


def root_text(package: str, channel: str) -> str:
    """The first root of a channel whose roles all have the key `IN_USE`; the same text each time."""
    return Repository(package=package, channel=channel).roots[0].decode()


def target(content: bytes) -> Json:
    """Length and digest of a file, as targets metadata has them."""
    return {"length": len(content), "hashes": {"sha256": hashlib.sha256(content).hexdigest()}}
