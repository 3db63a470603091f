"""Channels as repositories of TUF: published, interrupted, at once, rotated and recovered, judged by python-tuf's
client."""

import shutil
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tuf.api.exceptions import UnsignedMetadataError
from tuf.api.metadata import Metadata, MetaFile, Root
from tuf.ngclient import Updater

from packager.core.errors import ConfigError, GateError
from packager.distribution.channel import clients, pruning, publishing, rotating
from packager.distribution.channel.document import MAX_INTEGER
from packager.distribution.channel.publishing import Published, Terms
from packager.distribution.channel.repository import Repository
from packager.distribution.channel.roles import ROLES, with_signatures
from packager.distribution.channel.storage import ChannelFolder, ChannelStorage
from tests.cases.channel import ONE, THREE, TWO, dist, folder, key, storage
from tests.cases.channel_cases import (
    NOW,
    KilledError,
    Release,
    Watched,
    later,
    make_release,
    repository_of,
    role_keys,
    root_of,
    signers_of,
    signing_of,
)
from tests.cases.signing_cases import Key, make_key

__all__ = ["dist", "folder", "key", "storage"]


@pytest.fixture(scope="module")
def root(key: Key) -> Metadata[Root]:
    return root_of(key)


Publish = Callable[..., Published]


@pytest.fixture
def publish(root: Metadata[Root], key: Key, dist: Callable[[Release], Path]) -> Publish:
    def run(storage: ChannelStorage, release: Release, **options: Any) -> Published:
        place = repository_of(storage, root, *options.pop("keys", [key]))
        signing = options.pop("signing", signing_of())
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
    assert publishing.promote(place, signing_of(), percent=10).document.number == 3
    found = clients.verify(place, NOW)
    assert (found.document.number, found.documents, found.blobs, versions(found)) == (3, 3, 5, ["1.1.0", "1.0.0"])
    back = publishing.rollback(place, signing_of(), number=1)
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
                rotating.renew(repository_of(folder, root, key), signing_of(days=days), is_whole=True)
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


