"""Keys that sign and keys that are trusted: files, or addresses of keys that never leave their device."""

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from packager.core import user_files
from packager.core.errors import ConfigError, GateError, ToolError
from packager.signing.certificates import certificates_in, refuse_dates, refuse_mismatch, refuse_unusable
from packager.signing.envelope import Bundle, pae
from packager.signing.passwords import PASSWORD

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey
    from cryptography.x509 import Certificate

MAX_KEY_BYTES = 1 << 20
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MAKE_ONE = "make one: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out release.pem"


class Signer(Protocol):
    """Signs with a P-256 key."""

    def public_key(self) -> "EllipticCurvePublicKey": ...

    def sign(self, message: bytes) -> bytes:
        """DER of the ECDSA signature over the SHA-256 of `message`. Raises ToolError if the key's device refuses."""
        ...


@dataclass(frozen=True, kw_only=True)
class FileSigner:
    """A private key in a PEM file. Its signatures are deterministic (RFC 6979): the same file gives the same bytes."""

    key: "EllipticCurvePrivateKey"

    def public_key(self) -> "EllipticCurvePublicKey":
        return self.key.public_key()

    def sign(self, message: bytes) -> bytes:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.hashes import SHA256

        try:
            return self.key.sign(message, ECDSA(SHA256(), deterministic_signing=True))
        except UnsupportedAlgorithm as error:
            raise ToolError(
                f"this build of the Python package cryptography cannot sign deterministically: {error}",
                hint="install it as a wheel: pip install --force-reinstall --only-binary :all: cryptography",
            ) from error


def signed(signer: Signer, payload_type: str, payload: bytes, chain: Sequence[bytes] = ()) -> Bundle:
    """A signed bundle. `chain` has the certificates of the key, in DER, the signer's first."""
    return Bundle(
        payload=payload,
        payload_type=payload_type,
        signature=signer.sign(pae(payload_type, payload)),
        hint="" if chain else fingerprint(signer.public_key()),
        certificates=tuple(chain),
    )


def open_signer(key: str) -> Signer:
    """The key that `key` names: a PEM file, or the address of a key in a token, a cloud or a vault.

    Raises ConfigError if it cannot be used, ToolError if its device cannot be reached.
    """
    scheme, separator, _ = key.partition(":")
    if separator and scheme == "pkcs11":
        from packager.signing.pkcs11_keys import open_token

        return _p256(open_token(key), key)
    if separator and scheme == "hashivault":
        from packager.signing.vault_keys import open_vault_key

        return _p256(open_vault_key(key), key)
    if separator and not Path(key).exists() and len(scheme) > 1:
        from packager.signing.cloud_keys import open_cloud_key

        return _p256(open_cloud_key(key), key)
    return _p256(FileSigner(key=_private_key(Path(key))), key)


def _p256(signer: Signer, key: str) -> Signer:
    curve = signer.public_key().curve.name
    if curve != "secp256r1":
        raise ConfigError(f"{key} is a key of the curve {curve}: releases are signed with P-256", hint=MAKE_ONE)
    return signer


def _private_key(path: Path) -> "EllipticCurvePrivateKey":
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = read_pem(path)
    if b"PRIVATE KEY" not in content:
        kind = "a public key" if b"PUBLIC KEY" in content else "no key in PEM form"
        raise ConfigError(f"{path} is {kind}: signing needs the private one", hint=MAKE_ONE)
    if b"SIGSTORE PRIVATE KEY" in content or b"COSIGN PRIVATE KEY" in content:
        raise ConfigError(
            f"{path} is a private key in cosign's own form, which only cosign reads",
            hint="sign with the PEM key that `cosign import-key-pair` was given, or a new one; " + MAKE_ONE,
        )
    _refuse_readable(path)
    password = os.environ.get(PASSWORD)
    try:
        key = load_pem_private_key(content, password.encode() if password else None)
    except TypeError as error:
        raise _password_error(path, password) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if password:
            raise ConfigError(
                f"{path} cannot be opened with the password in {PASSWORD}", hint="check the password and the file"
            ) from error
        raise ConfigError(f"{path} is a damaged private key, or no PEM: {error}", hint=MAKE_ONE) from error
    if not isinstance(key, EllipticCurvePrivateKey):
        raise ConfigError(f"{path} is not a key of an elliptic curve", hint=MAKE_ONE)
    return key


