"""python-tuf's client, which the attacks on channels are judged by: it says what our clients must say."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tuf.api.exceptions import DownloadError, ExpiredMetadataError, RepositoryError
from tuf.ngclient import Updater, UpdaterConfig
from urllib3.exceptions import HTTPError

from tests.cases.delivery_releases import BUNDLED, CHANNEL, FIRST, MODEL, VERSIONS, Published
from tests.cases.delivery_server import PACKAGE, RELEASES, Channel, channel
from tests.cases.delivery_stage import EXPIRED, FAILS, LOADS, SAME, Device, Stage, Visit
from tests.cases.tuf_attacks import ATTACKS, OTHERS
from tests.cases.tuf_repository import root_text

BEYOND = (
    "one key under two names",
    "releases that are no releases",
    "a time that is far ahead",
    "a clock that is far behind",
    "a release of revoked keys",
)
"""visits of which TUF says nothing: python-tuf counts names of keys, opens no targets, and believes the clock"""
CONFIG = UpdaterConfig(max_root_rotations=64)


class _Client:
    """An app whose models are the releases that python-tuf's client gives it."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder
        self.version = BUNDLED
        self.targets = folder / "targets"
        self.targets.mkdir(parents=True)

    def ask(self, command: str) -> Mapping[str, Any]:
        return {"states": {MODEL: self._update()}} if command == "update force" else {}

    def send(self, command: str) -> Mapping[str, Any]:
        return self.ask(command)

    def kill(self) -> None:
        """It does nothing between two updates."""

    def _update(self) -> Mapping[str, str]:
        reason = ""
        try:
            client = Updater(
                metadata_dir=str(self.folder / "metadata"),
                metadata_base_url=f"{self.address}{CHANNEL}/",
                target_dir=str(self.targets),
                target_base_url=f"{self.address}targets/",
                config=CONFIG,
                bootstrap=root_text(PACKAGE, CHANNEL).encode(),
            )
            found = client.get_targetinfo(RELEASES)
            text = Path(client.download_target(found)).read_bytes() if found else None
            phase = self._take(text)
        except ExpiredMetadataError as error:
            phase, reason = EXPIRED, str(error)
        except (DownloadError, RepositoryError, HTTPError) as error:
            phase, reason = FAILS, str(error) or type(error).__name__
        return {"phase": phase, "version": self.version, "reason": reason}

    def _take(self, text: bytes | None) -> str:
        version = str(json.loads(text)["releases"][0]["version"]) if text else self.version
        is_same, self.version = version == self.version, version
        return SAME if is_same else LOADS


class _Judged(Stage):
    """A visit of python-tuf's client, which opens no model."""

    def load(self, version: str) -> None:
        assert isinstance(self.app, _Client)
        assert self.app.version == version
        self.version = version

    def begin_anew(self) -> None:
        raise AssertionError("a visit whose releases come must be the only one")


def _document(number: int) -> dict[str, Any]:
    """A document of the channel with the releases until then."""
    versions = VERSIONS[number - 1 :: -1] if number else ()
    releases = [{"version": each, "files": []} for each in versions]
    return {
        "schema-version": 1,
        "package": PACKAGE,
        "channel": CHANNEL,
        "number": number,
        "published": "2026-01-01T00:00:00Z",
        "expires": "2099-01-01T00:00:00Z",
        "models": [{"name": MODEL, "releases": releases}],
    }


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Channel]:
    documents = tuple(map(_document, range(1, len(VERSIONS) + 1)))
    with channel(Published(folder=tmp_path_factory.mktemp("channel"), documents=documents), None) as found:
        yield found


@pytest.mark.parametrize("visit", [each for each in ATTACKS if each.name not in BEYOND], ids=lambda each: each.name)
def test_python_tuf_says_the_same(served: Channel, visit: Visit, tmp_path: Path) -> None:
    for number, scenario in enumerate(each for each in visit.scenarios if not each.name.endswith(OTHERS)):
        client = _Client(served.url, tmp_path / str(number))

        @contextmanager
        def start(client: _Client = client) -> Iterator[_Client]:
            yield client

        served.restart()
        stage = _Judged(channel=served, device=Device(start=start))
        stage.start()
        stage.update(LOADS, FIRST)
        try:
            scenario.happens(stage)
        except AssertionError as error:
            raise AssertionError(f"{scenario.name}: {error}") from error
