"""Verifies a channel with python-tuf's client, as any other client of TUF would, and every file that devices need."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tuf.api.exceptions import DownloadError, DownloadHTTPError, ExpiredMetadataError, RepositoryError
from tuf.api.metadata import TargetFile
from tuf.ngclient import FetcherInterface, Updater

from packager.core.errors import GateError
from packager.distribution.channel.dates import refuse_future
from packager.distribution.channel.document import Document
from packager.distribution.channel.places import Hosted
from packager.distribution.channel.publishing import required
from packager.distribution.channel.repository import FOLDER, Repository, hosted_name
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


class StorageFetcher(FetcherInterface):
    """Gives python-tuf's client the files of a store, under their names there."""

    def __init__(self, storage: ChannelStorage) -> None:
        self._storage = storage

    def _fetch(self, url: str) -> Iterator[bytes]:
        try:
            file = self._storage.opened(url)
        except AbsentError as error:
            raise DownloadHTTPError(f"{url} is missing", 404) from error
        with reading(url), file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk


def verify(place: Repository, now: datetime, *, at_least: int = 0) -> CheckedChannel:
    """Verifies the metadata of all roles as a client does that was shipped with the root, and every file.

    Raises ConfigError if there is no channel; GateError for the first thing that is not as it should be, and for
    targets with a smaller number than `at_least`.
    """
    document = required(place)
    if document.number < at_least:
        raise GateError(
            f"the channel '{place.channel}' is at targets {document.number}, and was at {at_least} before",
            hint="somebody has put older files back: publish again with --after",
        )
    refuse_future(document, now)
    with TemporaryDirectory() as scratch:
        metadata = Path(scratch, "metadata")
        metadata.mkdir()
        client = Updater(
            str(metadata),
            f"{place.channel}/",
            target_dir=str(Path(scratch, "targets")),
            target_base_url=f"{FOLDER}/",
            fetcher=StorageFetcher(place.storage),
            bootstrap=place.trusted,
        )
        try:
            _verify_files(client, place, document)
        except ExpiredMetadataError as error:
            raise GateError(
                f"{error} in the channel '{place.channel}': devices keep the models that they have",
                hint="sign it anew: mobpack channel renew",
            ) from error
        except (RepositoryError, DownloadError) as error:
            raise GateError(f"python-tuf refuses the channel '{place.channel}': {error}", hint=AGAIN) from error
    hosted = place.hosted(document)
    sizes = {each.sha256: each.size_bytes for each in hosted.values()}
    return CheckedChannel(
        document=document, documents=len([*place.numbers()]), blobs=len(sizes), size_bytes=sum(sizes.values())
    )


def _verify_files(client: Updater, place: Repository, document: Document) -> None:
    client.refresh()
    for path, each in sorted(place.paths(document).items()):
        found = client.get_targetinfo(path)
        if found is None or not _is_same(found, each):
            raise GateError(f"targets {document.number} does not name {path} as releases do", hint=AGAIN)
        if each.content is not None:
            client.download_target(found)
        else:
            _check_blob(place.storage, hosted_name(path, each.sha256), each.sha256, each.size_bytes)


def _is_same(found: TargetFile, each: Hosted) -> bool:
    return (found.length, found.hashes) == (each.size_bytes, {"sha256": each.sha256})


def _check_blob(storage: ChannelStorage, name: str, sha256: str, size: int) -> None:
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
