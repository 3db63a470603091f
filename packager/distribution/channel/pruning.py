"""Removes what no document of a channel needs any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from packager.core.errors import GateError
from packager.distribution.channel.document import Document, blobs
from packager.distribution.channel.log import NUMBER, POINTER, ChannelPlace, blob_name, newest, numbered, numbers
from packager.distribution.channel.storage import ChannelStorage, StoredFile


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """Files that were, or would be, removed."""

    names: tuple[str, ...]
    size_bytes: int
    kept: int
    """number of blobs that are left"""


def channels(storage: ChannelStorage) -> list[str]:
    """Names of the channels in a store, also of those whose first publisher was interrupted before `channel.json`."""
    parts = [each.name.partition("/") for each in storage.listed("")]
    return sorted({name for name, _, rest in parts if rest == POINTER or NUMBER.fullmatch(rest)})


def prune(
    places: Sequence[ChannelPlace], *, documents: int, grace_s: float, now: datetime, is_dry: bool = False
) -> Pruned:
    """Removes the blobs that none of the last documents of any channel names, and documents before those, if they are
    older than the time of grace.

    `places` are all channels of one store. Raises GateError if one of them does not verify: nothing is removed then.
    """
    storage = places[0].storage
    if odd := sorted(set(channels(storage)) - {each.channel for each in places}):
        raise GateError(f"the channel '{odd[0]}' is in the store, too", hint="prune all channels at once")
    kept, old = _documents(places, documents)
    needed = {blob_name(each) for each in blobs(kept)}
    stored = storage.listed("blobs")
    doomed = [each for each in stored if each.name not in needed and _is_old(each, grace_s, now)]
    old_documents = [each for each in _stored(places) if each.name in old and _is_old(each, grace_s, now)]
    if not is_dry:
        for each in (*old_documents, *doomed):  # a document never outlives the blobs that it names
            storage.delete(each.name)
    gone = [*old_documents, *doomed]
    return Pruned(
        names=tuple(each.name for each in gone),
        size_bytes=sum(each.size_bytes for each in gone),
        kept=len(stored) - len(doomed),
    )


def _documents(places: Sequence[ChannelPlace], count: int) -> tuple[list[Document], set[str]]:
    """The last documents of every channel, with the current one, and the names of those before."""
    kept: list[Document] = []
    old: set[str] = set()
    for place in places:
        last = newest(place)
        known = numbers(place)
        kept += [numbered(place, each) for each in known[-count:]]
        kept += [last] if last else []
        old |= {place.path(each) for each in known[:-count]}
    return kept, old


def _stored(places: Sequence[ChannelPlace]) -> list[StoredFile]:
    return [each for place in places for each in place.storage.listed(f"{place.channel}/documents")]


def _is_old(stored: StoredFile, grace_s: float, now: datetime) -> bool:
    """A store that says no time keeps what it has, unless there is no time of grace."""
    if stored.changed_s is None:
        return grace_s == 0
    return now.timestamp() - stored.changed_s >= grace_s
