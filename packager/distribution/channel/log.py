"""Documents of a channel in a store: numbered and created once; `channel.json` is a copy of the newest.

A document is written after all blobs that it names, and `channel.json` after it. Whoever creates the file of a number
has published it: a second publisher is refused there, and what was interrupted before `channel.json` is finished by the
next command.
"""

import re
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from packager.core.errors import ConfigError, GateError
from packager.distribution.channel.document import (
    MAX_DOCUMENT_BYTES,
    NAME,
    PAYLOAD_TYPE,
    Document,
    blobs,
    canonical,
    parsed,
    time_of,
)
from packager.distribution.channel.places import Hosted
from packager.distribution.channel.places import Signing as Signing
from packager.distribution.channel.places import following as following
from packager.distribution.channel.places import required as required
from packager.distribution.channel.storage import ChangedError, ChannelStorage, ExistsError
from packager.distribution.release.checking import Trust
from packager.signing.envelope import AGAIN, written
from packager.signing.envelope import parsed as parsed_bundle

POINTER = "channel.json"
MAX_ENVELOPE_BYTES = 2 * MAX_DOCUMENT_BYTES
DAMAGED = "remove it and publish again: it is a copy of the newest of the documents beside it"
NUMBER = re.compile(r"documents/(\d{16})\.json")


@dataclass(frozen=True, kw_only=True)
class ChannelPlace:
    """A channel in a store. Channels of the same store share blobs."""

    storage: ChannelStorage
    channel: str
    trust: Trust
    """what documents must be signed by"""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.channel) or self.channel == "blobs":
            raise ConfigError(
                f"'{self.channel}' is not the name of a channel",
                hint="use letters, digits, '.', '-' and '_': stable, beta",
            )

    @property
    def pointer(self) -> str:
        return f"{self.channel}/{POINTER}"

    package: ClassVar[str] = ""
    folder: ClassVar[str] = "blobs"

    def path(self, number: int) -> str:
        return f"{self.channel}/documents/{number:016d}.json"

    def current(self) -> Document | None:
        return current(self)

    def newest(self) -> Document | None:
        return newest(self)

    def numbers(self) -> list[int]:
        return numbers(self)

    def numbered(self, number: int) -> Document:
        return numbered(self, number)

    def hosted(self, document: Document) -> Mapping[str, Hosted]:
        return {blob_name(sha256): Hosted(sha256=sha256, size_bytes=size) for sha256, size in blobs([document]).items()}

    def superseded(self, kept: Collection[int]) -> list[str]:
        return [self.path(each) for each in numbers(self) if each not in kept]

    def siblings(self) -> list[str]:
        return channels(self.storage)

    def commit(self, document: Document, signing: Signing) -> Document:
        commit(self, document, signing)
        return document

    def announce(self, signing: Signing) -> tuple[str, ...]:
        return ()  # the newest document was given to devices when it was read


def current(place: ChannelPlace) -> Document | None:
    """The document that devices get; None if the channel has none. Raises GateError if no trusted key has signed it."""
    return _document(place, place.pointer)


def numbers(place: ChannelPlace) -> list[int]:
    """Numbers of the documents, in order."""
    names = [each.name.removeprefix(f"{place.channel}/") for each in place.storage.listed(f"{place.channel}/documents")]
    return sorted(int(found[1]) for found in map(NUMBER.fullmatch, names) if found)


def documents(place: ChannelPlace, current: Document) -> list[Document]:
    """The documents that are left, in order. In a store without lists, those around the `current` one whose numbers
    follow each other."""
    if place.storage.has_lists:
        return [numbered(place, each) for each in numbers(place)]
    found: deque[Document] = deque()
    number = current.number
    while number > 0 and (earlier := _numbered(place, number)):
        found.appendleft(earlier)
        number -= 1
    while found and (later := _numbered(place, found[-1].number + 1)):
        found.append(later)
    return list(found)


def numbered(place: ChannelPlace, number: int) -> Document:
    """The document with a number. Raises ConfigError if it is not there."""
    found = _numbered(place, number)
    if found is None:
        raise ConfigError(
            f"the channel '{place.channel}' has no document {number}", hint="see mobpack channel show --history"
        )
    return found


