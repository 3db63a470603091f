"""X.509 certificates of signing keys: dates, uses, and who has issued them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, GateError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.x509 import Certificate

CLOCK_SKEW = timedelta(minutes=5)
"""difference of two clocks that nobody should notice"""


def certificates_in(content: bytes, where: str) -> "list[Certificate]":
    """The certificates of a PEM file. Raises ConfigError if there is none."""
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return load_pem_x509_certificates(content)
    except ValueError as error:
        raise ConfigError(f"{where} is no certificate in PEM form: {error}", hint="give a PEM file") from error


def decoded(chain: Sequence[bytes], where: str) -> "list[Certificate]":
    """Certificates in DER. Raises GateError for a damaged one."""
    from cryptography.x509 import load_der_x509_certificate

    try:
        return [load_der_x509_certificate(each) for each in chain]
    except ValueError as error:
        raise GateError(f"{where} has a damaged certificate: {error}", hint="sign again") from error


def refuse_mismatch(certificate: "Certificate", key: "EllipticCurvePublicKey", where: str) -> None:
    """Raises ConfigError if `certificate` is not about `key`."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if certificate.public_key().public_bytes(*form) != key.public_bytes(*form):
        raise ConfigError(
            f"{where} is the certificate of another key",
            hint="put the signer's certificate first in the file, then those of its issuers",
        )


def refuse_unusable(certificate: "Certificate", where: str, now: datetime | None = None) -> None:
    """Raises GateError for a certificate that is not valid `now` (default: by this machine's clock), or that may not
    sign."""
    from cryptography.x509 import ExtensionNotFound, KeyUsage

    refuse_dates(certificate, where, now)
    try:
        usage = certificate.extensions.get_extension_for_class(KeyUsage).value
    except ExtensionNotFound:
        return
    if not usage.digital_signature:
        raise GateError(
            f"the certificate in {where} may not sign: its key usage has no digitalSignature",
            hint="get a certificate for signatures from its issuer",
        )


def refuse_dates(certificate: "Certificate", where: str, now: datetime | None = None) -> None:
    """Raises GateError for a certificate that is not valid `now` (default: by this machine's clock)."""
    now = now or datetime.now(UTC)
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    today = f"this machine's clock says {_date(now)}"
    if now + CLOCK_SKEW < begin:
        raise GateError(
            f"the certificate in {where} is not valid before {_date(begin)}; {today}",
            hint="set the clock if it is wrong (`date -u` shows it), or wait",
        )
    if now - CLOCK_SKEW > end:
        raise GateError(
            f"the certificate in {where} has expired on {_date(end)}; {today}",
            hint="get a new certificate and sign again; set the clock if it is wrong (`date -u` shows it)",
        )


def _date(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M UTC")


def is_issued_by(chain: "Sequence[Certificate]", root: "Certificate") -> bool:
    """Whether each certificate of `chain` is issued by the next one, and the last by `root` (or is `root`)."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.x509 import BasicConstraints, ExtensionNotFound

    links = [*chain, root] if chain[-1] != root else list(chain)
    try:
        for issued, issuer in pairwise(links):
            issued.verify_directly_issued_by(issuer)
            if not issuer.extensions.get_extension_for_class(BasicConstraints).value.ca:
                return False
    except (ValueError, TypeError, InvalidSignature, ExtensionNotFound):
        return False
    return True
