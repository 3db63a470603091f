"""The sample app for React Native: it compiles, bundles for phones and browsers, sees pictures and finds notes."""

import base64
import io
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest
from PIL import Image, ImageChops, ImageStat

from tests.cases.waiting import until
from tests.toolchain import node
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.npm_checks import compile_all
from tests.toolchain.react_native import bare, expo, sample_app
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.sample_notes import FILE, QUERIES, nearest

APP = sample_app.SOURCE
PICTURE = APP / "assets" / "coffee.jpg"
SCREENSHOT = APP / "screenshot.png"
NOTES_SCREENSHOT = APP / "notes.png"
UPDATE = "UPDATE_SCREENSHOTS"
"""Variable that takes the README's screenshot anew."""
WIDTH, HEIGHT = 420, 790
LABELS = "[...document.querySelectorAll('[data-testid=label]')].map((each) => each.textContent)"
SCORES = "[...document.querySelectorAll('[data-testid=score]')].map((each) => parseFloat(each.textContent))"
PROBLEM = "document.querySelector('[data-testid=problem]')?.textContent ?? ''"
STATE = "document.querySelector('[data-testid=state]')?.textContent ?? ''"
SECONDS = 120
UPRIGHT, TO_THE_RIGHT = 1, 6
"""Numbers of Exif."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_app.make(tmp_path_factory.mktemp("sample") / "app")


def test_its_packages_are_those_that_the_tests_have_locked() -> None:
    """The lock has no hash of the generated package: npm takes the present file."""
    wanted = json.loads((APP / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((APP / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    project = node.PROJECTS / "expo"
    tested = json.loads((project / "package.json").read_text(encoding="utf-8"))
    known = json.loads((project / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    ours = {name: wanted["dependencies"].pop(name) for name in sample_app.PACKAGES}
    assert {**wanted["dependencies"], **wanted["devDependencies"]} == tested["dependencies"]
    assert wanted["overrides"] == tested["overrides"]
    for name, address in ours.items():
        entry = locked.pop(f"node_modules/{name}")
        assert entry["resolved"] == address
        assert "integrity" not in entry
    assert without_kinds(locked) == without_kinds(known)


def without_kinds(packages: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The packages that npm installs, without the root and without the kinds of dependency."""
    kinds = ("dev", "devOptional", "peer")
    return {
        place: {key: value for key, value in entry.items() if key not in kinds}
        for place, entry in packages.items()
        if place
    }


def test_its_notes_are_those_of_all_apps() -> None:
    assert (APP / "assets" / "notes.json").read_bytes() == FILE.read_bytes()


def test_its_types_are_right_on_phones_and_in_browsers(app: Path) -> None:
    configs = {"browsers": [".web", ""], "phones": [".native", ""]}
    done = compile_all([sample_app.config(app, name, suffixes) for name, suffixes in configs.items()])
    assert [(each.returncode, each.output) for each in done] == [(0, ""), (0, "")]


@pytest.fixture(scope="module")
def exported(app: Path) -> Path:
    """Expo's output for phones and browsers, from one run of Metro."""
    prepared = node.run([app / "web.mjs"], cwd=app)
    assert (prepared.returncode, prepared.output) == (0, "")
    done = sample_app.run(app, "expo", "export", "--platform", "all", "--no-bytecode", "--no-minify")
    assert done.returncode == 0, done.output
    return app / "dist"


def test_phones_decode_pictures_natively_and_browsers_on_a_canvas(exported: Path) -> None:
    for platform in ("android", "ios", "web"):
        bundles = sorted((exported / "_expo" / "static" / "js" / platform).glob("*.js"))
        text = "".join(bundle.read_text(encoding="utf-8") for bundle in bundles)
        assert ("getImageData" in text, "FilesAndroid" in text) == (platform == "web", platform != "web")
        assert "espresso" in text, "the names of the classes"
        modules = sorted(re.findall(r"\.get\(['\"](?!Native)(\w+Cxx)['\"]\)", text))
        assert modules == ([] if platform == "web" else ["NotesCxx", "VisionModelsCxx"])


