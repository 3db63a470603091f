"""Web packages in the hands of bundlers, by their own command lines."""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from packager.core.contract import Contract
from packager.core.values import Package
from packager.render.templates import write_sources
from packager.targets.web import Web
from tests.cases.waiting import until
from tests.golden.cases import CLASSES, IMAGE, PIXELS, SCORES, paged, typed
from tests.nights import at_night
from tests.toolchain import node
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import NAME, RUN_EMBEDDER, Page, app, package, page_of, vector
from tests.toolchain.web.site import files_of

SECONDS = 1800.0
"""Time for all tests that share a browser."""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package"))


BUNDLERS = {
    "vite": ["build", "--logLevel=warn", "--outDir=out", "--assetsDir=."],
    "webpack": [
        "--mode=production",
        "--entry=./main.js",
        "--output-path=./out",
        "--devtool=false",
        "--stats=errors-warnings",
    ],
    "esbuild": ["main.js", "--bundle", "--format=esm", "--outfile=out/main.js", "--log-level=warning"],
    "rollup": ["--config", "rollup.config.mjs", "--silent"],
}
COPIES = ("esbuild", "rollup")
"""bundlers that leave the files of packages where they are"""
ENTRIES = ("", "/models/heron")
"""of the package: of all its models, and of one"""
INDEX = '<!doctype html><title>models</title><link rel=icon href=data:,><script type=module src="./main.js"></script>'
ROLLUP = """
import { fileURLToPath } from 'node:url';

export default {
  input: 'main.js',
  output: { file: 'out/main.js', format: 'es' },
  plugins: [{
    name: 'packages',
    resolveId: (name) => (name.startsWith('@') ? fileURLToPath(import.meta.resolve(name)) : null),
  }],
};
"""


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=SECONDS) as opened:
        yield opened


@pytest.mark.parametrize("bundler", ["vite", "esbuild", *at_night("webpack", "rollup")])
def test_a_page_that_a_bundler_makes_computes_what_python_computes(
    bundler: str, unpacked: Path, tmp_path: Path, open_browser: Browser
) -> None:
    folder = app(tmp_path / "app", unpacked, "web")
    imported, base = ("Embedder, setUp", "setUp({ base: '/copy/' });") if bundler in COPIES else ("Embedder", "")
    (folder / "main.js").write_text(
        f"""
        import {{ {imported} }} from '{NAME}';
        globalThis.run = async () => {{ {base} {RUN_EMBEDDER} }};
        """,
        encoding="utf-8",
    )
    made = files_of(bundled(folder, bundler), "/")
    made |= files_of(unpacked, "/copy/") if bundler in COPIES else {}
    made["/page.html"] = made.get("/index.html", INDEX.encode())
    with page_of(open_browser, made) as opened:
        opened.server.files.by_path["/page.html"] = made["/page.html"]
        opened.visit()
        assert computed(opened) == vector()
        shipped = {Path(path).name for path in opened.asked() if path.endswith((".ort", ".wasm"))}
        assert len(shipped) == 2, "the model and ONNX Runtime, once each"


def bundled(folder: Path, bundler: str) -> Path:
    """The folder with what a bundler makes of `main.js` in the folder of an app."""
    (folder / "index.html").write_text(INDEX, encoding="utf-8")
    (folder / "rollup.config.mjs").write_text(ROLLUP, encoding="utf-8")
    done = node.run([node.tool(node.project("web"), bundler), *BUNDLERS[bundler]], cwd=folder)
    assert done.returncode == 0, done.output
    return folder / "out"


