"""Web packages in a real browser: real models compute what Python computes, in a worker and on the page's own thread;
files are kept for the next visit; what is wrong is an error in words."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toolchain import typed_texts
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import (
    EMBED_LIST,
    READ_TEXTS,
    RUN_EMBEDDER,
    RUN_MINILM,
    Page,
    embedding,
    package,
    page_of,
    tokens,
    vector,
)
from tests.toolchain.web.site import PAGE, files_of

ISOLATED = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; img-src data:"
STRICT = {"Content-Security-Policy": POLICY}
WORKER = "/vision/lib/web/worker.js"


SECONDS = 1800.0
"""Time for all tests that share a browser."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The package's files by their path on the site."""
    return files_of(package(tmp_path_factory.mktemp("package")), "/vision/")


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=SECONDS) as opened:
        yield opened


@pytest.fixture
def page(open_browser: Browser, files: dict[str, bytes]) -> Iterator[Page]:
    with page_of(open_browser, files) as opened:
        yield opened


def test_a_page_computes_what_python_computes(page: Page) -> None:
    page.visit()
    assert page.run(RUN_MINILM) == pytest.approx(embedding(), abs=1e-5)
    assert WORKER in page.asked()
    found = page.run(EMBED_LIST, "Embedder")
    typed_texts.same(found["together"], typed_texts.listed()["embedder"])
    typed_texts.same(found["alone"], typed_texts.listed()["embedder"])
    assert found["none"] == []
    assert page.warnings() == []


@pytest.mark.parametrize("has_worker", [True, False])
@pytest.mark.parametrize("headers", [ISOLATED, STRICT])
def test_a_page_runs_models_whatever_its_headers_forbid(page: Page, headers: dict[str, str], has_worker: bool) -> None:
    page.server.files.headers.update(headers)
    page.visit()

    found = page.run(f"setUp({{ worker: {json.dumps(has_worker)} }}); {RUN_EMBEDDER}", "Embedder")

    assert found == vector()
    assert (WORKER in page.asked()) == has_worker
    assert page.value("globalThis.crossOriginIsolated") == (headers == ISOLATED)
    assert page.warnings() == []


def test_every_model_passes_its_self_test_in_a_worker_and_texts_have_the_tokens_of_every_language(page: Page) -> None:
    page.visit()
    for name in ("OrientationModel", "SileroVad", "Minilm"):
        tested = page.run(f"const model = await {name}.load(); return await model.selfTest();", name)
        assert tested["passed"], tested
        assert len(tested["outputs"]) >= 1
    assert page.run(READ_TEXTS, "Tokens") == tokens()
    assert page.warnings() == []


def test_files_are_kept_for_the_next_visit_and_checked_there(page: Page) -> None:
    page.visit()
    first = page.run(RUN_EMBEDDER, "Embedder")
    fetched = [path for path in page.asked() if path.startswith("/vision/models/") or path.endswith(".wasm")]
    assert len(fetched) == 2

    page.visit()
    page.server.files.by_path = {
        path: content for path, content in page.server.files.by_path.items() if path not in fetched
    }
    assert page.run(RUN_EMBEDDER, "Embedder") == first
    assert not set(fetched) & set(page.asked()), "kept files are not fetched again"

    page.value(
        """(async () => { for (const name of await caches.keys()) { const cache = await caches.open(name);
        for (const each of await cache.keys()) await cache.put(each, new Response(new Uint8Array(9))); } })()"""
    )
    page.visit()
    [code, message] = page.run(RUN_EMBEDDER, "Embedder")
    assert (code, "status 404" in message) == ("missing", True), "what is damaged is fetched again"


def test_files_of_other_versions_are_removed_and_all_of_them_on_request(page: Page) -> None:
    keys = (
        "[...new Set((await (await caches.open('mobpack @example/models')).keys())"
        ".map((each) => new URL(each.url).pathname.split('/')[2]))]"
    )
    page.visit()
    page.run(RUN_EMBEDDER, "Embedder")
    page.value("caches.open('mobpack @example/models').then((cache) => cache.put('/mobpack/old/0', new Response('x')))")
    clean = "const { removeOldDownloads, removeDownloads } = await import('/vision/lib/index.js');"
    before = page.run(f"return {keys};")
    assert len(before) == 3, "the model, ONNX Runtime, and one that is old"
    assert set(page.run(f"{clean} await removeOldDownloads(); return {keys};")) == set(before) - {"old"}
    assert page.run(f"{clean} await removeDownloads(); return {keys};") == []


