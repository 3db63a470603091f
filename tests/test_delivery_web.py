"""The web: whatever servers and publishers do, and whenever the browser ends, the page opens a verified model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import delivery_releases
from tests.delivery_drivers.web import driver
from tests.delivery_releases import BUNDLED
from tests.delivery_tales import Tale
from tests.delivery_telling import Language, serving, told

pytestmark = [pytest.mark.by_content, pytest.mark.react_native, pytest.mark.browser]


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    [package] = (delivery_releases.releases("web")[BUNDLED] / "npm").glob("*.tgz")
    with serving("web", tmp_path_factory.mktemp("web")) as (channel, _):
        yield Language(channel=channel, start=lambda place: driver(package, channel.url, place), follows=True)


@told(has_folder=False)
def test_a_verified_model_is_opened_after(language: Language, tale: Tale, tmp_path: Path) -> None:
    language.tell(tale, tmp_path)