def _numbered(place: ChannelPlace, number: int) -> Document | None:
    """Like `numbered`; None if it is not there."""
    found = _document(place, place.path(number))
    if found is not None and found.number != number:
        raise GateError(f"{place.path(number)} has the number {found.number}", hint=AGAIN)
    return found


def newest(place: ChannelPlace) -> Document | None:
    """The newest document; `channel.json` becomes it if a publisher was interrupted before."""
    pointed = current(place)
    known = numbers(place)
    if not known or (pointed and pointed.number >= known[-1]):
        return pointed
    found = numbered(place, known[-1])
    _point(place, found.number)
    return found


def _document(place: ChannelPlace, name: str) -> Document | None:
    content = place.storage.read(name, limit_bytes=MAX_ENVELOPE_BYTES)
    return None if content is None else verified(content, place, name)


def verified(content: bytes, place: ChannelPlace, where: str) -> Document:
    """The document in a signed file. Raises GateError unless a trusted key has signed it for this channel."""
    if len(content) > MAX_ENVELOPE_BYTES:
        raise GateError(f"{where} has more than {MAX_ENVELOPE_BYTES >> 20} MiB", hint=AGAIN)
    try:
        bundle = parsed_bundle(content, where)
    except GateError as error:
        raise GateError(error.message, hint=DAMAGED if where == place.pointer else AGAIN) from error
    if bundle.payload_type != PAYLOAD_TYPE:
        raise GateError(f"{where} signs '{bundle.payload_type}', not a document of a channel", hint=AGAIN)
    place.trust(bundle, where)
    document = parsed(bundle.payload, where)
    if document.channel != place.channel:
        raise GateError(f"{where} is of the channel '{document.channel}'", hint=AGAIN)
    return document


def refuse_expired(document: Document, now: datetime) -> None:
    if now >= time_of(document.expires):
        raise GateError(
            f"document {document.number} of the channel '{document.channel}' has expired on {document.expires}: "
            "devices keep the models that they have",
            hint="sign it anew: mobpack channel renew",
        )


def commit(place: ChannelPlace, document: Document, signing: Signing) -> None:
    """Signs and publishes a document whose blobs are all in the store.

    Raises GateError if another publisher was faster.
    """
    payload = canonical(document)
    parsed(payload, "the document")  # nothing is signed that a reader would refuse
    content = written(signing.signer.sign(PAYLOAD_TYPE, payload))
    verified(content, place, "the document")
    try:
        place.storage.create(place.path(document.number), content)
    except ExistsError as error:
        if place.storage.read(place.path(document.number), limit_bytes=MAX_ENVELOPE_BYTES) != content:
            raise GateError(
                f"somebody else has published document {document.number} of the channel '{place.channel}' meanwhile",
                hint="see what it is (mobpack channel show), and run the command again if it is still wanted",
            ) from error
    _point(place, document.number)


def _point(place: ChannelPlace, number: int) -> None:
    """Makes `channel.json` the document with a number, unless it is a newer one."""
    present = place.storage.read(place.pointer, limit_bytes=MAX_ENVELOPE_BYTES)
    if present is not None and verified(present, place, place.pointer).number >= number:
        return
    content = place.storage.read(place.path(number), limit_bytes=MAX_ENVELOPE_BYTES)
    if content is None:
        raise GateError(f"{place.path(number)} is gone", hint="publish again")
    try:
        place.storage.replace(place.pointer, content, expected=present)
    except ChangedError:  # by another publisher, whose document may be an older one
        _point(place, number)


def blob_name(sha256: str) -> str:
    return f"blobs/sha256/{sha256[:2]}/{sha256}"


def channels(storage: ChannelStorage) -> list[str]:
    """Names of the channels in a store, also of those whose first publisher was interrupted before `channel.json`."""
    parts = [each.name.partition("/") for each in storage.listed("")]
    return sorted({name for name, _, rest in parts if rest == POINTER or NUMBER.fullmatch(rest)})
