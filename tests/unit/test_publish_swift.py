"""Publishing Swift packages: to a registry, which is a double that answers as SE-0292 and SE-0391 say, and as tags of a
git repository, from which the real Swift package manager takes them."""

from pathlib import Path

import pytest

from packager.core.errors import ConfigError
from packager.distribution.publishing import publish, registries
from tests.cases.publish_swift import SCOPE, SwiftDouble, published
from tests.cases.registries import Server, Waits, release


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["swift-registry.scope="], "a package in a Swift registry needs a scope"),
        ([SCOPE, "swift-registry.key=a.pem"], "a signature needs a certificate and its key"),
        ([SCOPE, "swift-registry.key=a.pem", "swift-registry.certificate=b.pem"], r"b\.pem is not a file"),
        ([SCOPE, "swift-registry.package=visoin"], "the release has no Swift package 'visoin'"),
    ],
)
def test_what_cannot_be_published_is_refused_by_the_plan(tmp_path: Path, settings: list[str], message: str) -> None:
    dist = release(tmp_path / "dist")
    with pytest.raises(ConfigError, match=message):
        publish(dist, registries(["swift-registry=https://swift.example"], settings), Waits().session, is_dry=True)


def test_versions_have_three_parts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"version 1\.0 of vision: Swift packages need three parts"):
        published(release(tmp_path / "dist", version="1.0"), SwiftDouble(Server(address="https://swift.example")))
