"""The sample app for the web takes a newer model from a channel beside it, and opens it on the next visit."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.delivery_server import Forever
from tests.cases.waiting import until
from tests.toolchain import sample_releases
from tests.toolchain.chromium import browser
from tests.toolchain.react_native.download.server import Handler
from tests.toolchain.sample_package import NOTES
from tests.toolchain.sample_releases import NEWER, OURS
from tests.toolchain.web.page import Page, page_of
from tests.toolchain.web.site import files_of

ROOT = Path(__file__).parents[2]
APP = Path("sample_apps", "web")
SECONDS = 120
CHANNEL = "?channel=/channel/"
STATE = "(document.getElementById('state')?.textContent ?? '')"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app with its first release, and a channel with both below `channel/`."""
    root = tmp_path_factory.mktemp("sample")
    sample_releases.publish(root, "web")
    shutil.copytree(ROOT / APP, root / APP, ignore=shutil.ignore_patterns("site"))
    shutil.copytree(NOTES.dist(), root / NOTES.folder / "dist")
    shutil.copy(ROOT / NOTES.folder / "notes.json", root / NOTES.folder)
    sample_releases.run(["sh", APP / "make"], root)
    shutil.copytree(root / "channel", root / APP / "site" / "channel")
    return root / APP / "site"


@pytest.fixture(scope="module")
def page(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    home = tmp_path_factory.mktemp("chromium")
    with browser(home, seconds=4.0 * SECONDS) as opened, page_of(opened, files_of(site, "/")) as found:
        found.server.files.faults_by_path[f"/index.html{CHANNEL}"] = Forever([with_query])
        yield found


def with_query(handler: Handler) -> None:
    """Answers with the page, whatever is behind its name."""
    content = handler.files.by_path["/index.html"]
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def visited(page: Page, query: str, wanted: str) -> list[str]:
    """Paths that the page has asked for until its state says what is `wanted`."""
    page.server.files.requests.clear()
    page.browser.call("Page.navigate", url="about:blank")
    page.browser.call("Page.navigate", url=f"{page.server.url}index.html{query}")
    until(lambda: wanted in page.value(STATE), lambda: f"{page.value(STATE)} {page.warnings()}")
    return page.asked()


def test_the_next_visit_has_the_newer_model(page: Page) -> None:
    asked = visited(page, "", "on this device")
    assert not any(path.startswith("/channel/") for path in asked), "without an address there is no channel"
    asked = visited(page, CHANNEL, f"model {OURS}: the next visit has a newer one")
    assert "/channel/stable/timestamp.json" in asked
    visited(page, CHANNEL, f"model {NEWER}")
    first = "document.querySelector('#classes span:first-child')?.textContent"
    until(lambda: page.value(first) == "espresso", page.warnings)
