"""The interface of a channel that publishing needs, in whatever form its metadata is."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from packager.core.errors import ConfigError, GateError
from packager.distribution.channel.dates import refuse_implausible
from packager.distribution.channel.document import TIME, ChannelModel, Document, digest
from packager.distribution.channel.storage import ChannelStorage
from packager.distribution.release.signatures import ReleaseSigner


@dataclass(frozen=True, kw_only=True)
class Signing:
    """Who signs a document, when, and for how long."""

    signer: ReleaseSigner
    now: datetime
    days: int
    timestamp_days: int = 30
    """for which the one file is valid that a machine renews every day"""
    after: int = 0
    """the document gets a larger number than this"""
    is_clock_trusted: bool = False
    """whether `now` counts although it does not fit the document before"""


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """A file that devices download."""

    sha256: str
    size_bytes: int
    content: bytes | None = None
    """of a file that is made of the document; None for a file of a release"""


class LacksSignaturesError(GateError):
    """Metadata that other people have to sign before it counts."""

    def __init__(self, content: bytes, *, role: str, number: int, missing: int) -> None:
        self.content, self.role, self.number, self.missing = content, role, number, missing
        super().__init__(
            f"{role} {number} needs {missing} more signature{'s' if missing > 1 else ''}",
            hint="hand its file on: mobpack channel sign FILE --key KEY --to URL",
        )


class Channel(Protocol):
    """A channel in a store. Channels of the same store share the files that devices download."""

    @property
    def storage(self) -> ChannelStorage: ...

    @property
    def channel(self) -> str:
        """Its name."""
        ...

    @property
    def package(self) -> str:
        """The package that it is of; empty if only its documents say so."""
        ...

    @property
    def pointer(self) -> str:
        """Name of the file that devices poll."""
        ...

    @property
    def folder(self) -> str:
        """Folder of the files that devices download."""
        ...

    def current(self) -> Document | None:
        """The document that devices get."""
        ...

    def newest(self) -> Document | None:
        """The newest document, also one whose publisher was interrupted before devices could get it."""
        ...

    def numbers(self) -> list[int]:
        """Numbers of the documents, in order."""
        ...

    def numbered(self, number: int) -> Document:
        """The document with a number. Raises ConfigError if it is not there."""
        ...

    def hosted(self, document: Document) -> Mapping[str, Hosted]:
        """Name in the store -> file, of all that a document needs."""
        ...

    def superseded(self, kept: Collection[int]) -> list[str]:
        """Names of the metadata in the store that only documents with other numbers than the `kept` ones need."""
        ...

    def siblings(self) -> list[str]:
        """Names of the channels in the store, also of those whose first publisher was interrupted."""
        ...

    def commit(self, document: Document, signing: Signing) -> Document:
        """Signs and publishes a document whose files are all in the store. Raises GateError if another publisher was
        faster."""
        ...

    def announce(self, signing: Signing) -> tuple[str, ...]:
        """Gives devices the newest document. Returns what others have to do before they get it, a sentence each."""
        ...


def required(place: Channel) -> Document:
    """The document that devices get. Raises ConfigError if there is none."""
    found = place.current()
    if found is None:
        raise ConfigError(
            f"there is no channel '{place.channel}': {place.pointer} is missing",
            hint="publish a release there first: mobpack channel publish dist --to URL",
        )
    return found


def following(
    place: Channel,
    before: Document | None,
    package: str,
    models: Iterable[ChannelModel],
    signing: Signing,
    *,
    restores: int = 0,
) -> Document:
    """The document that follows `before`, with other models. Raises GateError for a date that cannot be."""
    if not signing.is_clock_trusted:
        refuse_implausible(before, signing.now)
    return Document(
        schema_version=1,
        package=package,
        channel=place.channel,
        number=max(before.number if before else 0, signing.after) + 1,
        previous=digest(before) if before else "",
        restores=restores,
        published=signing.now.strftime(TIME),
        expires=(signing.now + timedelta(days=signing.days)).strftime(TIME),
        models=tuple(models),
    )
