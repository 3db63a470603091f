"""X.509 certificates of signing keys: dates, uses and subjects."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from packager.core.errors import ConfigError, GateError, MobpackError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.x509 import Certificate, ExtensionType, Name

    E = TypeVar("E", bound=ExtensionType)

CODE_SIGNING = "1.3.6.1.5.5.7.3.3"
"""id-kp-codeSigning, the extended key usage of signers of code"""
SHOW_SUBJECT = "openssl x509 -noout -subject -nameopt RFC2253 -in signer.crt shows it"
REVOCATIONS = re.compile(rb"-----BEGIN X509 CRL-----[^-]*-----END X509 CRL-----")
ANY_REVOCATIONS = re.compile(rb"-----BEGIN[^-\n]*CRL", re.IGNORECASE)
CLOCK_SKEW = timedelta(minutes=5)
"""difference of two clocks that nobody should notice"""


def certificates_in(content: bytes, where: str) -> "list[Certificate]":
    """The certificates of a PEM file. Raises ConfigError if there is none."""
    from cryptography.x509 import load_pem_x509_certificates

    with _damaged(
        lambda error: ConfigError(f"{where} is not a certificate in PEM form: {error}", hint="give a PEM file")
    ):
        return _whole(load_pem_x509_certificates(content))


def revocations_in(content: bytes, where: str) -> tuple[bytes, ...]:
    """The lists of revoked certificates in a PEM file, in DER. Raises ConfigError for a damaged one."""
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509 import load_pem_x509_crl

    blocks = [match[0] for match in REVOCATIONS.finditer(content)]
    if len(blocks) != len(ANY_REVOCATIONS.findall(content)):
        raise ConfigError(
            f"{where} has a list of revoked certificates that was cut, or has another title than X509 CRL",
            hint="get the list again, in PEM form: openssl crl -in FILE -out ca.crl.pem",
        )
    with _damaged(
        lambda error: ConfigError(f"{where} has a damaged list of revoked certificates: {error}", hint="get it again")
    ):
        return tuple(load_pem_x509_crl(each).public_bytes(Encoding.DER) for each in blocks)


def decoded(chain: Sequence[bytes], where: str) -> "list[Certificate]":
    """Certificates in DER. Raises GateError for a damaged one."""
    from cryptography.x509 import load_der_x509_certificate

    with _damaged(lambda error: GateError(f"{where} has a damaged certificate: {error}", hint="sign again")):
        return _whole([load_der_x509_certificate(each) for each in chain])


@contextmanager
def _damaged(refusal: Callable[[Exception], MobpackError]) -> Iterator[None]:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.x509 import DuplicateExtension, UnsupportedGeneralNameType

    try:
        yield
    except (ValueError, TypeError, UnsupportedAlgorithm, DuplicateExtension, UnsupportedGeneralNameType) as error:
        raise refusal(error) from error


def _whole(certificates: "list[Certificate]") -> "list[Certificate]":
    """The certificates, whose parts are read here: damage shows when a part is read for the first time."""
    for each in certificates:
        for part in (each.public_key(), each.subject, each.issuer, each.extensions, each.signature_algorithm_oid):
            assert part is not None
        if each.not_valid_before_utc > each.not_valid_after_utc:
            raise ValueError("it ends before it begins")
    return certificates


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
    """Raises GateError for a certificate that is not valid `now` (default: by this machine's clock), or that is not one
    of a signer of code (RFC 5280, 4.2.1): an authority's, a server's or a mail user's."""
    refuse_dates(certificate, where, now)
    if reason := _unfit(certificate):
        raise GateError(
            f"the certificate in {where} may not sign releases: {reason}",
            hint="get one for code signing from its issuer: keyUsage = digitalSignature, "
            "extendedKeyUsage = codeSigning, basicConstraints = CA:FALSE",
        )


def _unfit(certificate: "Certificate") -> str:
    """Why a certificate is none of a signer of code; empty if it is."""
    from cryptography.x509 import ExtendedKeyUsage, KeyUsage

    if is_authority(certificate):
        return "it is that of an authority, which issues certificates"
    usage = extension(certificate, KeyUsage)
    if usage is not None and not usage.digital_signature:
        return "its key usage has no digitalSignature"
    purposes = extension(certificate, ExtendedKeyUsage)
    if purposes is None or CODE_SIGNING not in [each.dotted_string for each in purposes]:
        return "its extended key usage has no codeSigning"
    return ""


def is_authority(certificate: "Certificate") -> bool:
    from cryptography.x509 import BasicConstraints

    constraints = extension(certificate, BasicConstraints)
    return constraints is not None and constraints.ca


def extension(certificate: "Certificate", kind: "type[E]") -> "E | None":
    """The extension of a type; None if the certificate has none."""
    from cryptography.x509 import ExtensionNotFound

    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except ExtensionNotFound:
        return None


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


def refuse_subject_form(subject: str) -> None:
    """Raises ConfigError for a text that names no subject."""
    try:
        named = bool(subject.strip()) and ("=" not in subject or bool(_name(subject)))
    except ValueError:
        named = False
    if not named:
        raise ConfigError(
            f"'{subject}' names no subject of a certificate",
            hint=f"give a part of its distinguished name, such as CN=releases,O=Example; {SHOW_SUBJECT}",
        )


def has_subject(certificate: "Certificate", subject: str) -> bool:
    """Whether a certificate is about `subject`: attributes of a distinguished name (RFC 4514), all of which it has, or
    else its common name, or one of its alternative names."""
    from cryptography.x509 import NameOID, SubjectAlternativeName

    if "=" in subject:
        found = {(each.oid, each.value) for each in certificate.subject}
        return all((each.oid, each.value) in found for each in _name(subject))
    alternatives = extension(certificate, SubjectAlternativeName) or ()
    common = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return subject in [*(each.value for each in alternatives), *(each.value for each in common)]


def _name(subject: str) -> "Name":
    """Raises ValueError for a text that is not a distinguished name."""
    from cryptography.x509 import Name, NameOID

    return Name.from_rfc4514_string(subject, {"emailAddress": NameOID.EMAIL_ADDRESS, "E": NameOID.EMAIL_ADDRESS})
