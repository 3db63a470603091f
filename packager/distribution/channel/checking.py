"""Verifies a channel as a device would, and everything that its documents name."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from packager.core.errors import GateError
from packager.distribution.channel.dates import refuse_future
from packager.distribution.channel.document import Document, blobs, digest
from packager.distribution.channel.log import ChannelPlace, blob_name, documents, refuse_expired, required
from packager.distribution.channel.storage import AbsentError, ChannelStorage, reading

CHUNK_BYTES = 1 << 20
AGAIN = "publish the release that has it again"


@dataclass(frozen=True, kw_only=True)
class CheckedChannel:
    """Result of verifying a channel."""

    document: Document
    documents: int
    blobs: int
    size_bytes: int


def verify(place: ChannelPlace, now: datetime, *, at_least: int = 0) -> CheckedChannel:
    """Verifies the signatures, the chain of the documents that are left, the dates of the current one, and every blob.

    Raises ConfigError if there is no channel; GateError for the first thing that is not as it should be, and for a
    document with a smaller number than `at_least`.
    """
    document = required(place)
    if document.number < at_least:
        raise GateError(
            f"the channel '{place.channel}' is at document {document.number}, and was at {at_least} before",
            hint="somebody has put older files back: publish again with --after",
        )
    refuse_expired(document, now)
    refuse_future(document, now)
    known = documents(place, document)
    _refuse_broken_chain(place, known, document)
    needed = blobs([document])
    for sha256, size in sorted(needed.items()):
        check_blob(place.storage, blob_name(sha256), sha256, size)
    return CheckedChannel(document=document, documents=len(known), blobs=len(needed), size_bytes=sum(needed.values()))


def _refuse_broken_chain(place: ChannelPlace, documents: list[Document], current: Document) -> None:
    if not documents or documents[-1] != current:
        newest = documents[-1].number if documents else 0
        raise GateError(
            f"{place.pointer} is document {current.number}, and the newest is {newest}",
            hint="a publisher was interrupted: run its command again, which finishes it",
        )
    digests = {each.number: digest(each) for each in documents}
    for before, after in pairwise(documents):
        if after.previous != digests[before.number]:
            raise GateError(
                f"document {after.number} does not follow document {before.number} of the channel '{place.channel}'",
                hint="somebody else has published there: see mobpack channel show --history",
            )


def check_blob(storage: ChannelStorage, name: str, sha256: str, size: int) -> None:
    """Reads one byte more than the signed size at most."""
    found, count = hashlib.sha256(), 0
    try:
        file = storage.opened(name)
    except AbsentError as error:
        raise GateError(f"{name} is missing", hint=AGAIN) from error
    with reading(name), file:
        while chunk := file.read(min(CHUNK_BYTES, size + 1 - count)):
            found.update(chunk)
            count += len(chunk)
    if count != size:
        least = "at least " if count > size else ""
        raise GateError(f"{name} has {least}{count:,} bytes in place of {size:,}", hint=AGAIN)
    if found.hexdigest() != sha256:
        raise GateError(f"{name} was changed: its sha256 is {found.hexdigest()[:16]}...", hint=f"remove it and {AGAIN}")