def _password_error(path: Path, password: str | None) -> ConfigError:
    if not password:  # CI sets the variable of a missing secret to an empty text
        return ConfigError(f"{path} has a password", hint=f"put it in the environment variable {PASSWORD}")
    return ConfigError(f"{path} has no password, but {PASSWORD} is set", hint=f"unset {PASSWORD}")


def _refuse_readable(path: Path) -> None:
    """Raises ConfigError for a private key that other users of the machine may read. Windows has no such bits."""
    mode = path.stat().st_mode
    if os.name == "posix" and mode & OTHERS:
        raise ConfigError(
            f"{path} is a private key that other users can open (mode {stat.S_IMODE(mode):04o})",
            hint=f"run: chmod 600 {path}",
        )


def read_pem(path: Path) -> bytes:
    """A PEM file. Raises ConfigError if it cannot be read."""
    try:
        return user_files.read(path, limit_bytes=MAX_KEY_BYTES)
    except OSError as error:
        hint = f"run: chmod u+r {path}" if isinstance(error, PermissionError) else f"check the path; to {MAKE_ONE}"
        raise ConfigError(f"cannot read the key {path}: {error.strerror or error}", hint=hint) from error


def chain_of(certificate: Path, signer: Signer) -> tuple[bytes, ...]:
    """The certificates in a PEM file, in DER, for signing with `signer`.

    Raises ConfigError if there is none, the first is of another key, may not sign, or is not valid today.
    """
    found = certificates_in(read_pem(certificate), str(certificate))
    refuse_mismatch(found[0], signer.public_key(), str(certificate))
    try:
        refuse_unusable(found[0], str(certificate))
        for issuer in found[1:]:
            refuse_dates(issuer, str(certificate))
    except GateError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    from cryptography.hazmat.primitives.serialization import Encoding

    return tuple(each.public_bytes(Encoding.DER) for each in found)


def public_key(path: Path) -> "EllipticCurvePublicKey":
    """The trusted public key in a PEM file; a certificate's key counts, a private key does not."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    content = read_pem(path)
    if b"PRIVATE KEY" in content:
        raise ConfigError(
            f"{path} is a private key: verifying needs the public one",
            hint=f"make it: openssl ec -in {path} -pubout -out release.pub",
        )
    found: object
    if b"BEGIN CERTIFICATE" in content:
        found = certificates_in(content, str(path))[0].public_key()
    else:
        try:
            found = load_pem_public_key(content)
        except (ValueError, UnsupportedAlgorithm) as error:
            raise ConfigError(f"{path} is not a public key in PEM form: {error}", hint="give release.pub") from error
    if not isinstance(found, EllipticCurvePublicKey):
        raise ConfigError(f"{path} is not a key of an elliptic curve", hint="releases are signed with P-256")
    return found


def public_key_of(certificate: "Certificate") -> "EllipticCurvePublicKey | None":
    """The key of a certificate if it is one of an elliptic curve."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    found = certificate.public_key()
    return found if isinstance(found, EllipticCurvePublicKey) else None


def spki(path: Path) -> bytes:
    """DER of a trusted P-256 key as a SubjectPublicKeyInfo: 91 bytes. Raises ConfigError for another curve."""
    key = public_key(path)
    if key.curve.name != "secp256r1":
        raise ConfigError(f"{path} is a key of the curve {key.curve.name}: apps trust P-256", hint=MAKE_ONE)
    return der(key)


def der(key: "EllipticCurvePublicKey") -> bytes:
    """A key as a SubjectPublicKeyInfo."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def fingerprint(key: "EllipticCurvePublicKey") -> str:
    """Hex sha256 of the key's PEM form, as OMS's reference implementation identifies keys."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
