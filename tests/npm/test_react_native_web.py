"""The hook of npm packages in a real browser: an app's components, on react-native-web and onnxruntime-web."""

import base64
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.toolchain import models, node
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.react_native import packages
from tests.toolchain.react_native.download.server import Address, serving
from tests.toolchain.react_native.packages import Built

FILES = Path(__file__).parents[1] / "toolchain" / "react_native" / "web"
SECONDS = 120
STATE = "document.querySelector('[data-testid=state]')?.textContent ?? ''"
IMAGE = np.random.default_rng(7).random((1, 3, 224, 224), dtype=np.float32)
PICTURE = "MOBPACK_SCREENSHOTS"
"""Variable with a folder for screenshots, for people who want to look at them."""


@dataclass(frozen=True)
class Page:
    """A page in a browser."""

    browser: Browser
    server: Address

    def visit(self) -> None:
        self.browser.call("Page.navigate", url="about:blank")
        self.browser.events.clear()
        self.browser.call("Page.navigate", url=f"{self.server.url}page.html")

    def value(self, expression: str) -> Any:
        answer = self.browser.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression: str, wanted: str) -> str:
        end = time.monotonic() + SECONDS
        while not str(found := self.value(expression) or "").startswith(wanted):
            assert time.monotonic() < end, f"{expression} is {found!r}; {self.complaints()}"
            time.sleep(0.05)
        return str(found)

    def press(self, name: str) -> None:
        self.value(f"document.querySelector('[data-testid={name}]').click()")

    def complaints(self) -> list[str]:
        """Errors and warnings in the browser's console."""
        found = []
        for event in self.browser.events:
            parameters = event.get("params", {})
            level = parameters.get("type") or parameters.get("entry", {}).get("level")
            if event.get("method") == "Runtime.exceptionThrown" or level in ("error", "warning"):
                found.append(json.dumps(parameters))
        return found

    def show(self, name: str) -> None:
        if folder := os.environ.get(PICTURE):
            data = self.browser.call("Page.captureScreenshot")["data"]
            Path(folder, f"{name}.png").write_bytes(base64.b64decode(data))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return packages.page_orientation(tmp_path_factory)


@pytest.fixture(scope="module")
def site(built: Built, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a site, by path: the bundled page, ONNX Runtime, and the package's models."""
    app = built.app(tmp_path_factory.mktemp("web") / "app")
    shutil.copy(FILES / "page.jsx", app)
    done = node.run([FILES / "bundle.mjs", app], cwd=app)
    assert done.returncode == 0, done.output
    assert done.output == ""
    runtime = app / "node_modules" / "onnxruntime-web" / "dist" / "ort-wasm-simd-threaded.wasm"
    models_of_package = built.package.glob("models/*/mobpack/*/*")
    return {
        "/page.html": (FILES / "page.html").read_bytes(),
        "/page.js": (app / "page.js").read_bytes(),
        "/runtime.wasm": runtime.read_bytes(),
        "/pixels": IMAGE.tobytes(),
        **{f"/models/{path.name}": path.read_bytes() for path in models_of_package},
    }


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture
def page(open_browser: Browser, site: dict[str, bytes]) -> Iterator[Page]:
    with serving() as server:
        server.files.by_path.update(site)
        yield Page(open_browser, server)


def test_a_page_computes_what_python_computes(page: Page) -> None:
    [expected] = onnxruntime.InferenceSession(models.orientation()).run(None, {"x": IMAGE})

    page.visit()
    page.wait_for(STATE, "ready")
    page.press("run")
    page.wait_for("globalThis.scores?.length", "4")

    assert page.value("globalThis.scores") == pytest.approx(np.asarray(expected).ravel().tolist(), abs=1e-5)
    shares = page.value("globalThis.shares")
    assert shares[0] == 0
    assert any(0 < share < 1 for share in shares)
    assert shares[-1] == 1
    page.show("ready")
    assert page.complaints() == []


def test_a_page_passes_the_self_test_of_its_model(page: Page) -> None:
    page.visit()
    page.wait_for(STATE, "ready")
    page.press("test")
    page.wait_for("globalThis.report && String(globalThis.report.passed)", "true")


def test_a_file_that_was_tampered_with_is_an_error_that_is_shown(page: Page, site: dict[str, bytes]) -> None:
    for path, content in site.items():
        if path.startswith("/models/"):
            middle = len(content) // 2
            tampered = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
            page.server.files.by_path[path] = tampered

    page.visit()
    found = page.wait_for(STATE, "error")

    page.show("tampered")
    assert found.startswith("error corrupted: ")
    assert "has sha256" in found
    assert page.value("document.querySelector('[data-testid=run]').getAttribute('aria-disabled')") == "true"


def test_a_file_that_is_not_there_is_an_error_that_is_shown(page: Page) -> None:
    for path in [path for path in page.server.files.by_path if path.startswith("/models/")]:
        del page.server.files.by_path[path]

    page.visit()

    assert "answers with status 404" in page.wait_for(STATE, "error missing")
