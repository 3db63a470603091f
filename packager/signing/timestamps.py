"""Time stamps of signatures by an authority (RFC 3161): proof that a signature was there at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from packager.core.errors import ConfigError, GateError, ToolError
from packager.files import web
from packager.signing.certificates import certificates_in
from packager.signing.envelope import Bundle
from packager.signing.keys import read_pem

QUERY, REPLY = "application/timestamp-query", "application/timestamp-reply"
MOST_BYTES = 64 << 10
"""of an answer, which has the certificates of the authority"""
INSTALL = "run: pip install 'mobpack[timestamps]'"


def refuse_address(url: str) -> None:
    """Raises ConfigError for an address that no authority can have."""
    found = urlsplit(url)
    if found.scheme not in web.SCHEMES or not found.hostname:
        raise ConfigError(
            f"'{url}' is not the address of a time stamp authority",
            hint="give one that begins with https:// or http://",
        )


def stamped(bundle: Bundle, url: str) -> Bundle:
    """The bundle with a time stamp of its signature by the authority at `url`. Nobody has to trust the way there: the
    authority signs what it answers.

    Raises ToolError if there is no answer, or one that is no time stamp of this signature; ConfigError without the
    Python package rfc3161-client.
    """
    with _installed():
        from rfc3161_client import TimestampRequestBuilder, decode_timestamp_response
        from rfc3161_client.tsp import PKIStatus

        request = TimestampRequestBuilder().data(bundle.signature).nonce(nonce=True).cert_request(cert_request=True)
        query = request.build()
    try:
        answer = web.post(url, query.as_bytes(), kind=QUERY, limit_bytes=MOST_BYTES)
        found = decode_timestamp_response(answer)
        if PKIStatus(found.status) not in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS):
            raise ValueError(f"it refuses, with status {PKIStatus(found.status).name}")
        if (
            found.tst_info.nonce != query.nonce
            or found.tst_info.message_imprint.message != query.message_imprint.message
        ):
            raise ValueError("it has stamped something else")
    except (OSError, ValueError) as error:
        raise ToolError(
            f"the time stamp authority at {url} gives no time stamp: {error}",
            hint="run the same command again, or name another authority",
        ) from error
    return replace(bundle, timestamps=(*bundle.timestamps, answer))


def time_of(bundle: Bundle, authority: Path, where: str) -> datetime:
    """The time at which the authority with the certificate in a PEM file has seen the signature, in UTC.

    Raises GateError if no time stamp of the bundle is one of this authority about this signature.
    """
    roots = certificates_in(read_pem(authority), str(authority))
    if not bundle.timestamps:
        raise GateError(f"{where} has no time stamp", hint="sign with --timestamp URL, the address of an authority")
    reasons = []
    with _installed():
        from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response
    for each in bundle.timestamps:
        try:
            found = decode_timestamp_response(each)
            VerifierBuilder(roots=list(roots)).build().verify_message(found, bundle.signature)
        except (VerificationError, ValueError) as error:
            reasons.append(str(error))
        else:
            time: datetime = found.tst_info.gen_time
            return time
    raise GateError(
        f"the time stamp of {where} does not verify with {authority}: {'; '.join(reasons)}",
        hint="give the certificate of the authority that has stamped it",
    )


@contextmanager
def _installed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"time stamps need the Python package rfc3161-client ({error})", hint=INSTALL) from error
