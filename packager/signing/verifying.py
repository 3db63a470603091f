"""Verifies bundles with trusted keys, and files with verified bundles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, GateError
from packager.signing.certificate_paths import refuse_path
from packager.signing.certificates import (
    certificates_in,
    decoded,
    has_subject,
    is_authority,
    refuse_dates,
    refuse_subject_form,
    refuse_unusable,
    revocations_in,
)
from packager.signing.envelope import Bundle, pae
from packager.signing.keys import fingerprint, public_key, public_key_of, read_pem

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.x509 import Certificate

RAW_BYTES = {"secp256r1": 64, "secp384r1": 96, "secp521r1": 132}
"""length of r and s beside each other"""
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class TrustedKey:
    """A key whose signatures count, or an authority whose signers' do."""

    path: Path
    key: "EllipticCurvePublicKey | None"
    """None for an authority with a key of another kind than those that sign releases"""
    certificate: "Certificate | None" = None
    """if the file is a certificate: of the signer, or of an authority that has issued the signer's"""
    revocations: tuple[bytes, ...] = ()
    """lists of revoked certificates, in DER, which the file of an authority may have after its certificate"""
    subject: str = ""
    """whom the signer's certificate must be about; empty: anybody"""

    @property
    def identity(self) -> str:
        """Tells apart what has been verified by different keys, authorities, and with different subjects."""
        from cryptography.hazmat.primitives.hashes import SHA256

        if self.certificate is None:
            assert self.key
            return fingerprint(self.key)
        lists = b"".join(sha256(each).digest() for each in self.revocations)
        return sha256(self.certificate.fingerprint(SHA256()) + lists + self.subject.encode()).hexdigest()


def trusted(paths: Sequence[Path], subject: str | None = None, *, option: str = "--subject") -> tuple[TrustedKey, ...]:
    """The keys in PEM files: public keys, or certificates, which must be, or vouch for, one about `subject`. Raises
    ConfigError if one cannot be used; its hint names the `option` that gives a subject."""
    if subject is not None:
        refuse_subject_form(subject)
    return tuple(_trusted(path, subject or "", option) for path in paths)


def _trusted(path: Path, subject: str, option: str) -> TrustedKey:
    content = read_pem(path)
    is_certificate = b"BEGIN CERTIFICATE" in content and b"PRIVATE KEY" not in content
    certificate = certificates_in(content, str(path))[0] if is_certificate else None
    if certificate is None and subject:
        raise ConfigError(
            f"{path} is a key, and only certificates have subjects", hint=f"omit {option}, or give a certificate"
        )
    is_issuer = certificate is not None and is_authority(certificate)
    revocations = revocations_in(content, str(path))
    if revocations and not is_issuer:
        raise ConfigError(
            f"{path} has a list of revoked certificates, and no authority whose certificates it can revoke",
            hint="put the list after the certificate of the authority",
        )
    key = public_key_of(certificate) if certificate and is_issuer else public_key(path)
    if key is not None and key.curve.name not in RAW_BYTES:
        raise ConfigError(f"{path} is a key of the curve {key.curve.name}", hint="use P-256")
    return TrustedKey(path=path, key=key, certificate=certificate, revocations=revocations, subject=subject)


def verify(
    bundle: Bundle, keys: Sequence[TrustedKey], where: str, *, option: str = "--key", now: datetime | None = None
) -> TrustedKey:
    """The key of `keys` that has signed `bundle`, or vouches for who has. Raises GateError, with the reason, if none
    does; its hint names the `option` that takes public keys."""
    if not bundle.signature:
        raise GateError(f"{where} is not signed", hint="sign the release: mobpack sign DIST --key release.pem")
    if bundle.is_keyless:
        raise GateError(
            f"{where} is signed without a key, by an identity of Sigstore",
            hint="verify it with --identity and --issuer in place of --key",
        )
    chain = decoded(bundle.certificates, where)
    refused: list[GateError] = []
    for trusted_key in keys:
        signing_key = _signing_key(chain, trusted_key)
        if signing_key is None or not _is_signed_by(bundle, signing_key):
            continue
        try:
            _refuse_untrusted(chain, trusted_key, where, now or datetime.now(UTC))
        except GateError as error:
            refused.append(error)
            continue
        return trusted_key
    raise refused[0] if refused else _refusal(bundle, keys, where, option)