@pytest.fixture(scope="module")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with the models Heron and Walrus, whose labels are unlike anything else."""
    plans = []
    for name in ("heron", "walrus"):
        classes = replace(CLASSES, labels=(f"label of {name}",))
        plans.append(typed(name, PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(classes,))))
    made = paged(Package(name="two", version="1.0.0", license=""), Web(package=NAME), tuple(plans), golden=2)
    folder = tmp_path_factory.mktemp("two")
    write_sources(made.sources(), folder)
    for name in ("heron", "walrus"):  # files with the same bytes would have one name in a bundle
        for path in folder.glob(f"models/{name}*"):
            path.write_text(path.name, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("bundler", "entries"),
    [
        *(pytest.param("vite", (entry,), id=f"vite{entry}") for entry in ENTRIES),
        pytest.param("webpack", ENTRIES, id="webpack"),
        *at_night(*(pytest.param(each, ENTRIES, id=each) for each in COPIES)),
    ],
)
def test_an_app_that_imports_one_model_ships_nothing_of_another(
    bundler: str, entries: Sequence[str], two_models: Path, tmp_path: Path
) -> None:
    """Vite alone ships files of another, when it is imported from the package's own entry."""
    folder = app(tmp_path / "app", two_models, "web")
    lines = [f"import {{ Heron as Heron{at} }} from '{NAME}{entry}';" for at, entry in enumerate(entries)]
    loads = ", ".join(f"Heron{at}.load()" for at in range(len(entries)))
    (folder / "main.js").write_text("\n".join([*lines, f"globalThis.load = () => [{loads}];"]), encoding="utf-8")
    files = files_of(bundled(folder, bundler), "")
    scripts = b"".join(content for path, content in files.items() if path.endswith((".js", ".mjs"))).decode()
    for word in ("heron.ort", "heron-golden", "label of heron", '"Heron"'):
        assert word in scripts.replace("`", '"').replace("'", '"'), word
    for word in ("walrus.ort", "walrus-golden", "label of walrus", "Walrus"):
        assert word not in scripts, word
    if bundler != "vite" or "" not in entries:
        assert not [path for path, content in files.items() if content.startswith(b"walrus")]


@contextmanager
def development_server(folder: Path) -> Iterator[str]:
    """The address of Vite's development server of the project in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [node.node().program, node.tool(node.project("web"), "vite")]
    options = ["--host=127.0.0.1", f"--port={port}", "--strictPort", "--clearScreen=false"]
    with (folder / "log.txt").open("w+", encoding="utf-8") as log:
        server = subprocess.Popen([*program, *options], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            said = partial((folder / "log.txt").read_text, encoding="utf-8")
            until(lambda: "ready in" in said() or server.poll() is not None, said)
            assert server.poll() is None, said()
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.kill()
            server.wait()


@pytest.mark.parametrize("options", ["", f"optimizeDeps: {{ exclude: ['{NAME}'] }}"])
def test_a_page_of_vites_development_server_computes_what_python_computes(
    options: str, unpacked: Path, tmp_path: Path, open_browser: Browser
) -> None:
    """Vite moves packages that it does not exclude, and their files stay where they are."""
    folder = app(tmp_path / "app", unpacked, "web")
    (folder / "vite.config.js").write_text(f"export default {{ {options} }};", encoding="utf-8")
    (folder / "index.html").write_text(INDEX, encoding="utf-8")
    program = f"import {{ Embedder }} from '{NAME}'; globalThis.run = async () => {{ {RUN_EMBEDDER} }};"
    (folder / "main.js").write_text(program, encoding="utf-8")
    open_browser.events.clear()
    with development_server(folder) as address:
        assert computed_at(open_browser, address) == vector()
    sent = [event["params"] for event in open_browser.events if event.get("method") == "Network.requestWillBeSent"]
    asked = [each["request"]["url"].removeprefix(address).partition("?")[0] for each in sent]
    assert [path for path in asked if path.endswith("/web/worker.js")], asked
    assert ("node_modules/.vite/deps/" in str(asked)) == (not options), asked


def computed_at(browser: Browser, address: str) -> object:
    """The result that the page at an address has when it has loaded."""
    browser.call("Page.navigate", url=address)
    run = """new Promise((resolve) => {
      const wait = setInterval(() => { if (globalThis.run) { clearInterval(wait); resolve(globalThis.run()); } }, 20);
    }).catch((error) => [error.code, error.message])"""
    answer = browser.call("Runtime.evaluate", expression=run, returnByValue=True, awaitPromise=True)
    return answer["result"].get("value", answer)


def computed(page: Page) -> object:
    return page.value("globalThis.run().catch((error) => [error.code, error.message])")