class Careless(Watched):
    """A store that does not look what it replaces, as S3 cannot."""

    def replace(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        self._write(name, lambda: self.inner.replace(name, content, expected=self.read(name, limit_bytes=1 << 20)))


@pytest.mark.parametrize("store", [Watched, Careless])
@pytest.mark.parametrize("after", ["stable/2.targets.json", "stable/2.snapshot.json"])
def test_a_slow_publisher_puts_no_older_targets_back(
    folder: ChannelFolder, root: Metadata[Root], publish: Publish, store: type[Watched], after: str
) -> None:
    publish(folder, ONE)
    watched = store(inner=folder)

    def overtake() -> None:
        if watched.writes and watched.writes[-1] == after:
            watched.before = lambda: None
            publish(folder, THREE)

    watched.before = overtake
    publish(watched, TWO)
    found = clients.verify(repository_of(folder, root), NOW)
    assert (found.document.number, versions(found)) == (3, ["1.2.0", "1.1.0", "1.0.0"])
    if store is Watched:
        assert rotating.states(repository_of(folder, root))[-1].number == 2, (
            "no timestamp went back to a snapshot before"
        )


def test_a_dry_run_writes_nothing(folder: ChannelFolder, publish: Publish) -> None:
    made = publish(folder, ONE, is_dry=True)
    assert (len(made.uploaded), made.is_new) == (3, True)
    assert not folder.root.exists()


def test_a_package_of_another_name_is_refused_at_once(folder: ChannelFolder, publish: Publish) -> None:
    with pytest.raises(ConfigError, match="of the package 'vision'"):
        publish(folder, replace(ONE, package="audio"))
    assert folder.listed("") == []


@dataclass(frozen=True, kw_only=True)
class Client:
    """A client of python-tuf that keeps what it has seen."""

    folder: Path
    storage: ChannelStorage
    root: Metadata[Root]

    def update(self) -> dict[str, int]:
        """Number of each role that it has then."""
        client = Updater(
            str(self.folder), "stable/", fetcher=clients.StorageFetcher(self.storage), bootstrap=self.root.to_bytes()
        )
        client.refresh()
        return {role: Metadata[Any].from_file(str(self.folder / f"{role}.json")).signed.version for role in ROLES}


@pytest.fixture
def client(folder: ChannelFolder, root: Metadata[Root], tmp_path: Path) -> Client:
    return Client(folder=tmp_path / "client", storage=folder, root=root)


def steal(place: Repository, number: int) -> None:
    """Publishes the newest targets as a snapshot and a timestamp with a number."""
    found = place.announced()
    assert found is not None
    snapshot = found.snapshot.signed
    snapshot.version = number
    made = with_signatures(Metadata(snapshot), place.signers, place.root().roles["snapshot"].keyids)
    place.storage.create(place.path("snapshot", number), made.to_bytes())
    timestamp = found.timestamp.signed
    timestamp.version, timestamp.snapshot_meta = number, MetaFile(number)
    stolen = with_signatures(Metadata(timestamp), place.signers, place.root().roles["timestamp"].keyids)
    before = place.storage.read(place.pointer, limit_bytes=20_000)
    place.storage.replace(place.pointer, stolen.to_bytes(), expected=before)


def test_a_thief_who_uses_up_the_numbers_is_recovered_from(
    folder: ChannelFolder, root: Metadata[Root], key: Key, publish: Publish, client: Client, tmp_path: Path
) -> None:
    publish(folder, ONE)
    assert client.update() == {"root": 1, "targets": 1, "snapshot": 1, "timestamp": 1}
    place = repository_of(folder, root, key)
    steal(place, MAX_INTEGER)
    assert client.update()["timestamp"] == MAX_INTEGER
    with pytest.raises(GateError, match="has the largest number") as refused:
        publish(folder, TWO)
    assert "mobpack channel rotate" in refused.value.hint
    new = make_key(tmp_path / "new")
    both = repository_of(folder, root, key, new)
    roles = {"snapshot": role_keys(new), "timestamp": role_keys(new)}
    changed = rotating.rotated(both, roles, (), NOW, 365)
    assert rotating.put_root(both, changed, signing_of()) == ()
    assert client.update() == {"root": 2, "targets": 2, "snapshot": 2, "timestamp": 1}
    publish(folder, THREE, keys=[key, new])
    assert client.update() == {"root": 2, "targets": 3, "snapshot": 3, "timestamp": 2}
    assert versions(clients.verify(place, NOW)) == ["1.2.0", "1.1.0", "1.0.0"]


def test_targets_of_a_thief_are_left_behind(
    folder: ChannelFolder, root: Metadata[Root], key: Key, publish: Publish, tmp_path: Path
) -> None:
    """The holder of the root's key names the last targets that are their own; the thief's key signs nothing more."""
    first, stolen, new = (make_key(tmp_path / name) for name in ("first", "stolen", "new"))
    root = root_of(first, targets=[stolen], snapshot=[stolen], timestamp=[stolen])

    def put(release: Release, dist: Path, *keys: Key) -> Published:
        place = repository_of(folder, root, *keys)
        return publishing.publish(place, make_release(dist, release), Terms(), signing_of())

    put(ONE, tmp_path / "one", stolen)
    put(TWO, tmp_path / "two", stolen)  # by the thief
    place = repository_of(folder, root, first, new)
    roles = {name: role_keys(new) for name in ("targets", "snapshot", "timestamp")}
    rotating.put_root(place, rotating.rotated(place, roles, (), NOW, 365), signing_of(), number=1)
    found = clients.verify(place, NOW)
    assert (found.document.number, versions(found)) == (3, ["1.0.0"])
    with pytest.raises(ConfigError, match="no document before"):  # but that of the thief
        publishing.rollback(repository_of(folder, root, new), signing_of())
    with pytest.raises(GateError, match="targets 4 needs 1 more signature"):
        put(THREE, tmp_path / "three", stolen)
    assert versions(put(THREE, tmp_path / "again", new)) == ["1.2.0", "1.0.0"]
    back = publishing.rollback(repository_of(folder, root, new), signing_of())
    assert (back.document.restores, versions(back)) == (3, ["1.0.0"])


def test_a_root_whose_holder_was_interrupted_is_finished_by_going_back(
    folder: ChannelFolder, root: Metadata[Root], key: Key, publish: Publish, tmp_path: Path
) -> None:
    publish(folder, ONE)
    new = make_key(tmp_path / "new")
    killed = repository_of(Watched(inner=folder, fails_at=1, is_late=True), root, key, new)
    roles = {name: role_keys(new) for name in ("targets", "snapshot", "timestamp")}
    with pytest.raises(KilledError):
        rotating.put_root(killed, rotating.rotated(killed, roles, (), NOW, 365), signing_of())
    with pytest.raises(GateError, match="signed by keys that it has no more") as refused:
        publish(folder, TWO, keys=[new])
    assert "rollback --number 1" in refused.value.hint
    place = replace(repository_of(folder, root, new), vouched=1)
    made = publishing.rollback(place, signing_of(), number=1)
    assert clients.verify(repository_of(folder, root), NOW).document == made.document


CHANGES = ("root", "targets", "a number that is taken", "snapshot", "timestamp")
"""writes of a change of keys"""


@pytest.mark.parametrize("written", range(len(CHANGES) + 1))
@pytest.mark.parametrize("is_revoked", [False, True], ids=["rotate", "revoke"])
def test_a_change_of_keys_killed_at_any_write_is_continued(
    folder: ChannelFolder, dist: Callable[[Release], Path], tmp_path: Path, written: int, is_revoked: bool
) -> None:
    """Meanwhile a client has the targets before or those after it, and no others."""
    first, gone, new = (make_key(tmp_path / name) for name in ("first", "gone", "new"))
    signed = ("targets", "snapshot", "timestamp")
    before = replace(role_keys(gone, new), threshold=1) if is_revoked else role_keys(gone)
    roles = {"root": role_keys(first), **dict.fromkeys(signed, before)}
    root = rotating.begin("vision", "stable", roles, signers_of(first), NOW, 365)
    publishing.publish(repository_of(folder, root, gone), dist(ONE), Terms(), signing_of())
    client = Client(folder=tmp_path / "client", storage=folder, root=root)
    assert client.update()["targets"] == 1

    def change(storage: ChannelStorage) -> None:
        place = repository_of(storage, root, first, new)
        keys = {} if is_revoked else dict.fromkeys(signed, role_keys(new))
        revoked = role_keys(gone).keys if is_revoked else ()
        made = rotating.rotated(place, keys, [each.keyid for each in revoked], NOW, 365)
        rotating.put_root(place, made, signing_of())

    is_begun, is_ended = written > 0, written == len(CHANGES)
    with pytest.raises(KilledError):
        change(Watched(inner=folder, fails_at=min(written + 1, len(CHANGES)), is_late=is_ended))
    with nullcontext() if not is_begun or is_ended else pytest.raises(UnsignedMetadataError):
        client.update()
    kept = Metadata[Any].from_file(str(client.folder / "targets.json")).signed
    assert kept.version == (2 if is_ended else 1)
    change(folder)
    assert client.update()["targets"] == 2, "the same targets, by other keys"
    assert versions(clients.verify(repository_of(folder, root), NOW)) == ["1.0.0"]


@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("timestamp", "timestamp.json is expired"),
        ("targets", "snapshot.json is expired"),
        ("root", "root.json is expired"),
    ],
)
def test_ends_of_roles_count_and_are_renewed(
    folder: ChannelFolder, key: Key, dist: Callable[[Release], Path], tmp_path: Path, role: str, words: str
) -> None:
    days = {"timestamp": 30, "targets": 90, "root": 365} | {role: 7}
    begin = NOW - timedelta(days=8)
    root = root_of(key, now=begin, days=days["root"])
    place = repository_of(folder, root, key)
    signing = replace(signing_of(now=begin), days=days["targets"], timestamp_days=days["timestamp"])
    publishing.publish(place, dist(ONE), Terms(), signing)
    with pytest.raises(GateError, match=words):
        clients.verify(place, NOW)
    new = make_key(tmp_path / "new")
    other = repository_of(folder, root_of(key, now=begin, days=days["root"]), new)
    with pytest.raises(GateError, match=f"{role} 1 of the channel 'stable' has ended"):
        rotating.renew(other, signing_of())
    if role == "root":
        rotating.put_root(place, rotating.rotated(place, {}, (), NOW, 365), signing_of())
    else:
        rotating.renew(place, signing_of())
    found = clients.verify(place, NOW)
    assert found.document.number == (2 if role == "targets" else 1), "of targets, those that end are signed anew"


