"""The list of a package's files that `mobpack sign` signs and generated code verifies (OpenSSF Model Signing)."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from packager.core.release_keys import spki
from packager.core.values import Package

NAME = "models.sig"
"""of the list, in the folder that the files of models have in an app"""
PAYLOAD_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True, kw_only=True)
class TrustView:
    """What generated code verifies the files of a package with."""

    keys: tuple[str, ...]
    """public keys: SubjectPublicKeyInfo in Base64"""
    package: str
    number: int
    """of the release"""
    folder: str
    """of the models, where the app names them by it; empty elsewhere"""
    name: str
    """of the signed list, in the folder of the models"""


def trust_view(package: Package, folder: str = "") -> TrustView | None:
    """None for a package that opens its files unsigned."""
    if package.trust is None:
        return None
    return TrustView(
        keys=tuple(base64.b64encode(spki(key)).decode() for key in package.trust.keys),
        package=package.name,
        number=package.trust.number,
        folder=folder,
        name=NAME,
    )


def statement(digests: Mapping[str, str], package: Package) -> bytes:
    """What is signed: an in-toto statement about the files of `package`, path -> sha256."""
    assert package.trust is not None
    names = sorted(digests)
    root = hashlib.sha256(b"".join(bytes.fromhex(digests[each]) for each in names)).hexdigest()
    about = {
        "mobpack.package": package.name,
        "mobpack.version": package.version,
        "mobpack.number": package.trust.number,
    }
    return _json(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": package.name, "digest": {"sha256": root}, "annotations": about}],
            "predicateType": "https://model_signing/signature/v1.0",
            "predicate": {
                "resources": [{"name": each, "digest": digests[each], "algorithm": "sha256"} for each in names],
                "serialization": {
                    "method": "files",
                    "hash_type": "sha256",
                    "allow_symlinks": False,
                    "ignore_paths": [NAME],
                },
            },
        }
    ).encode()


def unsigned(digests: Mapping[str, str], package: Package) -> str:
    """The list as a build writes it: without a signature."""
    return bundle(statement(digests, package), signatures=[])


def bundle(payload: bytes, *, signatures: list[dict[str, str]]) -> str:
    """A Sigstore bundle around `payload`."""
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": signatures,
    }
    document = {
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": ""}, "tlogEntries": []},
        "dsseEnvelope": envelope,
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


def _json(document: object) -> str:
    return json.dumps(document, separators=(",", ":"), sort_keys=True)
