"""Releases of three versions, a key and channels in every kind of storage, as fixtures."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from packager.distribution.channel import publishing
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.storage import ChannelFolder, ChannelStorage, RemoteChannel, open_storage
from tests.cases.channel_cases import Release, make_release, place_of, signing_of
from tests.cases.signing_cases import Key, make_key

ONE, TWO = Release(), Release(version="1.1.0", weights=b"other weights")

THREE = Release(version="1.2.0", weights=b"third weights")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Key:
    return make_key(tmp_path_factory.mktemp("key"))


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Release], Path]:
    root, made = tmp_path_factory.mktemp("releases"), dict[Release, Path]()

    def make(release: Release) -> Path:
        if release not in made:
            made[release] = make_release(root / str(len(made)), release)
        return made[release]

    return make


@pytest.fixture
def folder(tmp_path: Path) -> ChannelFolder:
    return ChannelFolder(root=tmp_path / "channel")


@pytest.fixture(params=["folder", "file://", "memory://"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> ChannelStorage:
    if request.param == "folder":
        return open_storage(str(tmp_path / "channel"))
    if request.param == "memory://":
        return open_storage(f"memory://{uuid4().hex}/channel")
    import fsspec

    url = f"file://{tmp_path}/channel"  # as any other store of fsspec
    files, root = fsspec.core.url_to_fs(url)
    return RemoteChannel(files=files, root=root, url=url)


@pytest.fixture
def publish(key: Key, dist: Callable[[Release], Path]) -> Callable[..., publishing.Published]:
    def run(
        storage: ChannelStorage, release: Release, terms: Terms | None = None, **options: object
    ) -> publishing.Published:
        place = place_of(storage, key, channel=str(options.pop("channel", "stable")))
        signing = options.pop("signing", signing_of())
        return publishing.publish(place, dist(release), terms or Terms(), signing, **options)  # type: ignore[arg-type]

    return run


Publish = Callable[..., publishing.Published]
