"""Channels as repositories of TUF: published, interrupted, at once, rotated and recovered, judged by python-tuf's
client."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tuf.api.metadata import Metadata, Root

from packager.core.errors import ConfigError, GateError
from packager.distribution.channel import clients, publishing, rotating
from packager.distribution.channel.publishing import Published, Terms
from packager.distribution.channel.storage import ChannelFolder, ChannelStorage
from tests.cases.channel import ONE, THREE, TWO, dist, folder, key, storage
from tests.cases.channel_cases import NOW, KilledError, Release, Watched, repository_of, root_of, signing_of
from tests.cases.signing_cases import Key

__all__ = ["dist", "folder", "key", "storage"]


@pytest.fixture(scope="module")
def root(key: Key) -> Metadata[Root]:
    return root_of(key)


Publish = Callable[..., Published]


@pytest.fixture
def publish(root: Metadata[Root], key: Key, dist: Callable[[Release], Path]) -> Publish:
    def run(storage: ChannelStorage, release: Release, **options: Any) -> Published:
        place = repository_of(storage, root, *options.pop("keys", [key]))
        signing = options.pop("signing", signing_of(key))
        return publishing.publish(place, dist(release), options.pop("terms", Terms()), signing, **options)

    return run


def versions(found: Any) -> list[str]:
    return [each.version for each in found.document.models[0].releases]


def test_a_channel_goes_forth_and_back_and_verifies(
    storage: ChannelStorage, root: Metadata[Root], key: Key, publish: Publish
) -> None:
    place = repository_of(storage, root, key)
    publish(storage, ONE)
    assert not publish(storage, ONE).is_new
    before = [each.name for each in storage.listed("")]
    publish(storage, ONE)
    assert [each.name for each in storage.listed("")] == before
    made = publish(storage, TWO)
    assert [each.split("/")[:2] for each in made.uploaded] == [["targets", "classifier"]] * 3
    assert publishing.promote(place, signing_of(key), percent=10).document.number == 3
    found = clients.verify(place, NOW)
    assert (found.document.number, found.documents, found.blobs, versions(found)) == (3, 3, 5, ["1.1.0", "1.0.0"])
    back = publishing.rollback(place, signing_of(key), number=1)
    assert (back.document.number, back.document.restores, versions(back)) == (4, 1, ["1.0.0"])
    assert clients.verify(place, NOW).document == back.document
    with pytest.raises(GateError, match="was at 5 before"):
        clients.verify(place, NOW, at_least=5)


WRITES = 7
"""of the second release: three files, targets, snapshot, timestamp"""


@pytest.mark.parametrize("is_late", [False, True], ids=["before the write", "after it"])
@pytest.mark.parametrize("fails_at", range(1, WRITES))
def test_a_publisher_killed_at_any_write_is_continued(
    folder: ChannelFolder, root: Metadata[Root], key: Key, publish: Publish, fails_at: int, is_late: bool
) -> None:
    publish(folder, ONE)
    place = repository_of(folder, root)
    with pytest.raises(KilledError):
        publish(Watched(inner=folder, fails_at=fails_at, is_late=is_late), TWO)
    seen = clients.verify(place, NOW)
    assert versions(seen)[0] == ("1.1.0" if (fails_at, is_late) == (WRITES - 1, True) else "1.0.0")
    publish(folder, TWO)
    found = clients.verify(place, NOW)
    assert (found.document.number, versions(found)) == (2, ["1.1.0", "1.0.0"]), "its number was not used twice"


def test_a_reader_between_any_two_writes_verifies(
    folder: ChannelFolder, root: Metadata[Root], publish: Publish
) -> None:
    publish(folder, ONE)
    moments = list[int]()
    watched = Watched(inner=folder)
    watched.before = lambda: moments.append(clients.verify(repository_of(folder, root), NOW).document.number)
    publish(watched, TWO)
    assert moments == [1] * (WRITES - 1)
    assert [each.split("/")[-1] for each in watched.writes[-3:]] == [
        "2.targets.json",
        "2.snapshot.json",
        "timestamp.json",
    ]


def test_publishers_at_once_lose_nothing(
    folder: ChannelFolder, root: Metadata[Root], key: Key, publish: Publish
) -> None:
    publish(folder, ONE)
    start, errors, refused = threading.Barrier(3), list[BaseException](), list[str]()

    def one_of(days: int) -> None:
        start.wait()
        for _ in range(6):
            try:
                rotating.renew(repository_of(folder, root, key), signing_of(key, days=days), is_whole=True)
            except GateError as error:
                refused.append(error.message)
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=one_of, args=(days,)) for days in (10, 20, 30)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []
    assert all("somebody else" in each for each in refused)
    found = clients.verify(repository_of(folder, root), NOW)
    assert found.document.number == found.documents == 1 + 18 - len(refused)


def test_a_slow_publisher_puts_no_older_targets_back(
    folder: ChannelFolder, root: Metadata[Root], publish: Publish
) -> None:
    publish(folder, ONE)
    watched = Watched(inner=folder)

    def overtake() -> None:
        if watched.writes and watched.writes[-1] == "stable/2.targets.json":
            watched.before = lambda: None
            publish(folder, THREE)

    watched.before = overtake
    publish(watched, TWO)
    found = clients.verify(repository_of(folder, root), NOW)
    assert (found.document.number, versions(found)) == (3, ["1.2.0", "1.1.0", "1.0.0"])


def test_a_dry_run_writes_nothing(folder: ChannelFolder, publish: Publish) -> None:
    made = publish(folder, ONE, is_dry=True)
    assert (len(made.uploaded), made.is_new) == (3, True)
    assert not folder.root.exists()


def test_a_package_of_another_name_is_refused_at_once(folder: ChannelFolder, publish: Publish) -> None:
    with pytest.raises(ConfigError, match="of the package 'vision'"):
        publish(folder, replace(ONE, package="audio"))
    assert folder.listed("") == []
