"""A package for the web whose tiny model a channel delivers, and a site that has the package and the channel."""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime

from packager.core.findings import Report
from packager.core.to_json import plain
from packager.core.values import Package
from packager.distribution.channel import document
from packager.distribution.channel.document import Allowed, ChannelFile, Delta, Document, ModelRelease
from packager.distribution.deltas.making import make
from packager.engines.environments import web as environment
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets import signed_list
from packager.targets.web import Web
from packager.targets.web.view import WebView
from packager.vectors import safetensors
from tests.cases.onnx_text import compiled, linear
from tests.cases.trust_vectors import signed
from tests.cases.tuf_repository import NOBODY, UNEDITED, Edit, Repository, Signers
from tests.delivery_drivers.web import PROGRAM
from tests.toolchain import trusted
from tests.toolchain.chromium import Browser
from tests.toolchain.delivered_android import INPUT, MODEL, PACKAGE, document_of, model_file, release_of, target
from tests.toolchain.web.page import Page, page_of
from tests.toolchain.web.site import files_of

NOW = datetime.now(UTC).replace(microsecond=0)
PLENTY = Allowed(output="y", rtol=1e-3, atol=1e-3, scale=10.0, mismatches=0)


def graph(version: int) -> onnx.ModelProto:
    """Version 1 is the package's own; the outputs of the others are larger by one for each version."""
    made = linear()
    (bias,) = (each for each in made.graph.initializer if each.name == "b")
    values = onnx.numpy_helper.to_array(bias) + numpy.float32(version - 1)
    bias.CopyFrom(onnx.numpy_helper.from_array(values, "b"))
    return made


@cache
def ort_file(version: int) -> bytes:
    """The model in ORT format."""
    with tempfile.TemporaryDirectory() as scratch:
        return compiled(Path(scratch), graph(version), MODEL).path.read_bytes()


def outputs(version: int) -> numpy.ndarray:
    session = onnxruntime.InferenceSession(graph(version).SerializeToString())
    (found,) = session.run(None, {"x": INPUT})
    return numpy.asarray(found)


def total(version: int) -> float:
    """The sum of all outputs."""
    return float(outputs(version).sum())


@cache
def samples(version: int) -> bytes:
    """A file with one sample of a version."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "samples.safetensors")
        safetensors.write(path, {"0.input.x": INPUT, "0.output.y": outputs(version)}, {})
        return path.read_bytes()


@cache
def delta(old: bytes, new: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        paths = Path(scratch, "old"), Path(scratch, "new")
        for path, content in zip(paths, (old, new), strict=True):
            path.write_bytes(content)
        return make(*paths)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def view(package: Package = PACKAGE) -> WebView:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        plan = trusted.plan(folder, Store(cache_folder() / "store"), "web", environment=environment.Web.NAME)
        return Web().view(package, (plan,), Report(parities=()))


def write(folder: Path, package: Package = PACKAGE) -> WebView:
    """Writes the package, signed."""
    made = view(package)
    write_sources(Web().render(made), folder)
    digests = {each.content.path: each.content.sha256 for each in made.files}
    (folder / "models" / signed_list.NAME).write_text(signed(digests, package), encoding="utf-8", newline="\n")
    return made


def packaged() -> bytes:
    """The package's own model."""
    (file,) = (each.content.file for each in view().files if each.content.path.endswith(".ort"))
    return file.read_bytes()


def release(version: int, blobs: "Blobs", *, old: Iterable[bytes] = (), **changes: object) -> ModelRelease:
    """`old` are files that deltas are made of; `content`, `golden` and `allowed` replace those of the version."""
    content = changes.pop("content", None) or ort_file(version)
    golden = changes.pop("golden", None)
    assert isinstance(content, bytes)
    assert golden is None or isinstance(golden, bytes)
    file = model_file(Web(), "cpu", blobs.add(f"{MODEL}.ort", content, old))
    if golden:
        file = replace(file, golden=(blobs.add("samples.safetensors", golden),), allowed=(PLENTY,))
    return replace(release_of(f"1.2.{version + 2}", file), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Blobs:
    """Files of a channel, by their paths on the site."""

    by_path: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, content: bytes, old: Iterable[bytes] = ()) -> ChannelFile:
        self.put(content)
        deltas = []
        for each in old:
            difference = delta(each, content)
            self.put(difference)
            deltas.append(Delta(source=digest(each), sha256=digest(difference), size_bytes=len(difference)))
        return ChannelFile(name=name, sha256=digest(content), size_bytes=len(content), deltas=tuple(deltas))

    def put(self, content: bytes) -> None:
        self.by_path[path_of(digest(content))] = content


