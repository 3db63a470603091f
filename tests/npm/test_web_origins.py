"""A page and a web package on two origins, as with a CDN."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.toolchain.chromium import Browser, browser
from tests.toolchain.react_native.download.server import Address, serving
from tests.toolchain.web.page import RUN_EMBEDDER, Page, package, page_of, vector
from tests.toolchain.web.site import files_of

SECONDS = 1800.0
"""Time for all tests that share the browser."""
ALLOWED = {"Access-Control-Allow-Origin": "*"}
ISOLATED = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}


@dataclass(frozen=True)
class Pair:
    page: Page
    cdn: Address

    def run(self, program: str) -> Any:
        """The value that the body of an asynchronous function returns, or code and message of its error."""
        self.page.visit()
        caught = "catch (error) { return [error.code ?? error.name, error.message]; }"
        load = f"const {{ Embedder, setUp }} = await import('{self.cdn.url}vision/lib/index.js');"
        return self.page.value(f"(async () => {{ try {{ {load} {program} }} {caught} }})()")

    def asked(self) -> set[str]:
        """Names of the files that the CDN was asked for."""
        return {Path(request.path).name for request in self.cdn.files.requests}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files_of(package(tmp_path_factory.mktemp("package")), "/vision/")


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=SECONDS) as opened:
        yield opened


@pytest.fixture
def pair(open_browser: Browser, files: dict[str, bytes]) -> Iterator[Pair]:
    with page_of(open_browser, {}) as page, serving() as cdn:
        cdn.files.by_path.update(files)
        cdn.files.headers.update(ALLOWED)
        yield Pair(page, cdn)


def test_a_package_on_another_origin_runs_in_a_worker(pair: Pair) -> None:
    assert pair.run(RUN_EMBEDDER) == vector()
    assert pair.asked() >= {"worker.js", "embedder.ort", "ort-wasm-simd-threaded.wasm"}
    assert pair.page.asked() == ["/page.html"]


def test_a_copy_on_another_origin_serves_a_package(pair: Pair, files: dict[str, bytes]) -> None:
    pair.page.server.files.by_path.update({path: content for path, content in files.items() if "/lib/" in path})
    pair.page.visit()
    base = f"{pair.cdn.url}vision/"
    assert pair.page.run(f"setUp({{ base: '{base}' }}); {RUN_EMBEDDER}", "Embedder") == vector()
    assert pair.asked() >= {"worker.js", "embedder.ort", "ort-wasm-simd-threaded.wasm"}


@pytest.mark.parametrize("options", ["{}", "{ threads: 2 }"])
def test_an_isolated_page_runs_models_of_another_origin_on_one_thread(pair: Pair, options: str) -> None:
    pair.page.server.files.headers.update(ISOLATED)
    pair.cdn.files.headers.update({**ISOLATED, "Cross-Origin-Resource-Policy": "cross-origin"})
    program = (
        f"setUp({options}); const run = async () => {{ {RUN_EMBEDDER} }}; return [crossOriginIsolated, await run()];"
    )
    assert pair.run(program) == [True, vector()]
    said = [text for text in pair.page.warnings() if "2 threads need ONNX Runtime on the page's own origin" in text]
    assert len(said) == ("threads" in options)


def test_scripts_without_permission_fail_in_the_browsers_words(pair: Pair) -> None:
    pair.cdn.files.headers.clear()
    name, message = pair.run("return 'imported';")
    assert (name, "Failed to fetch dynamically imported module" in message) == ("TypeError", True)


@pytest.mark.parametrize("worker", ["true", "false"])
def test_a_copy_without_permission_is_an_error_in_words(pair: Pair, files: dict[str, bytes], worker: str) -> None:
    """Files first; on a second visit, which has them, scripts."""
    copy = f"setUp({{ base: '{pair.cdn.url}vision/', worker: {worker} }}); {RUN_EMBEDDER}"
    pair.page.server.files.by_path.update({path: content for path, content in files.items() if "/lib/" in path})
    pair.cdn.files.headers.clear()
    pair.page.visit()
    code, message = pair.page.run(copy, "Embedder")
    assert (code, "must answer with Access-Control-Allow-Origin" in message) == ("network", True), message

    pair.cdn.files.headers.update(ALLOWED)
    pair.page.visit()
    assert pair.page.run(copy, "Embedder") == vector()
    pair.cdn.files.headers.clear()
    pair.page.visit()
    code, message = pair.page.run(copy, "Embedder")
    words = "its script was not loaded" if worker == "true" else "ONNX Runtime's script"
    assert (code, words in message) == ("host" if worker == "true" else "missing", True), message
