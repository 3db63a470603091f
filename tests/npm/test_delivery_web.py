"""The web: whatever servers and publishers do, and whenever the browser ends, the page opens a verified model."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.cases.delivery_language import Language, impatient, serving_pages, trickles, trickling, visits
from tests.cases.delivery_releases import BUNDLED, FIRST, MODEL, SECOND, sum_of
from tests.cases.delivery_scenarios import VISITS
from tests.cases.delivery_stage import Visit
from tests.delivery_drivers.web import ANY_SITE, Driver, bundled_package, driver
from tests.nights import at_night
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.react_native.download.server import Fault

VISITS_OF_PAGES = [each for each in VISITS if each.on_pages and not each.needs_folder]
MOST = 40
"""writes of the state, at most"""
MOST_S = 1800.0
"""seconds of the browser for all visits"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundled_package(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def language(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    with serving_pages("web", tmp_path_factory.mktemp("web")) as channel:
        yield Language(channel=channel, start=lambda place: driver(package, channel.url, place), follows=True)


@pytest.fixture(scope="module")
def hasty(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with less patience."""
    folder, changed = tmp_path_factory.mktemp("hasty") / "package", 0
    shutil.copytree(package, folder)
    for path in (folder / "lib").rglob("*.js"):
        text, count = impatient(path.read_text(encoding="utf-8"))
        changed += count
        if count:
            path.unlink()
            path.write_text(text, encoding="utf-8", newline="\n")
    assert changed >= 2
    return folder


@pytest.fixture(scope="module")
def one_browser(
    language: Language, package: Path, hasty: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Language]:
    """The same in one browser, with a site for each device: starting a browser takes longer than most visits."""
    url = language.channel.url
    with browser(tmp_path_factory.mktemp("browser"), more=ANY_SITE, seconds=MOST_S) as opened:

        def start(place: Path, made: Path = package) -> AbstractContextManager[Driver]:
            return driver(made, url, place, shared=opened)

        yield replace(language, start=start, impatient=partial(start, made=hasty))


@visits(VISITS_OF_PAGES)
def test_a_verified_model_is_opened_after(one_browser: Language, visit: Visit, tmp_path: Path) -> None:
    one_browser.play(visit, tmp_path)


@trickling("a document", "headers of a file")
def test_a_server_that_sends_a_byte_now_and_then_holds_no_update(
    one_browser: Language, fault: Fault, is_document: bool, tmp_path: Path
) -> None:
    trickles(one_browser, tmp_path, fault, is_document=is_document)


@pytest.mark.parametrize(
    ("version", "when", "step"),
    [
        pytest.param(FIRST, "die-after", 3, id="some"),
        *at_night(*((version, when, 1) for version in (FIRST, BUNDLED) for when in ("die", "die-after"))),
    ],
)
def test_a_verified_model_is_opened_after_the_browser_has_ended(
    language: Language, package: Path, version: str, when: str, step: int, tmp_path: Path
) -> None:
    """Before, or after, durable writes of the state that an update and the load after it make. Each write is one on
    another device, a site of its own: the browser that goes on with one device begins with the next."""
    profile = tmp_path / "profile"
    profile.mkdir()
    died = True
    for at in range(1, MOST, step):
        with browser(profile, more=ANY_SITE, seconds=MOST_S) as opened:
            shared = replace(language, start=partial(on_a_site, package, language.channel.url, opened))
            if at > 1:
                goes_on(shared, version, tmp_path / str(at - step))
            if not died:
                break
            died = ends(shared, version, f"{when} {at}", tmp_path / str(at))
    assert 4 < at < MOST - step


def on_a_site(package: Path, url: str, opened: Browser, place: Path) -> AbstractContextManager[Driver]:
    return driver(package, url, place, shared=opened)


def ends(language: Language, version: str, command: str, place: Path) -> bool:
    """Whether the browser ended on a command for a device that has `version` and is offered another one."""
    language.channel.reset()
    with language.start(place) as page:
        if version == FIRST:
            assert page.ask("update force")["states"][MODEL]["phase"] == "ready"
        language.channel.show(3)
        page.ask(command)
        return page.send("update force") is None or page.send("load") is None


def goes_on(language: Language, version: str, place: Path) -> None:
    """A device opens the version that it has, or the newest, and has the newest after an update."""
    with language.start(place) as page:
        found = page.ask("load")
        assert found.get("version") in (version, SECOND), f"{place.name}: {found}"
        assert found["sum"] == pytest.approx(sum_of(found["version"]), abs=0.05), found
        state = page.ask("update force")["states"][MODEL]
        phase, now = state["phase"] in ("ready", "up-to-date"), state["version"]
        assert (phase, now) == (True, SECOND), f"{place.name}: {state}"
        assert page.ask("load")["version"] == SECOND