def test_prebuild_links_the_packages_and_names_what_phones_ask_for(app: Path) -> None:
    done = expo.prebuild(app)
    assert done.returncode == 0, done.output
    properties = (app / "android" / "gradle.properties").read_text(encoding="utf-8")
    assert "**/libonnxruntime.so" in properties
    info = (app / "ios" / "Vision" / "Info.plist").read_text(encoding="utf-8")
    assert "says what is in the picture" in info
    assert "what is in front of the camera" in info
    assert "NSMicrophoneUsageDescription" not in info
    manifest = (app / "android" / "app" / "src" / "main" / "AndroidManifest.xml").read_text(encoding="utf-8")
    assert "android.permission.CAMERA" in manifest
    for platform in ("android", "ios"):
        linked = expo.linked(app, platform)
        for name in sample_app.PACKAGES:
            assert bare.dependency(linked, name, platform) is not None, (name, platform)


@pytest.fixture(scope="module")
def site(exported: Path) -> dict[str, bytes]:
    """The files of the app, by path."""
    files = [path for path in exported.rglob("*") if path.is_file()]
    return {f"/{path.relative_to(exported).as_posix()}": path.read_bytes() for path in files}


@dataclass(frozen=True)
class Page:
    browser: Browser

    def value(self, expression: str, *, is_gesture: bool = False) -> Any:
        answer = self.browser.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=is_gesture
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def labels(self, but: list[str] | None = None) -> list[str]:
        """The classes on the screen; `but` is the text before."""
        found: list[str] = []

        def are_there() -> bool:
            found[:] = self.value(LABELS) or []
            return bool(found) and found != but

        until(are_there, lambda: f"no classes: {self.value(PROBLEM)!r} {self.browser.events[-5:]}")
        return found

    def until(self, condition: str) -> None:
        until(lambda: self.value(condition), lambda: condition)

    def pick(self, file: Path) -> None:
        """Press the button, and choose `file` where the browser asks for one."""
        self.browser.call("Page.setInterceptFileChooserDialog", enabled=True)
        self.value("document.querySelector('[role=button]').click()", is_gesture=True)
        end = time.monotonic() + SECONDS
        while not (asked := self._asked()):
            assert time.monotonic() < end, "the browser asks for no file"
            self.value("0")
        self.browser.call("DOM.setFileInputFiles", files=[str(file)], backendNodeId=asked)

    def open(self, name: str) -> None:
        """Show a screen of the app."""
        tab = f"[...document.querySelectorAll('[role=tab]')].find((each) => each.innerText === '{name}')"
        self.until(f"{tab} !== undefined")
        self.value(f"{tab}.click()", is_gesture=True)

    def type(self, words: str) -> None:
        """Put words into the field, as a keyboard does at once."""
        self.value("document.querySelector('input').select()")
        self.browser.call("Input.insertText", text=words)

    def _asked(self) -> int:
        for event in self.browser.events:
            if event.get("method") == "Page.fileChooserOpened":
                return int(event["params"]["backendNodeId"])
        return 0

    def screenshot(self) -> bytes:
        return base64.b64decode(self.browser.call("Page.captureScreenshot")["data"])


@pytest.fixture(scope="module")
def page(site: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    home = tmp_path_factory.mktemp("chromium")
    with browser(home, camera=film(home / "film.mjpeg")) as opened, serving() as server:
        server.files.by_path.update(site)
        opened.call("DOM.enable")
        opened.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=True)
        opened.call("Page.navigate", url=f"{server.url}index.html")
        yield Page(opened)


def film(path: Path) -> Path:
    """A film for the browser's camera: the app's own picture, again and again."""
    picture = Image.open(PICTURE)
    side = min(picture.size)
    frame = io.BytesIO()
    picture.crop((0, 0, side, side)).resize((480, 480)).save(frame, "JPEG", quality=95)
    path.write_bytes(frame.getvalue() * 30)
    return path


def computed(app: Path, picture: Path) -> list[float]:
    """The five best scores that Python computes with the package's file, in percent."""
    [model] = (app / "node_modules" / "react-native-vision" / "models").rglob("classifier-unfused.ort.tflite")
    session = onnxruntime.InferenceSession(model.read_bytes())
    pixels = numpy.asarray(Image.open(picture).convert("RGB"))
    inputs = {
        "image.pixels": pixels,
        "image.channels": numpy.array([0, 1, 2]),
        "image.orientation": numpy.array(UPRIGHT),
        "image.chroma": numpy.zeros((1, 1, 1), numpy.uint8),
        "image.conversion": numpy.zeros(3, numpy.int64),
    }
    [scores] = session.run(None, inputs)
    return sorted((100 * score for score in numpy.asarray(scores).ravel().tolist()), reverse=True)[:5]