def test_a_channel_whose_newest_releases_are_lost_goes_on_from_older_ones(
    folder: ChannelFolder, root: Metadata[Root], key: Key, publish: Publish
) -> None:
    publish(folder, ONE)
    publish(folder, TWO)
    place = repository_of(folder, root, key)
    newest = place.announced()
    assert newest is not None
    file = newest.targets.signed.targets["classifier/releases.json"]
    folder.delete(f"targets/classifier/{file.hashes['sha256']}.releases.json")
    with pytest.raises(GateError, match="is missing") as refused:
        publish(folder, THREE)
    assert "rollback --number 1, and publish the release again" in refused.value.hint
    publishing.rollback(replace(place, vouched=1), signing_of(), number=1)
    publish(folder, THREE)
    found = clients.verify(place, NOW)
    assert (found.document.number, versions(found)) == (4, ["1.2.0", "1.0.0"])


@pytest.mark.parametrize(("days", "numbers"), [(59, (1, 1, 2)), (61, (2, 2, 2))])
def test_renewing_signs_what_ends_soon(
    folder: ChannelFolder, key: Key, dist: Callable[[Release], Path], days: int, numbers: tuple[int, ...]
) -> None:
    begin = NOW - timedelta(days=days)
    place = repository_of(folder, root_of(key, now=begin), key)
    publishing.publish(place, dist(ONE), Terms(), signing_of(now=begin))
    renewed = rotating.renewed_roles(place, NOW)
    assert rotating.renew(place, signing_of()) == ()
    assert len(renewed) == sum(numbers) - 3, "a dry run says what is signed anew"
    assert tuple(each.number for each in rotating.states(place)[1:]) == numbers


