"""The web: whatever servers and publishers do, and whenever the browser ends, the page opens a verified model."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests import delivery_releases
from tests.delivery_drivers.web import ANY_SITE, driver
from tests.delivery_releases import BUNDLED, FIRST, MODEL, SECOND, sum_of
from tests.delivery_tales import TALES, Tale
from tests.delivery_telling import Language, serving_pages
from tests.toolchain.chromium import browser
from tests.toolchain.delivery_packages import RELEASES
from tests.toolchain.react_native.packages import unpack

pytestmark = [pytest.mark.by_content(of=[RELEASES["web"]]), pytest.mark.react_native, pytest.mark.browser]

AT_NIGHT = pytest.mark.nightly("the same TypeScript reads documents for React Native's program")
READING = ("rollback", "reused number", "a stolen key", "hostile text", "paths", "wrong software")
"""attacks that code tells which has nothing of the platform in it"""
TOLD = [
    pytest.param(each, marks=AT_NIGHT if each.attack in READING else ())
    for each in TALES
    if not each.needs_folder and not each.needs_https
]
MOST = 40
"""writes of the state, at most"""
MOST_S = 1800.0
"""seconds of the browser for all tales"""
FROM = (pytest.param(FIRST, id="from the release before"), pytest.param(BUNDLED, id="new", marks=pytest.mark.nightly))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, unpacked."""
    [archive] = (delivery_releases.releases("web")[BUNDLED] / "npm").glob("*.tgz")
    folder = tmp_path_factory.mktemp("package")
    unpack(archive, folder)
    return folder / "package"


@pytest.fixture(scope="module")
def language(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    with serving_pages("web", tmp_path_factory.mktemp("web")) as channel:
        yield Language(channel=channel, start=lambda place: driver(package, channel.url, place), follows=True)


@pytest.fixture(scope="module")
def one_browser(language: Language, package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    """The same in one browser, with a site for each device: starting a browser takes longer than most tales."""
    url = language.channel.url
    with browser(tmp_path_factory.mktemp("browser"), more=ANY_SITE, seconds=MOST_S) as opened:
        yield replace(language, start=lambda place: driver(package, url, place, shared=opened))


@pytest.mark.parametrize("tale", TOLD, ids=lambda each: each.name)
def test_a_verified_model_is_opened_after(one_browser: Language, tale: Tale, tmp_path: Path) -> None:
    one_browser.tell(tale, tmp_path)


AT_NIGHT = pytest.mark.nightly("the browser ended after each write: the same is on the disk before the next one")


@pytest.mark.parametrize("when", [pytest.param("die", marks=AT_NIGHT), "die-after"])
@pytest.mark.parametrize("version", FROM)
def test_a_verified_model_is_opened_after_the_browser_has_ended(
    language: Language, version: str, when: str, tmp_path: Path
) -> None:
    """Before, or after, each durable write of the state that an update and the load after it make."""
    channel = language.channel
    for at in range(1, MOST):
        channel.reset()
        place = tmp_path / str(at)
        with language.start(place) as page:
            if version == FIRST:
                assert page.ask("update force")["states"][MODEL]["phase"] == "ready"
            channel.show(3)
            page.ask(f"{when} {at}")
            died = page.send("update force") is None or page.send("load") is None
        with language.start(place) as page:
            found = page.ask("load")
            assert found.get("version") in (version, SECOND), f"{at}: {found}"
            assert found["sum"] == pytest.approx(sum_of(found["version"]), abs=0.05), found
            state = page.ask("update force")["states"][MODEL]
            assert (state["phase"] in ("ready", "up-to-date"), state["version"]) == (True, SECOND), f"{at}: {state}"
            assert page.ask("load")["version"] == SECOND
        if not died:
            print(f"{at - 1} writes")
            break
    assert 3 < at < MOST - 1