def signer_of(bundle: Bundle, trusted_key: TrustedKey) -> str:
    """Subject of the certificate of who has signed a verified bundle, if `trusted_key` is an authority; else empty."""
    if not bundle.certificates or trusted_key.certificate is None or not is_authority(trusted_key.certificate):
        return ""
    return decoded(bundle.certificates[:1], "it")[0].subject.rfc4514_string()


def _signing_key(chain: "Sequence[Certificate]", trusted_key: TrustedKey) -> "EllipticCurvePublicKey | None":
    """The key that the signature must be of, if `trusted_key` is to vouch for it."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    if not chain:
        return trusted_key.key
    leaf = chain[0].public_key()
    if not isinstance(leaf, EllipticCurvePublicKey) or leaf.curve.name not in RAW_BYTES:
        return None
    return leaf if trusted_key.certificate is not None or leaf == trusted_key.key else None


def _refuse_untrusted(chain: "Sequence[Certificate]", trusted_key: TrustedKey, where: str, now: datetime) -> None:
    """Raises GateError unless the certificates with a signature, and that of `trusted_key`, allow it."""
    root, authority = trusted_key.certificate, str(trusted_key.path)
    if root is not None and chain and is_authority(root):
        refuse_path(chain, root, where, authority, now, trusted_key.revocations)
    elif root is not None and chain and chain[0].public_key() != root.public_key():
        raise GateError(
            f"{where} is signed with a certificate that {authority} has not issued: it is not an authority's",
            hint="give the certificate of the authority that has issued it",
        )
    elif root is not None:
        refuse_unusable(root, authority, now)
    for number, each in enumerate(chain):
        (refuse_dates if number else refuse_unusable)(each, where, now)
    signer = chain[0] if chain else root
    if trusted_key.subject and signer is not None and not has_subject(signer, trusted_key.subject):
        raise GateError(
            f"{where} is signed by {signer.subject.rfc4514_string()}, not by {trusted_key.subject}",
            hint="sign with the certificate of that subject, or name another one",
        )


def _is_signed_by(bundle: Bundle, key: "EllipticCurvePublicKey") -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA

    algorithm = {256: hashes.SHA256(), 384: hashes.SHA384(), 521: hashes.SHA512()}[key.curve.key_size]
    try:
        key.verify(bundle.signature, pae(bundle.payload_type, bundle.payload), ECDSA(algorithm))
    except InvalidSignature:
        return False
    return True


def _refusal(bundle: Bundle, keys: Sequence[TrustedKey], where: str, option: str) -> GateError:
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    names = ", ".join(str(each.path) for each in keys)
    try:
        decode_dss_signature(bundle.signature)
    except ValueError:
        is_raw = len(bundle.signature) in RAW_BYTES.values()
        form = "r and s beside each other (as WebCrypto and JWS have it)" if is_raw else "something else"
        return GateError(f"the signature in {where} is not in DER form but {form}", hint="sign again, in DER form")
    if bundle.certificates:
        return GateError(
            f"{where} is signed with a certificate that {names} has not issued, or was changed after signing",
            hint=f"give the certificate of the authority that issued it with {option}",
        )
    if bundle.hint and bundle.hint not in {fingerprint(each.key) for each in keys if each.key}:
        return GateError(
            f"{where} is signed by another key than {names}: {bundle.hint[:16]}...",
            hint=f"give the public key of who has signed with {option}; several are tried in turn",
        )
    return GateError(f"{where} does not verify with {names}: it was changed after signing", hint="sign again")


def refuse_differences(signed: Mapping[str, str], found: Mapping[str, str], where: str) -> None:
    """Raises GateError if the files `found` (path -> sha256) are not exactly those that were `signed`."""
    changed = [name for name in sorted(signed) if name in found and found[name] != signed[name]]
    removed = sorted(signed.keys() - found.keys())
    added = sorted(found.keys() - signed.keys())
    parts = [
        f"{words}: {', '.join(names[:SHOWN])}{' ...' if len(names) > SHOWN else ''}"
        for words, names in (("changed", changed), ("missing", removed), ("not signed", added))
        if names
    ]
    if parts:
        raise GateError(
            f"the files are not those that {where} lists; {'; '.join(parts)}",
            hint="get the release again from where it was published; sign again if the change was yours",
        )
