"""Pages in Chromium that load web packages."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.cases.tokenizer_graphs import bert
from tests.toolchain import models, node, projects, typed_texts
from tests.toolchain.chromium import Browser
from tests.toolchain.kept import linked
from tests.toolchain.made import Package
from tests.toolchain.react_native.download.server import Address, serving
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.web.site import PAGE

NAME = "@example/models"
LOAD = "const {{ {name}, setUp, ModelError }} = await import('/vision/lib/index.js');"
IDS = (101, 7592, 2088, 102)
RUN_MINILM = """
const model = await Minilm.load();
const fill = (value) => ({ data: BigInt64Array.from([value, value, value, value]), shape: [1, 4] });
const ids = { data: BigInt64Array.from([101n, 7592n, 2088n, 102n]), shape: [1, 4] };
const given = Object.fromEntries(Object.entries(Minilm.inputs).map(([key, { name }]) =>
  [key, name === 'input_ids' ? ids : fill(name === 'attention_mask' ? 1n : 0n)]));
const [first] = Object.values(await model.run(given));
return Array.from(first.data);
"""
"""the body of a function: what MiniLM makes of IDS"""

LONG = "the quick fox \u00e9 "
READ_TEXTS = f"""
const read = async (text) => Array.from((await model.predict(text)).ids.data, Number);
const model = await Tokens.load();
const found = [];
for (const units of {[typed_texts.utf16(text).tolist() for text in typed_texts.AWKWARD]})
  found.push(await read(String.fromCharCode(...units)));
found.push(await read({json.dumps(LONG)}.repeat(10000)));
return found;
"""
"""the body of a function: token ids of the awkward texts, which JSON cannot write, and of a very long one"""


EMBED_LIST = f"""
const model = await Embedder.load();
const texts = {[typed_texts.utf16(text).tolist() for text in typed_texts.LISTED]}
  .map((units) => String.fromCharCode(...units));
const alone = [];
for (const text of texts) alone.push(Array.from(await model.embed(text)));
const together = await model.embed(texts);
return {{ together: together.map((each) => Array.from(each)), alone, none: await model.embed([]) }};
"""
"""the body of a function: vectors of several texts, in one run and in a run for each"""

RUN_EMBEDDER = f"""
const model = await Embedder.load();
return Array.from(await model.embed({json.dumps(typed_texts.LISTED[0])}));
"""
"""the body of a function: the vector of a text, by a small model in a file of its own"""


def vector() -> object:
    """The result of RUN_EMBEDDER."""
    return pytest.approx(typed_texts.listed()["embedder"][0], rel=2e-6)


def tokens() -> list[list[int]]:
    """The token ids of READ_TEXTS in Hugging Face's tokenizers."""
    return [*map(list, typed_texts.ids()), bert(strip_accents=False).encode(LONG * 10000).ids]


@cache
def embedding() -> list[float]:
    """The embedding of IDS in Python."""
    session = onnxruntime.InferenceSession(models.minilm())
    rows = {"input_ids": list(IDS), "attention_mask": [1] * len(IDS)}
    given = {each.name: np.array([rows.get(each.name, [0] * len(IDS))]) for each in session.get_inputs()}
    return [float(number) for number in np.ravel(session.run(None, given)[0])]


def package(folder: Path, made: Package = projects.WEB) -> Path:
    """The test models' package, unpacked below `folder`."""
    unpack(made.archive(), folder)
    return folder / "package"


def app(folder: Path, unpacked: Path, project: str) -> Path:
    """A project of npm packages that depends on the package. Replace files of the package, do not write to them."""
    modules = node.link(node.project(project), folder)
    shutil.copytree(unpacked, modules / NAME, copy_function=linked)
    (folder / "package.json").write_text(json.dumps({"name": "app", "type": "module"}), encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Page:
    """A page of a site."""

    browser: Browser
    server: Address

    def visit(self) -> None:
        self.browser.call("Page.navigate", url="about:blank")
        self.browser.events.clear()
        self.server.files.requests.clear()
        self.browser.visit(f"{self.server.url}page.html")
        assert self.value("document.title") == "models"

    def value(self, expression: str) -> Any:
        answer = self.browser.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def run(self, program: str, name: str = "Minilm") -> Any:
        """The value that the body of an asynchronous function returns, or `[code, message]` of its error."""
        caught = "catch (error) { return [error.code ?? error.name, error.message]; }"
        return self.value(f"(async () => {{ {LOAD.format(name=name)} try {{ {program} }} {caught} }})()")

    def asked(self) -> list[str]:
        """Paths that the server was asked for."""
        return [request.path for request in self.server.files.requests]

    def warnings(self) -> list[str]:
        """Warnings and errors of the page and of the browser."""
        texts = [
            " ".join(str(each.get("value", "")) for each in event["params"]["args"])
            for event in self.browser.events
            if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("warning", "error")
        ]
        return [*texts, *(event["params"]["entry"]["text"] for event in self.browser.events if _is_logged(event))]


def _is_logged(event: dict[str, Any]) -> bool:
    return event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning")


@contextmanager
def page_of(opened: Browser, files: dict[str, bytes]) -> Iterator[Page]:
    """A page of a site with those files. It has an origin, and so a cache, of its own."""
    with serving() as server:
        server.files.by_path.update({"/page.html": PAGE, **files})
        yield Page(opened, server)
