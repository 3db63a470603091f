"""Updates of a page's models: a verified model is opened whatever happens, and the newest that this device may have."""

import base64
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from packager.channel import document
from packager.channel.document import Conditions, Rollout
from tests.delivery_drivers.web import driver
from tests.toolchain import updated_web
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.react_native.download.server import Handler, cut, serving, slow, status
from tests.toolchain.updated_web import NOW, POINTER, Blobs, Site, channel, digest, ort_file, path_of, release, samples
from tests.trust_vectors import NEXT, STRANGER

pytestmark = [pytest.mark.by_content, pytest.mark.react_native, pytest.mark.browser]

OWN, SECOND, THIRD = "1.2.3", "1.2.4", "1.2.5"
VECTORS = Path(__file__).parent / "data" / "deltas" / "vectors.json"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    updated_web.write(folder)
    return folder


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=200.0) as opened:
        yield opened


@pytest.fixture
def site(open_browser: Browser, package: Path) -> Iterator[Site]:
    with updated_web.site(open_browser, package) as made:
        yield made


def test_a_new_release_is_downloaded_tried_and_opened_and_taken_back(site: Site) -> None:
    assert site.load() == (OWN, "bundled")
    site.publish(channel(1, release(2, site.blobs, golden=samples(2))))
    assert site.update() == ("ready", SECOND, "")
    assert site.load() == (SECOND, "updater")
    assert site.update() == ("up-to-date", SECOND, "")

    site.visit()
    assert site.load() == (SECOND, "updater"), "the next visit opens it, too"
    assert site.blobs_asked() == []

    site.publish(channel(2, release(1, site.blobs), restores=1))
    assert site.update() == ("up-to-date", OWN, "")
    assert site.load() == (OWN, "bundled")
