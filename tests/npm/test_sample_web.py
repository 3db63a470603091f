"""The sample app for the web, and the page of docs/web.md: pictures, what a camera sees, and a search of notes."""

import base64
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from tests.cases import waiting
from tests.toolchain import command, vision
from tests.toolchain.chromium import browser
from tests.toolchain.sample_notes import QUERIES, nearest, notes
from tests.toolchain.sample_package import NOTES
from tests.toolchain.web.page import Page, page_of
from tests.toolchain.web.site import files_of

ROOT = Path(__file__).parents[2]
APP = Path("sample_apps", "web")
SCREENSHOT = ROOT / APP / "screenshot.png"
NOTES_SCREENSHOT = ROOT / APP / "notes.png"
UPDATE = "UPDATE_SCREENSHOTS"
"""Variable that takes the README's screenshot anew."""
WIDTH, HEIGHT = 420, 720
LABELS = "[...document.querySelectorAll('#classes span:first-child')].map((each) => each.textContent)"
QUERY = QUERIES[0]
TITLES = "[...document.querySelectorAll('h2 span:first-child')].map((each) => each.textContent)"
SHARES = "[...document.querySelectorAll('h2 span:last-child')].map((each) => Number(each.textContent))"
TYPE = """
for (const end of [4, 20, undefined]) {{
  document.getElementById('query').value = {words}.slice(0, end);
  document.getElementById('query').dispatchEvent(new Event('input'));
}}
"""
STATE = "(document.getElementById('state')?.textContent ?? '')"
SECONDS = 120
CHOOSE = """
(async () => {{
  const bytes = Uint8Array.from(atob('{picture}'), (each) => each.charCodeAt(0));
  const chosen = new DataTransfer();
  chosen.items.add(new File([bytes], 'picture', {{ type: 'image/png' }}));
  const input = document.querySelector('input');
  while (input.onchange === null) await new Promise((resolve) => setTimeout(resolve, 20));
  input.files = chosen.files;
  input.dispatchEvent(new Event('change'));
}})()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the repository's after the commands of the README."""
    root = tmp_path_factory.mktemp("sample")
    models = root / vision.FOLDER
    shutil.copytree(vision.root() / vision.FOLDER / "build" / "models", models / "build" / "models")
    for name in ("mobpack.toml", "coffee.jpg"):
        shutil.copy(ROOT / vision.FOLDER / name, models)
    shutil.copytree(ROOT / APP, root / APP, ignore=shutil.ignore_patterns("site"))
    built = command.run("build", "--target", "web", folder=models)
    assert built.returncode == 0, built.stderr
    shutil.copytree(NOTES.dist(), root / NOTES.folder / "dist")
    shutil.copy(ROOT / NOTES.folder / "notes.json", root / NOTES.folder)
    run(["sh", str(APP / "make")], root)
    return root / APP / "site"


def run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def page(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    home = tmp_path_factory.mktemp("chromium")
    files = files_of(made, "/")
    with (
        browser(home, camera=film(home / "film.mjpeg"), seconds=4 * SECONDS) as opened,
        page_of(opened, files) as found,
    ):
        opened.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=True)
        found.server.files.by_path["/guide.html"] = guide().encode()
        yield found


def guide() -> str:
    """The page of docs/web.md."""
    [text] = re.findall(r"```html\n(.*?)```", (ROOT / "docs" / "web.md").read_text(encoding="utf-8"), re.DOTALL)
    return str(text).replace("<!doctype html>", "<!doctype html><link rel=icon href=data:,>")


def film(path: Path) -> Path:
    """A film for the browser's camera: the app's own picture, again and again."""
    frame = io.BytesIO()
    Image.open(ROOT / vision.FOLDER / "coffee.jpg").crop((0, 0, 400, 400)).resize((480, 480)).save(frame, "JPEG")
    path.write_bytes(frame.getvalue() * 30)
    return path


def opened(page: Page, name: str) -> None:
    page.browser.events.clear()
    page.browser.call("Page.navigate", url=f"{page.server.url}{name}")