def path_of(sha256: str) -> str:
    return f"/channel{target(sha256)}"


POINTER = "/channel/stable/timestamp.json"


def channel(number: int, *releases: ModelRelease, **changes: object) -> Document:
    dates = {"published": NOW - timedelta(days=2), "expires": NOW + timedelta(days=90)}
    terms = {name: at.strftime(document.TIME) for name, at in dates.items()}
    return replace(document_of(number, *releases), **{**terms, **changes})  # type: ignore[arg-type]


def metadata(made: Document, edits: Mapping[str, Edit] = UNEDITED, signers: Signers = NOBODY) -> dict[str, bytes]:
    """The signed files of a channel with what a document says, by their paths on the site."""
    repository = Repository(package=PACKAGE.name, channel="stable")
    found = repository.files(plain(made), made.number, edits, signers)
    return {f"/channel{path}": content for path, content in found.items()}


FORGET = """
(async () => {
  await caches.delete('mobpack models stable');
  await new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase('mobpack models stable');
    request.onsuccess = resolve;
    request.onerror = request.onblocked = reject;
  });
})()
"""


@dataclass(frozen=True)
class Site:
    """A page, the package, and a channel."""

    page: Page
    blobs: Blobs = field(default_factory=Blobs)

    def publish(self, made: Document, edits: Mapping[str, Edit] = UNEDITED, signers: Signers = NOBODY) -> None:
        self.files.update({**self.blobs.by_path, **metadata(made, edits, signers)})

    @property
    def files(self) -> dict[str, bytes]:
        return self.page.server.files.by_path

    def reset(self) -> None:
        """Forgets what was published, and what the browser has kept of it. ONNX Runtime stays where it is."""
        self.blobs.by_path.clear()
        for path in [each for each in self.files if each.startswith("/channel/")]:
            del self.files[path]
        self.page.server.files.faults_by_path.clear()
        self.page.server.files.requests.clear()
        self.page.value(FORGET)
        self._start()

    def visit(self) -> None:
        """Opens the page anew, as another visit does, and starts the app."""
        self.page.visit()
        self._start()

    def _start(self) -> None:
        address = f"{self.page.server.url}channel/"
        self.page.value(f"{PROGRAM} startApp({json.dumps(address)}).then((app) => {{ window.app = app; }})")

    def ask(self, command: str) -> dict[str, Any]:
        found: dict[str, Any] = self.page.value(f"app.answer({json.dumps(command)})")
        return found

    def update(self, how: str = "") -> tuple[str, str, str]:
        """Phase, version and reason of the model after an update."""
        found = self.ask(f"update {how}")
        assert "states" in found, found
        state = found["states"][MODEL]
        return state["phase"], state["version"], state["reason"]

    def load(self) -> tuple[str, str]:
        """Version and source of the model that is opened; its outputs are those of the version."""
        found = self.ask("load")
        assert "version" in found, found
        version = int(found["version"].rpartition(".")[2]) - 2
        assert abs(found["sum"] - total(version)) < 0.01, found
        return found["version"], found["source"]

    def blobs_asked(self) -> list[str]:
        """SHA-256 of the files that were asked for since the last visit."""
        return [path[-64:] for path in self.page.asked() if path == path_of(path[-64:])]


@contextmanager
def site(opened: Browser, package: Path) -> Iterator[Site]:
    with page_of(opened, files_of(package, "/vision/")) as page:
        made = Site(page)
        made.visit()
        yield made
