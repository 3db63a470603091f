"""Paths of X.509 certificates, from an authority to a signer (RFC 5280, 6.1), by pyhanko-certvalidator."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, GateError
from packager.signing.certificates import CLOCK_SKEW, CODE_SIGNING, extension, refuse_dates

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

MAX_CERTIFICATES = 8
"""of a path: a hostile bundle could have thousands"""
ANY_PURPOSE = "2.5.29.37.0"
ANY_POLICY: Mapping[str, Any] = {"user_initial_policy_set": frozenset({"any_policy"}), "initial_explicit_policy": False}
"""a root's own policies say what it may issue for, not what its signers must have"""
INSTALL = "run: pip install 'mobpack[certificates]'; or give the signer's own certificate or public key"


def refuse_path(
    chain: "Sequence[Certificate]",
    root: "Certificate",
    where: str,
    authority: str,
    now: datetime,
    revocations: Sequence[bytes] = (),
) -> None:
    """Raises GateError unless the certificate `root`, which `authority` names in errors, vouches for the first
    certificate of `chain`, which `where` names, through the others, for signatures of code.

    The limits that a root has in its own certificate (length of paths, names, uses) count, too. Nothing is asked of a
    network: certificates are not looked up. With `revocations`, lists in DER, each certificate below the root must have
    a list of its issuer that is valid `now` and does not have it; without, revocations are unknown. Raises ConfigError
    without the package that validates paths.
    """
    for each in chain:
        refuse_dates(each, where, now)
    refuse_dates(root, authority, now)
    reason = f"there are {len(chain)} certificates" if len(chain) > MAX_CERTIFICATES else _unfit_issuers(chain, root)
    if reason := reason or _invalid(chain, root, now, revocations):
        raise GateError(
            f"{where} is signed with a certificate that {authority} has not issued by the rules of X.509: {reason}",
            hint="give the certificate of the authority that has issued it; certificates between the two belong into "
            "the file for --certificate when signing",
        )


def _unfit_issuers(chain: "Sequence[Certificate]", root: "Certificate") -> str:
    """Faults of a root: RFC 5280 takes it for granted. And purposes of issuers, which limit those of what they
    issue, as in every browser."""
    from cryptography.x509 import ExtendedKeyUsage, KeyUsage, UnrecognizedExtension

    usage = extension(root, KeyUsage)
    if usage is not None and not usage.key_cert_sign:
        return "its key usage has no keyCertSign"
    for each in root.extensions:
        if each.critical and isinstance(each.value, UnrecognizedExtension):
            return f"its critical extension {each.oid.dotted_string} is unknown"
    for issuer in (*chain[1:], root):
        purposes = extension(issuer, ExtendedKeyUsage)
        known = [each.dotted_string for each in purposes or ()]
        if known and CODE_SIGNING not in known and ANY_PURPOSE not in known:
            return f"{issuer.subject.rfc4514_string()} may not issue certificates for code signing"
    return ""


def _invalid(chain: "Sequence[Certificate]", root: "Certificate", now: datetime, revocations: Sequence[bytes]) -> str:
    """Why there is no valid path; empty if there is one."""
    with _installed():
        from asn1crypto.x509 import Certificate as Parsed
        from pyhanko_certvalidator import CertificateValidator, ValidationContext
        from pyhanko_certvalidator.authority import CertTrustAnchor, derive_quals_from_cert
        from pyhanko_certvalidator.errors import PathError, ValidationError
    from cryptography.hazmat.primitives.serialization import Encoding

    leaf, *issuers = (Parsed.load(each.public_bytes(Encoding.DER)) for each in chain)
    trusted = Parsed.load(root.public_bytes(Encoding.DER))
    limits = derive_quals_from_cert(trusted)
    names = limits.standard_parameters and replace(limits.standard_parameters, **ANY_POLICY)
    # It subtracts from the length for attribute authorities, too, which it leaves open where the other is limited.
    length = limits.max_path_length
    anchor = CertTrustAnchor(trusted, replace(limits, standard_parameters=names, max_aa_path_length=length))
    context = ValidationContext(
        trust_roots=[anchor],
        moment=now,
        allow_fetching=False,
        time_tolerance=CLOCK_SKEW,
        crls=[*revocations],
        revocation_mode="require" if revocations else "soft-fail",
    )
    try:
        asyncio.run(CertificateValidator(leaf, issuers, context).async_validate_path())
    except (PathError, ValidationError, ValueError, TypeError, KeyError, RecursionError) as error:
        return str(error) or type(error).__name__
    return ""


@contextmanager
def _installed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"verifying through an authority needs the Python package pyhanko-certvalidator ({error})", hint=INSTALL
        ) from error