def until(page: Page, expression: str, wanted: str) -> None:
    waiting.until(
        lambda: page.value(f"({expression}) === {wanted}"),
        lambda: f"{expression} is {page.value(expression)!r}: {page.value(STATE)} {page.warnings()}",
    )


def test_it_says_what_is_in_its_picture(page: Page) -> None:
    """The README shows this page."""
    opened(page, "index.html")
    until(page, f"{LABELS}[0]", "'espresso'")
    assert page.value(STATE).startswith("ONNX Runtime 1.30")
    assert page.warnings() == []

    looks_like(page, SCREENSHOT)


def looks_like(page: Page, screenshot: Path) -> None:
    taken = Image.open(io.BytesIO(base64.b64decode(page.browser.call("Page.captureScreenshot")["data"]))).convert("RGB")
    if os.environ.get(UPDATE):
        taken.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(screenshot, optimize=True)
    kept = Image.open(screenshot).convert("RGB")
    assert screenshot.stat().st_size < 200_000
    assert kept.size == taken.size
    assert max(ImageStat.Stat(ImageChops.difference(kept, taken)).mean) < 1, f"{UPDATE}=1 takes it anew"


def test_it_says_what_is_in_a_file_and_before_the_camera(page: Page) -> None:
    opened(page, "index.html")
    until(page, f"{LABELS}[0]", "'espresso'")
    page.value(CHOOSE.format(picture=grey()))
    until(page, f"{LABELS}[0] !== 'espresso'", "true")
    page.value("document.getElementById('camera').click()")
    until(page, f"{LABELS}[0]", "'espresso'")
    page.value("document.getElementById('camera').click()")
    until(page, "document.getElementById('camera').textContent", "'Camera'")
    assert page.warnings() == []


def grey() -> str:
    picture = io.BytesIO()
    Image.new("RGB", (300, 200), "grey").save(picture, "PNG")
    return base64.b64encode(picture.getvalue()).decode()


def test_it_says_what_is_wrong(page: Page) -> None:
    opened(page, "index.html")
    until(page, f"{LABELS}[0]", "'espresso'")
    page.value(CHOOSE.format(picture=base64.b64encode(b"no picture").decode()))
    until(page, f"{STATE}.startsWith('bad-input: no picture that this browser can draw')", "true")


def test_the_page_of_the_guide_classifies_a_picture(page: Page) -> None:
    opened(page, "guide.html")
    until(page, "document.readyState", "'complete'")
    picture = base64.b64encode((ROOT / vision.FOLDER / "coffee.jpg").read_bytes()).decode()
    page.value(CHOOSE.format(picture=picture))
    until(page, "document.querySelector('pre').textContent !== ''", "true")
    assert re.fullmatch(r"espresso 9\d\.\d %", page.value("document.querySelector('pre').textContent"))
    assert page.warnings() == []


def test_it_finds_the_notes_that_are_nearest_in_meaning_without_asking_anybody(page: Page) -> None:
    """The README shows this page. The order and the cosines are those of the original model in Python."""
    opened(page, "notes.html")
    until(page, STATE, "'40 notes on this device, 40 of them new'")
    asked = page.asked()
    page.value(TYPE.format(words=json.dumps(QUERY)))
    wanted = nearest(QUERY)
    until(page, f"JSON.stringify({TITLES})", f"JSON.stringify({json.dumps([title for title, _ in wanted])})")
    assert page.value(SHARES) == pytest.approx([cosine for _, cosine in wanted], abs=0.0051)
    assert page.asked() == asked
    assert page.warnings() == []
    looks_like(page, NOTES_SCREENSHOT)


def test_it_keeps_the_vectors_of_notes_for_the_next_visit(page: Page) -> None:
    page.server.files.by_path["/notes.json"] = json.dumps([*notes(), {"title": "New", "text": "One more."}]).encode()
    opened(page, "notes.html")
    until(page, STATE, "'41 notes on this device, 1 of them new'")
    page.value(TYPE.format(words=json.dumps(QUERY)))
    until(page, f"{TITLES}[0]", json.dumps(nearest(QUERY)[0][0]))
    page.value(TYPE.format(words="''"))
    until(page, f"{TITLES}.length", "0")
