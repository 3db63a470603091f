"""The sample app for the web takes a newer model from a channel beside it, and opens it on the next visit."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from packager.channel import publishing
from packager.channel.log import Signing
from packager.channel.publishing import Terms
from packager.channel.storage import Folder
from packager.workflows import signing
from tests import delivery_releases
from tests.channel_cases import place_of
from tests.delivery_server import Forever
from tests.toolchain import vision
from tests.toolchain.chromium import browser
from tests.toolchain.react_native.download.server import Handler
from tests.toolchain.sample_package import NOTES
from tests.toolchain.web.page import Page, files_of, page_of

pytestmark = [pytest.mark.by_content("sample_apps"), pytest.mark.react_native, pytest.mark.browser]

ROOT = Path(__file__).parents[1]
APP = Path("sample_apps", "web")
OURS, NEWER = "1.0.0", "1.1.0"
SECONDS = 60
CHANNEL = "?channel=/channel/"
STATE = "(document.getElementById('state')?.textContent ?? '')"


def run(command: list[str | Path], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app with its first release, and a channel with both below `channel/`."""
    root = tmp_path_factory.mktemp("sample")
    models = root / vision.FOLDER
    shutil.copytree(vision.root() / vision.FOLDER / "build" / "models", models / "build" / "models")
    for name in ("mobpack.toml", "coffee.jpg"):
        shutil.copy(ROOT / vision.FOLDER / name, models)
    shutil.copytree(ROOT / APP, root / APP, ignore=shutil.ignore_patterns("site"))
    key = delivery_releases.key(models)
    project = models / "mobpack.toml"
    text = project.read_text(encoding="utf-8")
    signer = signing.signer(str(key.private), None)
    place = place_of(Folder(root=root / "channel"), key)
    shutil.copytree(NOTES.dist(), root / NOTES.folder / "dist")
    shutil.copy(ROOT / NOTES.folder / "notes.json", root / NOTES.folder)
    for version, mean in ((OURS, "127.0"), (NEWER, "126.5")):
        options = f'version = "{version}"\ntrust = "release.pub"\nchannel = "stable"'
        changed = text.replace(f'version = "{OURS}"', options).replace("mean = [127.0]", f"mean = [{mean}]")
        project.write_text(changed, encoding="utf-8", newline="\n")
        run([sys.executable, "-m", "packager.cli", "build", "--target", "web"], models)
        run([sys.executable, "-m", "packager.cli", "sign", "dist", "--key", key.private], models)
        publishing.publish(place, models / "dist", Terms(), Signing(signer=signer, now=datetime.now(UTC), days=90))
        if version == OURS:
            run(["sh", APP / "make"], root)
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
    end = time.monotonic() + SECONDS
    while wanted not in page.value(STATE):
        assert time.monotonic() < end, f"{page.value(STATE)} {page.warnings()}"
        time.sleep(0.05)
    return page.asked()


def test_the_next_visit_has_the_newer_model(page: Page) -> None:
    asked = visited(page, "", "on this device")
    assert not any(path.startswith("/channel/") for path in asked), "without an address there is no channel"
    asked = visited(page, CHANNEL, f"model {OURS}: the next visit has a newer one")
    assert "/channel/stable/channel.json" in asked
    visited(page, CHANNEL, f"model {NEWER}")
    end = time.monotonic() + SECONDS
    while page.value("document.querySelector('#classes span:first-child')?.textContent") != "espresso":
        assert time.monotonic() < end, page.warnings()
        time.sleep(0.05)