def test_pruning_keeps_what_the_last_targets_name(
    folder: ChannelFolder, root: Metadata[Root], key: Key, publish: Publish
) -> None:
    for each in (ONE, TWO, THREE):
        publish(folder, each, limits=publishing.ReleasesKept(keep=1))
    place = repository_of(folder, root, key)
    place.announce(signing_of(), ("snapshot",))
    found = pruning.prune([place], documents=1, grace_s=0, now=later(1))
    old = [f"stable/{number}.{role}.json" for number in (1, 2) for role in ("snapshot", "targets")]
    assert [each for each in found.names if each.startswith("stable/")] == old
    place.announce(signing_of(), ("snapshot",))
    assert pruning.prune([place], documents=1, grace_s=0, now=later(1)).names == ()
    assert found.kept == 3
    assert versions(clients.verify(place, NOW)) == ["1.2.0"]
    assert publish(folder, replace(THREE, version="1.3.0")).document.number == 4


CHANNELS = ("beta", "stable")
"""from which a file is copied, and to which"""


def of_a_stranger(folder: ChannelFolder, name: str, tmp_path: Path) -> None:
    """Signs a file anew, with a key that the channel does not have."""
    found = Metadata[Any].from_bytes((folder.root / name).read_bytes())
    found.sign(*signers_of(make_key(tmp_path / "stranger")))
    (folder.root / name).write_bytes(found.to_bytes())


def other_root(folder: ChannelFolder, tmp_path: Path) -> None:
    stranger = make_key(tmp_path / "stranger")
    other = root_of(stranger)
    other.signed.version = 2
    (folder.root / "stable/2.root.json").write_bytes(rotating.sign_root(other, None, signers_of(stranger)).to_bytes())


def replaced(pattern: str, change: Callable[[bytes], bytes]) -> Callable[[ChannelFolder, Path], None]:
    def attack(folder: ChannelFolder, tmp_path: Path) -> None:
        for path in folder.root.glob(pattern):
            path.write_bytes(change(path.read_bytes()))

    return attack


def removed(pattern: str) -> Callable[[ChannelFolder, Path], None]:
    def attack(folder: ChannelFolder, tmp_path: Path) -> None:
        for path in folder.root.glob(pattern):
            path.unlink()

    return attack


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (other_root, r"2\.root\.json is not signed as root 1 demands"),
        (lambda folder, path: of_a_stranger(folder, "stable/timestamp.json", path), "not signed as root 1 demands"),
        (replaced("stable/timestamp.json", lambda _: b"[" * 20_000), r"more than 16,384 bytes"),
        (replaced("stable/timestamp.json", lambda _: b"{}"), "no metadata of TUF"),
        (
            lambda folder, _: shutil.copy(*(folder.root / f"{each}/timestamp.json" for each in CHANNELS)),
            "of the channel 'beta'",
        ),
        (replaced("stable/1.targets.json", lambda content: content + b" "), r"1\.targets\.json was changed"),
        (replaced("stable/1.snapshot.json", lambda content: content + b" "), r"1\.snapshot\.json was changed"),
        (removed("stable/1.snapshot.json"), r"1\.snapshot\.json is missing"),
        (replaced("targets/classifier/*.releases.json", lambda content: content[:-1]), r"releases\.json was changed"),
        (removed("targets/classifier/*.releases.json"), r"releases\.json is missing"),
        (replaced("targets/classifier/*[0-9a-f]", lambda content: content + b"x"), "in place of"),
        (replaced("targets/classifier/*[0-9a-f]", lambda content: bytes(len(content))), "was changed"),
        (removed("targets/classifier/*[0-9a-f]"), "is missing"),
    ],
)
def test_damage_by_whoever_writes_to_the_store_is_found(
    folder: ChannelFolder,
    root: Metadata[Root],
    key: Key,
    publish: Publish,
    tmp_path: Path,
    attack: Callable[[ChannelFolder, Path], object],
    words: str,
) -> None:
    publish(folder, ONE)
    beta = repository_of(folder, root_of(key, channel="beta"), key)
    publishing.promote(beta, signing_of(), source=repository_of(folder, root))
    attack(folder, tmp_path)
    with pytest.raises(GateError, match=words):
        clients.verify(repository_of(folder, root), NOW)
