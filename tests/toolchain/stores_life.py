"""The life of a channel in a store, as a program: `python -m tests.toolchain.stores_life URL`.

It publishes, publishes again, is interrupted at every write and continues, publishes twice at once, promotes, goes
back, prunes and verifies. The last line of its output is JSON: the facts in which stores differ.
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
from packager.distribution.channel import checking, log, pruning, publishing
from packager.distribution.channel.document import blobs
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.storage import ExistsError, RemoteChannel, open_storage
from tests.cases.channel_cases import NOW, KilledError, Release, Watched, make_release, place_of, signing_of
from tests.cases.signing_cases import Key, make_key

ONE, TWO = Release(weights=b"1" * 5000), Release(version="1.1.0", weights=b"1" * 5000 + b"2")
THREE, FOUR = Release(version="1.2.0", weights=b"third"), Release(version="1.3.0", weights=b"fourth")
WAIT_S = 600


class Together:
    """A file system in which two publishers write a document at the same moment: both have seen that it is not
    there."""

    def __init__(self, files: Any, barrier: threading.Barrier) -> None:
        self.files, self.barrier = files, barrier

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def exists(self, path: str) -> bool:
        found = bool(self.files.exists(path))
        if "documents" in path:
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

    def publish(self, storage: Any, release: Release, channel: str = "stable") -> publishing.Published:
        if release not in self.releases:
            self.releases[release] = make_release(self.folder / str(len(self.releases)), release)
        place = place_of(storage, self.key, channel=channel)
        return publishing.publish(place, self.releases[release], Terms(), signing_of(self.key))

    def verified(self, channel: str = "stable") -> checking.CheckedChannel:
        return checking.verify(place_of(self.storage, self.key, channel=channel), NOW)

    def published(self) -> int:
        """Number of blobs, one of them a delta, that `opened` reads, too."""
        assert self.publish(self.storage, ONE).is_new
        assert not self.publish(self.storage, ONE).is_new
        self.publish(self.storage, TWO)
        found = self.verified()
        assert found.document.number == found.documents == 2
        delta = found.document.models[0].releases[0].files[1].file.deltas[0]
        with self.storage.opened(log.blob_name(delta.sha256)) as file:
            assert len(file.read()) == delta.size_bytes
        assert self.storage.read("stable/nothing", limit_bytes=10) is None
        return found.blobs

    def interrupted(self) -> int:
        """Number of writes, at each of which a publisher was killed and the next one continued."""
        for number, at in enumerate((at, is_late) for at in range(1, 5) for is_late in (False, True)):
            channel, release = f"killed-{number}", replace(ONE, weights=f"killed {number}".encode())
            fails_at, is_late = at
            try:
                self.publish(Watched(inner=self.storage, fails_at=fails_at, is_late=is_late), release, channel)
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
        found = self.storage.listed("blobs")
        assert [each.name for each in found] == sorted(each.name for each in found)
        assert all(each.name.startswith("blobs/sha256/") and each.size_bytes > 0 for each in found), found
        return all(each.changed_s is not None and abs(each.changed_s - NOW.timestamp()) < 3600 for each in found)

    def changed(self) -> None:
        """Promotes, goes back, and signs anew."""
        place, signing = place_of(self.storage, self.key), signing_of(self.key)
        first = self.verified().document.number
        assert publishing.promote(place, signing, percent=50).document.models[0].releases[0].rollout.percent == 50
        assert publishing.rollback(place, signing).document.number == first + 2
        publishing.renew(place, signing)
        assert self.verified().documents == first + 3

    def pruned(self) -> None:
        """Prunes everything but the newest document of each channel, and what these name."""
        names = pruning.channels(self.storage)
        places = [place_of(self.storage, self.key, channel=name) for name in names]
        pruning.prune(places, documents=1, grace_s=-3600, now=NOW)
        left = {each.name.rpartition("/")[2] for each in self.storage.listed("blobs")}
        assert left == set(blobs([self.verified(name).document for name in names]))
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
