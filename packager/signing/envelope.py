"""DSSE envelopes in Sigstore bundles (v0.3), the JSON form of every signature that mobpack writes."""

import base64
from dataclasses import dataclass
from typing import Any

from packager.core import parsing
from packager.core.characters import to_json
from packager.core.errors import GateError
from packager.core.parsing import Json

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
MEDIA_TYPES = "application/vnd.dev.sigstore.bundle"
"""start of the media types of all versions"""
IN_TOTO = "application/vnd.in-toto+json"
MAX_BUNDLE_BYTES = 64 << 20
AGAIN = "get the file again from where the release was published, or sign again"
NOT_JSON = (ValueError, RecursionError)


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A payload, its signature, and a statement about who has signed it."""

    payload: bytes
    payload_type: str = IN_TOTO
    signature: bytes = b""
    """DER of an ECDSA signature; empty before signing"""
    hint: str = ""
    """identifies the public key; empty with certificates"""
    certificates: tuple[bytes, ...] = ()
    """DER, the signer's first, then those of its issuers"""
    is_keyless: bool = False
    """signed with a certificate of minutes from Sigstore, whose transparency log has the time"""
    timestamps: tuple[bytes, ...] = ()
    """answers of time stamp authorities about the signature, in DER (RFC 3161)"""
    raw: bytes = b""
    """the bundle as Sigstore wrote it, with the log's entries; empty with keys"""


def pae(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed: DSSE's Pre-Authentication Encoding, `DSSEv1 LENGTH TYPE LENGTH PAYLOAD`."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def written(bundle: Bundle) -> bytes:
    """The bundle as JSON in one line; equal bundles give equal bytes."""
    if bundle.raw:
        return bundle.raw
    material: dict[str, object] = {"publicKey": {"hint": bundle.hint}}
    if bundle.certificates:
        chain = [{"rawBytes": _base64(each)} for each in bundle.certificates]
        material = {"x509CertificateChain": {"certificates": chain}}
    signatures = [{"sig": _base64(bundle.signature), "keyid": ""}] if bundle.signature else []
    document = {
        "mediaType": MEDIA_TYPE,
        "verificationMaterial": {**material, "tlogEntries": [], **_stamps(bundle)},
        "dsseEnvelope": {
            "payload": _base64(bundle.payload),
            "payloadType": bundle.payload_type,
            "signatures": signatures,
        },
    }
    return (to_json(document, separators=(",", ":")) + "\n").encode()


def _stamps(bundle: Bundle) -> dict[str, object]:
    stamps = [{"signedTimestamp": _base64(each)} for each in bundle.timestamps]
    return {"timestampVerificationData": {"rfc3161Timestamps": stamps}} if stamps else {}


def parsed(content: bytes, where: str) -> Bundle:
    """The bundle in `content`; `where` names it in errors. Raises GateError if it is damaged or something else."""
    try:
        document = parsing.json_of(content)
    except NOT_JSON as error:
        raise GateError(f"{where} is cut short, or no JSON: {error}", hint=AGAIN) from error
    if not str(_of(document, "mediaType", str, where)).startswith(MEDIA_TYPES):
        raise GateError(f"{where} is not a Sigstore bundle: mediaType is '{document['mediaType']}'", hint=AGAIN)
    material = _of(document, "verificationMaterial", dict, where)
    envelope = _of(document, "dsseEnvelope", dict, where)
    signatures = _of(envelope, "signatures", list, where)
    if len(signatures) > 1:
        raise GateError(f"{where} has {len(signatures)} signatures: a Sigstore bundle has one", hint=AGAIN)
    hint, certificates = _signer(material, where)
    return Bundle(
        payload=_bytes(envelope, "payload", where),
        payload_type=_of(envelope, "payloadType", str, where),
        signature=_bytes(signatures[0], "sig", where) if signatures else b"",
        hint=hint,
        certificates=certificates,
        is_keyless="certificate" in material,
        timestamps=_timestamps(material, where),
        raw=content if "certificate" in material else b"",
    )


def _timestamps(material: Json, where: str) -> tuple[bytes, ...]:
    data = material.get("timestampVerificationData") or {}
    stamps = _of(data, "rfc3161Timestamps", list, where) if data else []
    return tuple(_bytes(each, "signedTimestamp", where) for each in stamps)


def _signer(material: Json, where: str) -> tuple[str, tuple[bytes, ...]]:
    """Hint of the key, or the certificates."""
    if "x509CertificateChain" in material:
        chain = _of(_of(material, "x509CertificateChain", dict, where), "certificates", list, where)
        return "", tuple(_bytes(each, "rawBytes", where) for each in chain)
    if "certificate" in material:
        _of(material, "tlogEntries", list, where)
        return "", (_bytes(_of(material, "certificate", dict, where), "rawBytes", where),)
    key = _of(material, "publicKey", dict, where)
    return str(key.get("hint", "")), ()


def _of(document: Any, key: str, kind: type, where: str) -> Any:
    value = document.get(key) if isinstance(document, dict) else None
    if not isinstance(value, kind):
        raise GateError(f"{where} is not a signature bundle: '{key}' is missing or of another type", hint=AGAIN)
    return value


def _bytes(document: Any, key: str, where: str) -> bytes:
    try:
        return base64.b64decode(_of(document, key, str, where), validate=True)
    except ValueError as error:
        raise GateError(f"{where} is damaged: '{key}' is not base64", hint=AGAIN) from error


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
