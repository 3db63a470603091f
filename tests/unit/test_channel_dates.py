"""Dates of a channel's documents: a publisher's wrong clock is not signed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from packager.core.errors import GateError
from packager.distribution.channel import clients, publishing, rotating
from packager.distribution.channel.places import Signing
from packager.distribution.channel.publishing import Published, Terms
from packager.distribution.channel.storage import ChannelFolder
from tests.cases.channel_cases import NOW, Release, later, make_release, place_of, signing_of
from tests.cases.signing_cases import Key, make_key

ONE, TWO = Release(), Release(version="1.1.0", weights=b"other weights")
Publish = Callable[..., Published]


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path / "keys")


@pytest.fixture
def folder(tmp_path: Path) -> ChannelFolder:
    return ChannelFolder(root=tmp_path / "channel")


@pytest.fixture
def publish(key: Key, tmp_path: Path) -> Publish:
    def run(
        folder: ChannelFolder, release: Release, signing: Signing | None = None, *, is_dry: bool = False
    ) -> Published:
        dist = tmp_path / release.version
        if not dist.exists():
            make_release(dist, release)
        place = place_of(folder, key)
        return publishing.publish(place, dist, Terms(), signing or signing_of(), is_dry=is_dry)

    return run


def refused_by_clock(attempt: Callable[[Signing], object], key: Key, now: datetime) -> str:
    with pytest.raises(GateError) as caught:
        attempt(signing_of(now=now))
    assert f"this machine's clock says {now:%Y-%m-%d}" in caught.value.message
    assert "--clock-is-right" in caught.value.hint
    assert isinstance(attempt(replace(signing_of(now=now), is_clock_trusted=True)), Published)
    return caught.value.message


@pytest.mark.parametrize("now", [datetime(1970, 1, 1, tzinfo=UTC), datetime(2025, 12, 31, tzinfo=UTC), later(7300)])
def test_a_channel_does_not_begin_by_a_wrong_clock(
    folder: ChannelFolder, key: Key, publish: Publish, now: datetime
) -> None:
    words = refused_by_clock(lambda signing: publish(folder, ONE, signing=signing, is_dry=True), key, now)
    assert "a channel begins between 2026 and 2036" in words
    assert not list(folder.root.rglob("*.json"))


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), "document 1, which comes before, was published at"),
        (NOW - timedelta(seconds=1), "document 1, which comes before, was published at"),
        (later(90 + 367), "more than 366 days after the end of document 1"),
        (later(7300), "more than 366 days after the end of document 1"),
    ],
)
@pytest.mark.parametrize("change", ["publish", "promote", "rollback"])
def test_a_document_is_not_dated_before_the_one_it_follows_and_not_long_after(
    folder: ChannelFolder, key: Key, publish: Publish, now: datetime, words: str, change: str
) -> None:
    publish(folder, ONE)
    place = place_of(folder, key)
    if change == "rollback":
        publish(folder, TWO)
        words = words.replace("document 1", "document 2")
    before = files_of(folder)
    attempts: dict[str, Callable[[Signing], object]] = {
        "publish": lambda signing: publish(folder, TWO, signing=signing, is_dry=True),
        "promote": lambda signing: publishing.promote(place, signing, percent=5, is_dry=True),
        "rollback": lambda signing: publishing.rollback(place, signing, is_dry=True),
    }
    assert words in refused_by_clock(attempts[change], key, now)
    assert files_of(folder) == before


@pytest.mark.parametrize("now", [NOW - timedelta(seconds=1), later(90 + 367)])
def test_a_wrong_clock_renews_nothing(folder: ChannelFolder, key: Key, publish: Publish, now: datetime) -> None:
    publish(folder, ONE)
    before = files_of(folder)
    with pytest.raises(GateError, match="this machine's clock says"):
        rotating.renew(place_of(folder, key), signing_of(now=now))
    assert files_of(folder) == before


@pytest.mark.parametrize("days", [0, 89, 91, 90 + 365])
def test_a_channel_goes_on_at_once_and_after_a_year(
    folder: ChannelFolder, key: Key, publish: Publish, days: int
) -> None:
    publish(folder, ONE)
    made = publish(folder, TWO, signing=signing_of(now=later(days)))
    assert clients.verify(place_of(folder, key), later(days)).document == made.document


def test_a_document_of_the_future_does_not_verify(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    """Devices would take its date for the time, and nothing that is signed before then."""
    signing = replace(signing_of(now=later(7300)), is_clock_trusted=True)
    publish(folder, ONE, signing=signing)
    with pytest.raises(GateError, match="in the future"):
        clients.verify(place_of(folder, key), NOW)
    clients.verify(place_of(folder, key), later(7299.5))


def files_of(folder: ChannelFolder) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.root.rglob("*") if path.is_file()}
