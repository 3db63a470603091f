"""A key that signs apps for tests, and nothing else: made on this machine, kept in the user's cache.

Android installs no app without a signature, and updates one only if the signature is by the same key.
"""

import datetime
import os
from dataclasses import dataclass
from pathlib import Path

from packager.engines.environments.environment import make_once
from packager.files.user_cache import cache_folder

KEY = "key.pk8"
CERTIFICATE = "certificate.pem"
NAME = "Android Debug"
BITS = 2048
"""of an RSA key: every Android knows it"""
FIRST_DAY = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
LAST_DAY = datetime.datetime(2060, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, kw_only=True)
class DebugKey:
    key: Path
    """PKCS 8, DER"""
    certificate: Path
    """X.509, PEM"""


def debug_key() -> DebugKey:
    """The key, made when it is first asked for."""
    folder = cache_folder() / "android-debug-key"
    make_once(folder, _make)
    return DebugKey(key=folder / KEY, certificate=folder / CERTIFICATE)


def _make(folder: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(FIRST_DAY)
        .not_valid_after(LAST_DAY)
        .sign(key, hashes.SHA256())
    )
    with os.fdopen(os.open(folder / KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(
            key.private_bytes(
                serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    (folder / CERTIFICATE).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
