"""Registries on this machine that tests publish to, and releases to publish: small, but laid out as builds do."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from urllib.parse import parse_qs, urlsplit

from packager.core.values import Package
from packager.distribution.publishing import PublishingSession, RegistryOutcome
from packager.files.hashes import sha256_of
from packager.files.zips import write_zip
from packager.targets.maven import ALGORITHMS, Coordinates, write_repository
from packager.targets.typescript.tarball import write_tarball
from tests.golden.cases import CASES

KOTLIN = PurePosixPath("src/main/kotlin")
COMPLETE = Package(
    name="vision",
    version="1.0.0",
    license="Apache-2.0",
    description="Says which animal a picture shows.",
    url="https://example.com/vision",
    scm="https://example.com/vision.git",
    developers=("Ada Lovelace",),
)
PACKAGE_SWIFT = """\
// swift-tools-version: 5.9
import PackageDescription

let package = Package(
    name: "vision",
    products: [.library(name: "VisionModels", targets: ["VisionModels"])],
    {dependencies}targets: [.target(name: "VisionModels")]
)
"""
READING = ("GET", "HEAD")
LOCAL = 'dependencies: [.package(path: "../onnxruntime-binary-1.29.0")],\n    '


def release(
    folder: Path,
    *,
    version: str = "1.0.0",
    package: Package = COMPLETE,
    aar: bytes = b"an aar" * 50_000,
    npm_name: str = "vision-web",
    npm_settings: Mapping[str, object] | None = None,
    dependencies: str = "",
) -> Path:
    """A release in `folder` with an Android library, an npm package and a Swift package."""
    folder.mkdir(parents=True)
    found = [*_maven(folder, version, package, aar), *_npm(folder, version, npm_name, npm_settings or {})]
    found += _swift(folder, version, dependencies)
    artifacts = [
        {
            "target": target,
            "kind": kind,
            "path": path.relative_to(folder).as_posix(),
            "sha256": sha256_of(path),
            "size-bytes": path.stat().st_size,
        }
        for target, kind, path in found
    ]
    described = {"name": "vision", "version": version, "license": package.license}
    document = {"schema-version": 1, "mobpack": "0.1.0", "package": described, "artifacts": artifacts}
    (folder / "manifest.json").write_text(json.dumps(document), encoding="utf-8", newline="\n")
    return folder


def _maven(folder: Path, version: str, package: Package, aar: bytes) -> Iterator[tuple[str, str, Path]]:
    built = folder.with_name(f"{folder.name}-built")
    built.mkdir()
    (built / "built.aar").write_bytes(aar)
    kotlin = {path: text for path, text in CASES["contracts"].texts().items() if path.suffix == ".kt"}
    write_zip(built / "sources.jar", {path.relative_to(KOTLIN): text.encode() for path, text in kotlin.items()})
    written = write_repository(
        folder / "maven",
        coordinates=Coordinates(group="com.example", artifact="vision", version=version),
        package=package,
        library=built / "built.aar",
        sources_jar=built / "sources.jar",
        dependencies=[],
    )
    for path in written:
        if path.suffix.removeprefix(".") not in ALGORITHMS:
            yield "android", "maven", path


def _npm(folder: Path, version: str, name: str, settings: Mapping[str, object]) -> Iterator[tuple[str, str, Path]]:
    (folder / "npm").mkdir()
    described = {"name": name, "version": version, "main": "index.js", **settings}
    texts = {"package.json": json.dumps(described).encode(), "index.js": b"module.exports = 1\n"}
    path = folder / "npm" / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    entries = {PurePosixPath(each): content for each, content in texts.items()}
    yield "web", "web-package", write_tarball(path, entries)


def _swift(folder: Path, version: str, dependencies: str) -> Iterator[tuple[str, str, Path]]:
    (folder / "swift").mkdir()
    home = PurePosixPath(f"vision-{version}")
    manifest = PACKAGE_SWIFT.format(dependencies=dependencies).encode()
    source = b"public let answer = 42\r\n"  # as users' licences may end their lines
    entries = {home / "Package.swift": manifest, home / "Sources/VisionModels/Vision.swift": source}
    yield "ios", "swift-package", write_zip(folder / "swift" / f"vision-{version}.zip", dict(entries))
    described = folder / "swift" / f"vision-{version}.json"
    described.write_text('{"metadata": {"description": "Sees."}}', encoding="utf-8", newline="\n")
    yield "ios", "swift-registry", described
    if dependencies:
        runtime = PurePosixPath("onnxruntime-binary-1.29.0")
        entries = {runtime / "Package.swift": PACKAGE_SWIFT.format(dependencies="").encode()}
        yield "ios", "swift-runtime", write_zip(folder / "swift" / f"{runtime}.zip", dict(entries))


@dataclass
class Waits:
    """A session that waits for nothing, and remembers how long it would have."""

    variables: Mapping[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def session(self) -> PublishingSession:
        return PublishingSession(variables=self.variables, sleep=self.seconds.append, say=self.said.append)


Fault = int | str | tuple[int, Mapping[str, str]]
"""A status, a status with headers, or `cut`: the connection ends before the answer. `late`: after the work is done."""


@dataclass
class Server:
    """Files behind HTTP, as a plain Maven repository has them; others answer requests by `handle`."""

    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    """`PUT /com/example/...`, in their order"""
    headers: list[Mapping[str, str]] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)
    """number of a changing request, from 1 -> its fault"""
    authorization: str = ""
    """the header that changing requests need"""
    is_write_once: bool = False
    has_etags: bool = True
    handle: "Callable[[Server, Asked], Answered | None]" = lambda server, asked: None
    before_put: Callable[[str], None] = lambda path: None
    address: str = ""
    changes: int = 0

    def answer(self, asked: "Asked") -> "Answered":
        own = self.handle(self, asked)
        if own:
            return own
        if asked.method in READING:
            return self._got(asked.path)
        return self._put(asked)

    def _got(self, path: str) -> "Answered":
        if path not in self.files:
            return Answered(404)
        content = self.files[path]
        return Answered(200, content, {"ETag": self._etag(content)} if self.has_etags else {})

    def _put(self, asked: "Asked") -> "Answered":
        self.before_put(asked.path)
        there = self.files.get(asked.path)
        if there is not None and self.is_write_once and "maven-metadata" not in asked.path:
            return Answered(409, b"redeploy is not allowed")
        wanted = asked.headers.get("If-Match")
        if (wanted and (there is None or wanted != self._etag(there))) or (
            asked.headers.get("If-None-Match") and there
        ):
            return Answered(412)
        self.files[asked.path] = asked.body
        return Answered(201)

    def _etag(self, content: bytes) -> str:
        return f'"{sha256(content).hexdigest()[:16]}"'

    def changed(self) -> list[str]:
        return [each for each in self.requests if not each.startswith(READING)]


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answered:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Runs the server, and gives it its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            pass

        def respond(self) -> None:
            address = urlsplit(self.path)
            size = int(self.headers.get("Content-Length") or 0)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            body = self.rfile.read(size)
            asked = Asked(self.command, address.path, query, dict(self.headers.items()), body)
            server.requests.append(f"{self.command} {address.path}")
            server.headers.append(asked.headers)
            answered = server.answer(asked) if self.command in READING else self.faulty(asked)
            if answered is None or len(body) < size:
                self.close_connection = True
                return
            self.send_response(answered.status)
            for name, value in {**answered.headers, "Content-Length": str(len(answered.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answered.body)

        def faulty(self, asked: Asked) -> Answered | None:
            server.changes += 1
            if server.authorization and asked.headers.get("Authorization") != server.authorization:
                return Answered(401, b"log in")
            fault = server.faults.get(server.changes)
            if fault == "late":
                server.answer(asked)
                return None
            if fault == "half":  # a server that keeps what it got
                server.files[asked.path] = asked.body[: len(asked.body) // 2]
                return None
            if fault == "cut":
                return None
            if isinstance(fault, int):
                return Answered(fault, b"because of the test")
            if isinstance(fault, tuple):
                return Answered(fault[0], b"because of the test", fault[1])
            return server.answer(asked)

        do_GET = do_HEAD = do_PUT = do_POST = respond  # names of http.server  # noqa: N815

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,))
    thread.start()
    server.address = f"http://127.0.0.1:{httpd.server_address[1]}"
    try:
        yield server
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def parts_of(asked: Asked) -> dict[str, bytes]:
    """The parts of a form, by name."""
    boundary = asked.headers["Content-Type"].partition('boundary="')[2].rstrip('"').encode()
    first, *parts, last = asked.body.split(b"--" + boundary)
    assert (first, last) == (b"", b"--\r\n")
    found = {}
    for part in parts:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]+)"', head)
        assert name
        found[name[1].decode()] = content.removesuffix(b"\r\n")
    return found


def results(outcomes: Sequence[RegistryOutcome]) -> set[str]:
    return {each.result for each in outcomes}
