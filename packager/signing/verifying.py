"""Verifies bundles with trusted keys, and files with verified bundles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import user_files
from packager.core.errors import ConfigError, GateError
from packager.signing.certificates import certificates_in, decoded, is_issued_by, refuse_dates, refuse_unusable
from packager.signing.envelope import Bundle, pae
from packager.signing.keys import MAX_KEY_BYTES, fingerprint, is_same, public_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.x509 import Certificate

RAW_BYTES = {"secp256r1": 64, "secp384r1": 96, "secp521r1": 132}
"""length of r and s beside each other"""
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class TrustedKey:
    """A key whose signatures count."""

    path: Path
    key: "EllipticCurvePublicKey"
    certificate: "Certificate | None" = None
    """if the file is a certificate: of the signer, or of an authority that has issued the signer's"""


def trusted(paths: Sequence[Path]) -> tuple[TrustedKey, ...]:
    """The keys in PEM files: public keys or certificates. Raises ConfigError if one cannot be used."""
    return tuple(_trusted(path) for path in paths)


def _trusted(path: Path) -> TrustedKey:
    key = public_key(path)
    content = user_files.read(path, limit_bytes=MAX_KEY_BYTES)
    certificate = certificates_in(content, str(path))[0] if b"BEGIN CERTIFICATE" in content else None
    if key.curve.name not in RAW_BYTES:
        raise ConfigError(f"{path} is a key of the curve {key.curve.name}", hint="use P-256")
    return TrustedKey(path=path, key=key, certificate=certificate)


def verify(bundle: Bundle, keys: Sequence[TrustedKey], where: str, *, option: str = "--key") -> TrustedKey:
    """The key of `keys` that has signed `bundle`. Raises GateError, with the reason, if none has; its hint names the
    `option` that takes public keys."""
    if not bundle.signature:
        raise GateError(f"{where} is not signed", hint="sign the release: mobpack sign DIST --key release.pem")
    if bundle.is_keyless:
        raise GateError(
            f"{where} is signed without a key, by an identity of Sigstore",
            hint="verify it with --identity and --issuer in place of --key",
        )
    chain = decoded(bundle.certificates, where)
    for trusted_key in keys:
        signing_key = _signing_key(chain, trusted_key)
        if signing_key is not None and _is_signed_by(bundle, signing_key):
            _refuse_expired(chain, trusted_key, where)
            return trusted_key
    raise _refusal(bundle, keys, where, option)


def _refuse_expired(chain: "Sequence[Certificate]", trusted_key: TrustedKey, where: str) -> None:
    """Raises GateError if a certificate is out of its dates, or the signer's may not sign."""
    if trusted_key.certificate is not None:
        check = refuse_dates if chain else refuse_unusable
        check(trusted_key.certificate, str(trusted_key.path))
    for number, each in enumerate(chain):
        (refuse_dates if number else refuse_unusable)(each, where)


def _signing_key(chain: "Sequence[Certificate]", trusted_key: TrustedKey) -> "EllipticCurvePublicKey | None":
    """The key that the signature must be of, if `trusted_key` is to vouch for it."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    if not chain:
        return trusted_key.key
    leaf = chain[0].public_key()
    if not isinstance(leaf, EllipticCurvePublicKey) or leaf.curve.name not in RAW_BYTES:
        return None
    if is_same(leaf, trusted_key.key):
        return leaf
    root = trusted_key.certificate
    return leaf if root is not None and is_issued_by(chain, root) else None


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
    if bundle.hint and bundle.hint not in {fingerprint(each.key) for each in keys}:
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