def test_a_page_with_the_service_worker_of_the_guide_works_offline(page: Page) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "web.md").read_text(encoding="utf-8")
    [program] = re.findall(r"```js\n(const NAME.*?)```", guide, re.DOTALL)
    page.server.files.by_path["/sw.js"] = program.encode()
    page.visit()
    page.value("navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => true)")
    while not page.value("navigator.serviceWorker.controller !== null"):
        pass
    page.visit()
    online = page.run(RUN_EMBEDDER, "Embedder")
    assert online == vector()

    page.server.files.by_path.clear()
    page.visit()
    assert page.run(RUN_EMBEDDER, "Embedder") == online
    assert [path for path in page.asked() if path != "/sw.js"] == []


def test_nothing_is_kept_if_the_page_says_so(page: Page) -> None:
    page.visit()
    page.run(f"setUp({{ cache: false }}); {RUN_EMBEDDER}", "Embedder")
    assert page.value("caches.keys()") == []


def test_a_full_browser_still_loads_models_and_says_what_is_full(page: Page) -> None:
    page.visit()
    full = "Cache.prototype.put = () => Promise.reject(new DOMException('full', 'QuotaExceededError'));"
    assert page.run(f"{full} {RUN_EMBEDDER}", "Embedder") == vector()
    [warning] = page.warnings()
    assert "no room left in the browser" in warning


def changed(page: Page, ending: str, content: bytes | None) -> None:
    """Replaces the files with that ending, or takes them away."""
    for path in [path for path in page.server.files.by_path if path.endswith(ending)]:
        if content is None:
            del page.server.files.by_path[path]
        else:
            page.server.files.by_path[path] = content


@pytest.mark.parametrize(
    ("ending", "content", "code", "words"),
    [
        (".ort", None, "missing", "answers with status 404"),
        (".ort", b"short", "corrupted", "has 5 bytes"),
        (".wasm", b"short", "corrupted", "has 5 bytes"),
        (".bundle.min.mjs", None, "missing", "ONNX Runtime's script"),
        ("worker.js", None, "host", "its script was not loaded. A Content-Security-Policy must allow worker-src"),
        ("worker.js", b"throw new Error('broken');", "host", "Uncaught Error: broken"),
    ],
)
def test_a_file_that_is_not_right_is_an_error_in_words(
    page: Page, ending: str, content: bytes | None, code: str, words: str
) -> None:
    changed(page, ending, content)
    page.visit()
    found = page.run(RUN_EMBEDDER, "Embedder")
    assert found[0] == code, found
    assert words in found[1]


def test_a_model_with_one_bit_changed_is_refused(page: Page) -> None:
    (path,) = (path for path in page.server.files.by_path if path.endswith("/embedder.ort"))
    content = page.server.files.by_path[path]
    half = len(content) // 2
    page.server.files.by_path[path] = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
    page.visit()
    code, message = page.run(RUN_EMBEDDER, "Embedder")
    assert code == "corrupted"
    assert "has sha256" in message


def test_a_load_that_failed_can_be_tried_again(page: Page) -> None:
    page.visit()
    code, found = page.run(
        f"""
        const real = fetch;
        let isOnline = false;
        globalThis.fetch = (url, how) =>
          isOnline || !url.endsWith('.wasm') ? real(url, how) : Promise.reject(new TypeError('offline'));
        const first = await Embedder.load().catch((error) => error.code);
        isOnline = true;
        return [first, await (async () => {{ {RUN_EMBEDDER} }})()];
        """,
        "Embedder",
    )
    assert code == "network"
    assert found == vector()


def test_a_server_that_answers_with_its_page_is_told_as_a_missing_file(page: Page) -> None:
    path = next(path for path in page.server.files.by_path if path.endswith("/embedder.ort"))
    page.server.files.by_path[f"{path}.html"] = PAGE
    page.visit()
    patch = """
    const real = fetch;
    globalThis.fetch = (url, how) => real(url.endsWith('embedder.ort') ? `${url}.html` : url, how);
    """
    code, message = page.run(f"{patch} {RUN_EMBEDDER}", "Embedder")
    assert (code, "a page of HTML" in message) == ("missing", True)


def test_threads_without_isolation_are_refused_in_a_warning(page: Page) -> None:
    page.visit()
    assert page.run(f"setUp({{ threads: 4 }}); {RUN_EMBEDDER}", "Embedder") == vector()
    [warning] = page.warnings()
    assert "Cross-Origin-Embedder-Policy: require-corp" in warning


