"""The life of a channel in a store, as a program: `python -m tests.toolchain.stores_life URL`.

It publishes, publishes again, is interrupted after every write of metadata and continues, publishes twice at once,
promotes, goes back, prunes and verifies. The last line of its output is JSON: the facts in which stores differ.
"""

import json
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from packager.core.errors import GateError
from packager.distribution.channel import clients, publishing, rotating
from packager.distribution.channel.clients import CheckedChannel
from packager.distribution.channel.pruning import prune
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.repository import Repository, channels, hosted_name
from packager.distribution.channel.storage import ExistsError, RemoteChannel, open_storage
from tests.cases.channel_cases import (
    NOW,
    KilledError,
    Release,
    Watched,
    make_release,
    repository_of,
    root_of,
    signing_of,
)
from tests.cases.signing_cases import Key, make_key

ONE, TWO = Release(weights=b"1" * 5000), Release(version="1.1.0", weights=b"1" * 5000 + b"2")
THREE, FOUR = Release(version="1.2.0", weights=b"third"), Release(version="1.3.0", weights=b"fourth")
WAIT_S = 600


class Together:
    """A file system in which two publishers write targets at the same moment: both have seen that it is not
    there."""

    def __init__(self, files: Any, barrier: threading.Barrier) -> None:
        self.files, self.barrier = files, barrier

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def exists(self, path: str) -> bool:
        found = bool(self.files.exists(path))
        if path.endswith(".targets.json"):
            self.barrier.wait(WAIT_S)
        return found


def main() -> int:
    url = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        life = Life(url, Path(folder))
        facts = {
            "published": life.published(),
            "interrupted": life.interrupted(),
            "refused": life.at_once(),
            "created": life.created(),
            "times": life.times(),
        }
        life.changed()
        life.pruned()
    print(json.dumps(facts))
    return 0


class Life:
    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.storage = remote(url)
        (folder / "key").mkdir()
        self.key: Key = make_key(folder / "key")
        self.releases: dict[Release, Path] = {}

    def place(self, storage: Any, channel: str = "stable") -> Repository:
        return repository_of(storage, root_of(self.key, channel=channel), self.key)

    def publish(self, storage: Any, release: Release, channel: str = "stable") -> publishing.Published:
        if release not in self.releases:
            self.releases[release] = make_release(self.folder / str(len(self.releases)), release)
        return publishing.publish(self.place(storage, channel), self.releases[release], Terms(), signing_of())

    def verified(self, channel: str = "stable") -> CheckedChannel:
        return clients.verify(self.place(self.storage, channel), NOW)

    def published(self) -> int:
        """Number of blobs, one of them a delta, that `opened` reads, too."""
        assert self.publish(self.storage, ONE).is_new
        assert not self.publish(self.storage, ONE).is_new
        self.publish(self.storage, TWO)
        found = self.verified()
        assert found.document.number == found.documents == 2
        delta = found.document.models[0].releases[0].files[1].file.deltas[0]
        with self.storage.opened(hosted_name(f"classifier/{delta.sha256}", delta.sha256)) as file:
            assert len(file.read()) == delta.size_bytes
        assert self.storage.read("stable/nothing", limit_bytes=10) is None
        return found.blobs

    def interrupted(self) -> int:
        """Number of writes, at each of which a publisher was killed and the next one continued."""
        for number, at in enumerate(range(4, 8)):
            channel, release = f"killed-{number}", replace(ONE, weights=f"killed {number}".encode())
            try:
                self.publish(Watched(inner=self.storage, fails_at=at, is_late=True), release, channel)
                raise AssertionError("it was not killed")
            except KilledError:
                self.publish(self.storage, release, channel)
            found = self.verified(channel)
            assert (found.document.number, found.documents) == (1, 1), found
        return number + 1

    def at_once(self) -> int:
        """Number of publishers that were refused, of two that create document 3 at the same moment."""
        for release in (THREE, FOUR):  # blobs first, so that only documents are left to write
            self.publish(self.storage, release, f"before-{release.version}")
        barrier, refused, errors = threading.Barrier(2), list[str](), list[BaseException]()

        def run(release: Release) -> None:
            storage = remote(self.url)
            try:
                self.publish(replace(storage, files=Together(storage.files, barrier)), release)
            except GateError as error:
                refused.append(error.message)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(release,)) for release in (THREE, FOUR)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not errors, errors
        assert all("somebody else" in each for each in refused), refused
        self.publish(self.storage, FOUR)
        assert self.verified().document.models[0].releases[0].version == "1.3.0"
        return len(refused)

    def created(self) -> bool:
        """Whether the store itself refuses to create what is there: nobody looks before."""
        storage = replace(self.storage, files=Blind(self.storage.files))
        storage.create("other/file", b"first")
        try:
            storage.create("other/file", b"second")
        except ExistsError:
            assert self.storage.read("other/file", limit_bytes=10) == b"first"
            return True
        finally:
            self.storage.delete("other/file")
        return False

    def times(self) -> bool:
        """Whether the store says when each file was written."""
        found = self.storage.listed("targets")
        assert [each.name for each in found] == sorted(each.name for each in found)
        assert all(each.name.startswith("targets/classifier/") and each.size_bytes > 0 for each in found), found
        return all(each.changed_s is not None and abs(each.changed_s - NOW.timestamp()) < 3600 for each in found)

    def changed(self) -> None:
        """Promotes, goes back, and signs anew."""
        place, signing = self.place(self.storage), signing_of()
        first = self.verified().document.number
        assert publishing.promote(place, signing, percent=50).document.models[0].releases[0].rollout.percent == 50
        assert publishing.rollback(place, signing).document.number == first + 2
        rotating.renew(place, signing, is_whole=True)
        assert self.verified().documents == first + 3

    def pruned(self) -> None:
        """Prunes everything but the newest document of each channel, and what these name."""
        names = channels(self.storage)
        prune([self.place(self.storage, name) for name in names], documents=1, grace_s=-3600, now=NOW)
        needed = {
            name for each in names for name in self.place(self.storage, each).hosted(self.verified(each).document)
        }
        assert {each.name for each in self.storage.listed("targets")} == needed
        assert self.verified().documents == 1


class Blind:
    """A file system in which no file seems to be there."""

    def __init__(self, files: Any) -> None:
        self.files = files
        self.exists: Callable[[str], bool] = lambda path: False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)


def remote(url: str) -> RemoteChannel:
    found = open_storage(url)
    assert isinstance(found, RemoteChannel)
    return found


if __name__ == "__main__":
    sys.exit(main())