def test_it_says_in_a_browser_what_is_in_its_picture(page: Page) -> None:
    """The README shows this page."""
    assert page.labels()[0] == "espresso"
    assert page.value(PROBLEM) == ""
    looks_like(page, SCREENSHOT)


def looks_like(page: Page, screenshot: Path) -> None:
    page.value("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
    taken = Image.open(io.BytesIO(shot := page.screenshot())).convert("RGB")
    if os.environ.get(UPDATE):
        taken.quantize(256, dither=Image.Dither.NONE).save(screenshot, optimize=True)
    kept = Image.open(screenshot).convert("RGB")
    assert len(shot) > 10_000
    assert screenshot.stat().st_size < 200_000
    assert kept.size == taken.size
    assert max(ImageStat.Stat(ImageChops.difference(kept, taken)).mean) < 1, f"{UPDATE}=1 takes it anew"


def test_it_computes_in_a_browser_what_python_computes(app: Path, page: Page) -> None:
    page.labels()
    assert page.value(SCORES) == pytest.approx(computed(app, PICTURE), abs=0.5)


def test_a_picture_that_somebody_picks_is_turned_as_its_file_says(page: Page, tmp_path: Path) -> None:
    before = page.labels()
    scores = page.value(SCORES)
    turned = Image.open(PICTURE).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = TO_THE_RIGHT
    turned.save(tmp_path / "turned.jpg", quality=95, exif=exif)
    Image.new("RGB", (300, 200), "grey").save(tmp_path / "grey.png")

    page.pick(tmp_path / "grey.png")
    other = page.labels(but=before)
    assert other[0] != "espresso"
    page.browser.events.clear()
    page.pick(tmp_path / "turned.jpg")

    assert page.labels(but=other)[0] == "espresso"
    assert page.value(SCORES)[0] == pytest.approx(scores[0], abs=2)


def test_it_says_what_the_camera_sees_as_long_as_it_is_on(page: Page) -> None:
    before = page.labels()
    page.value(press("Use the camera"), is_gesture=True)
    page.until("document.querySelector('video') !== null")
    page.until(f"({LABELS})[0] === 'espresso'")  # a camera may begin with a black picture
    assert page.value(PROBLEM) == ""
    page.value(press("Stop the camera"), is_gesture=True)
    page.until("document.querySelector('video') === null")
    assert page.labels() == before


def test_it_finds_the_notes_that_the_original_model_finds(page: Page) -> None:
    """The README shows this page."""
    page.open("Notes")
    page.until(f"({STATE}) === '40 notes on this device, 40 of them new'")
    for query in reversed(QUERIES):
        wanted = nearest(query)
        for end in (3, 12, None):  # the searches for what is typed first are ended
            page.type(query[:end])
        titles = json.dumps([title for title, _ in wanted])
        page.until(f"JSON.stringify({LABELS}) === JSON.stringify({titles})")
        assert page.value(SCORES) == pytest.approx([cosine for _, cosine in wanted], abs=0.0051)
    assert page.value(PROBLEM) == ""
    looks_like(page, NOTES_SCREENSHOT)


def test_vectors_of_notes_are_made_once(page: Page) -> None:
    """Another visit, and one where the file is damaged."""
    for damage, new in (("", 0), ("for (const key of Object.keys(localStorage)) localStorage[key] = '{'", 40)):
        page.value(damage or "0")
        page.value("document.body.replaceChildren()")
        page.browser.call("Page.reload")
        page.open("Notes")
        page.until(f"({STATE}) === '40 notes on this device, {new} of them new'")
        page.type(QUERIES[0])
        page.until(f"{LABELS}[0] === {json.dumps(nearest(QUERIES[0])[0][0])}")
    page.type(" ")
    page.until(f"{LABELS}.length === 0")


def press(words: str) -> str:
    """Presses the button with these words."""
    return f"[...document.querySelectorAll('[role=button]')].find((each) => each.innerText === '{words}').click()"
