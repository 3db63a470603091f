"""Removes what no document of a channel needs any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from packager.core.errors import GateError
from packager.distribution.channel.document import Document
from packager.distribution.channel.repository import Repository
from packager.distribution.channel.storage import StoredFile


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """Files that were, or would be, removed."""

    names: tuple[str, ...]
    size_bytes: int
    kept: int
    """number of blobs that are left"""


def prune(
    places: Sequence[Repository], *, documents: int, grace_s: float, now: datetime, is_dry: bool = False
) -> Pruned:
    """Removes the blobs that none of the last documents of any channel names, and documents before those, if they are
    older than the time of grace.

    `places` are all channels of one store. Raises GateError if one of them does not verify: nothing is removed then.
    """
    storage = places[0].storage
    if odd := sorted(set(places[0].siblings()) - {each.channel for each in places}):
        raise GateError(f"the channel '{odd[0]}' is in the store, too", hint="prune all channels at once")
    needed, old = set[str](), set[str]()
    for place in places:
        kept = _kept(place, documents)
        needed |= {name for each in kept for name in place.hosted(each)}
        old |= set(place.superseded({each.number for each in kept}))
    stored = storage.listed(places[0].folder)
    doomed = [each for each in stored if each.name not in needed and _is_old(each, grace_s, now)]
    metadata = [each for place in places for each in storage.listed(place.channel)]
    old_documents = [each for each in metadata if each.name in old and _is_old(each, grace_s, now)]
    if not is_dry:
        for each in (*old_documents, *doomed):  # a document never outlives the blobs that it names
            storage.delete(each.name)
    gone = [*old_documents, *doomed]
    return Pruned(
        names=tuple(each.name for each in gone),
        size_bytes=sum(each.size_bytes for each in gone),
        kept=len(stored) - len(doomed),
    )


def _kept(place: Repository, count: int) -> list[Document]:
    """The last documents of a channel, with the newest, and that which devices get."""
    found = [place.numbered(each) for each in islice(place.numbers(), count)]
    return [*found, *(each for each in (place.newest(), place.current()) if each)]


def _is_old(stored: StoredFile, grace_s: float, now: datetime) -> bool:
    """A store that says no time keeps what it has, unless there is no time of grace."""
    if stored.changed_s is None:
        return grace_s == 0
    return now.timestamp() - stored.changed_s >= grace_s