def test_a_load_and_a_run_can_be_cancelled(page: Page) -> None:
    page.visit()
    code, _ = page.run("await Embedder.load({ signal: AbortSignal.abort() });", "Embedder")
    assert code == "cancelled"
    codes = page.run(
        """
        const model = await OrientationModel.load();
        const controller = new AbortController();
        const picture = { data: new Uint8Array(4 * 64 * 48), width: 64, height: 48 };
        const running = [1, 2].map(() => model.predict(picture, { signal: controller.signal }));
        const last = model.predict(picture);
        controller.abort();
        const ended = await Promise.allSettled([...running, last]);
        return ended.map(({ reason }) => reason?.code ?? 'computed');
        """,
        "OrientationModel",
    )
    assert codes == ["cancelled", "cancelled", "computed"]


def test_a_run_that_has_begun_is_given_up_at_once(page: Page) -> None:
    """The worker never answers here."""
    page.visit()
    found = page.run(
        """
        const model = await OrientationModel.load();
        const post = Worker.prototype.postMessage;
        const asked = [];
        Worker.prototype.postMessage = function (question, transfer) {
          asked.push(question.call.method);
          if (question.call.method !== 'run') post.call(this, question, transfer);
        };
        const controller = new AbortController();
        const picture = { data: new Uint8Array(4 * 64 * 48), width: 64, height: 48 };
        const running = model.predict(picture, { signal: controller.signal }).catch((error) => error.code);
        while (!asked.includes('run')) await new Promise((resolve) => setTimeout(resolve, 5));
        controller.abort();
        return Promise.race([running, new Promise((resolve) => setTimeout(resolve, 60000, 'waits'))]);
        """,
        "OrientationModel",
    )
    assert found == "cancelled"


def test_progress_reaches_all_of_the_model(page: Page) -> None:
    page.visit()
    shares = page.run(
        """
        const all = [];
        await Minilm.load({ onProgress: ({ loadedBytes, totalBytes }) => all.push(loadedBytes / totalBytes) });
        return all;
        """
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_copy_of_the_package_elsewhere_serves_a_page(page: Page) -> None:
    for path, content in list(page.server.files.by_path.items()):
        if path.startswith("/vision/"):
            page.server.files.by_path[path.replace("/vision/", "/copy/")] = content
    page.visit()
    assert page.run(f"setUp({{ base: '/copy/' }}); {RUN_EMBEDDER}", "Embedder") == vector()
    copied = [path for path in page.asked() if path.startswith("/copy/")]
    assert {Path(path).name for path in copied} >= {"worker.js", "embedder.ort", "ort-wasm-simd-threaded.wasm"}


def test_two_packages_and_two_models_on_one_page_do_not_disturb_each_other(page: Page, files: dict[str, bytes]) -> None:
    page.server.files.by_path.update({path.replace("/vision/", "/other/"): files[path] for path in files})
    page.visit()
    found = page.run(
        f"""
        const other = await import('/other/lib/index.js');
        const tested = await Promise.all([
          (async () => {{ {RUN_EMBEDDER} }})(),
          (async (Embedder) => {{ {RUN_EMBEDDER} }})(other.Embedder),
          other.SileroVad.load().then(async (model) => (await model.selfTest()).passed),
        ]);
        return tested;
        """,
        "Embedder",
    )
    assert found == [vector(), vector(), True]
    assert {path for path in page.asked() if path.endswith("worker.js")} == {WORKER, WORKER.replace("vision", "other")}


def test_wrong_options_are_refused(page: Page) -> None:
    page.visit()
    for options, words in (
        ("{ base: '/copy' }", "does not end in /"),
        ("{ threads: 0 }", "no number from 1 on"),
        ("{ wasm: 1 }", "unknown option"),
    ):
        code, message = page.run(f"setUp({options});")
        assert (code, words in message) == ("bad-options", True), message


def test_a_browser_without_simd_is_told_to_update(page: Page) -> None:
    page.visit()
    code, message = page.run(
        f"WebAssembly.validate = () => false; setUp({{ worker: false }}); {RUN_EMBEDDER}", "Embedder"
    )
    assert (code, "has no SIMD" in message) == ("unsupported", True)


def test_a_picture_of_the_page_is_drawn_upright_and_small(page: Page) -> None:
    page.visit()
    found = page.run(
        """
        const { pictureFrom } = await import('/vision/lib/image.js');
        const canvas = new OffscreenCanvas(40, 20);
        const context = canvas.getContext('2d');
        context.fillStyle = 'rgb(255, 0, 0)';
        context.fillRect(0, 0, 40, 10);
        const { data, width, height } = await pictureFrom(canvas, { maxSize: 20 });
        return [width, height, ...data.slice(0, 4), ...data.slice(-4)];
        """
    )
    assert found == [20, 10, 255, 0, 0, 255, 0, 0, 0, 255]
