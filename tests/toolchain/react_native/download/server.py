"""A file server that supports ranges, with the faults that a test asks for."""

import mimetypes
import re
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LONG_S = 60
"""longer than anything here takes on a busy machine"""
TRICKLE_S = 0.05
"""between two bytes"""
STALLED_BYTES = 4001
"""what `stall` sends: no multiple of the pieces in which answers come"""


@dataclass(frozen=True)
class Request:
    """A request to the server."""

    path: str
    headers: dict[str, str]

    @property
    def range(self) -> str:
        return self.headers.get("range", "")


Fault = Callable[["Handler"], None]


@dataclass
class Files:
    """A server's files, and the requests that it got."""

    by_path: dict[str, bytes] = field(default_factory=dict)
    has_tags: bool = True
    says_unchanged: bool = False
    """Whether somebody who has a file already, and names its tag, gets status 304 instead."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of every answer."""
    heeds_if_range: bool = True
    faults: deque[Fault | None] = field(default_factory=deque)
    """The fault of each request in turn; None for a correct answer."""
    faults_by_path: dict[str, deque[Fault | None]] = field(default_factory=dict)
    """The faults of requests for single paths, after those of all."""
    requests: list[Request] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    cut_off: list[str] = field(default_factory=list)
    """Paths whose client closed the connection before the end."""

    @property
    def ranges(self) -> list[str]:
        return [request.range.removeprefix("bytes=") for request in self.requests]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files: Files

    def do_GET(self) -> None:
        self.files.requests.append(Request(self.path, {name.lower(): value for name, value in self.headers.items()}))
        faults = self.files.faults or self.files.faults_by_path.get(self.path)
        fault = faults.popleft() if faults else None
        try:
            if fault:
                fault(self)
            else:
                self.answer()
        except OSError:
            self.files.cut_off.append(self.path)
            self.close_connection = True

    @property
    def content(self) -> bytes:
        return self.files.by_path[self.path]

    @property
    def tag(self) -> str:
        return f'"{sha256(self.content).hexdigest()[:12]}"'

    def answer(self, *, knows_ranges: bool = True, sent: int | None = None, pause_s: float = 0.0) -> None:
        """Sends what was asked for, or only `sent` bytes of it; pauses come after each 2,000 bytes."""
        if self.path not in self.files.by_path:
            self.refuse(HTTPStatus.NOT_FOUND)
            return
        if self.files.says_unchanged and self.headers.get("If-None-Match") == self.tag:
            self.refuse(HTTPStatus.NOT_MODIFIED, ("ETag", self.tag))
            return
        asked = self._asked() if knows_ranges else None
        content, total = self.content, len(self.content)
        first, last = asked or (0, total - 1)
        if asked and first >= total:
            self.refuse(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            return
        self.send_response(HTTPStatus.PARTIAL_CONTENT if asked else HTTPStatus.OK)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{min(last, total - 1)}/{total}")
        if self.files.has_tags:
            self.send_header("ETag", self.tag)
        self.send_header("Content-Type", mimetypes.guess_type(self.path)[0] or "application/octet-stream")
        self.send_header("Content-Length", str(len(content[first : last + 1])))
        for name, value in self.files.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self._send(content[first : last + 1][:sent], pause_s)
        if sent is not None:
            self.close_connection = True

    def _asked(self) -> tuple[int, int] | None:
        """First and last byte of a piece; None when all of the file is to be sent."""
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        held = self.headers.get("If-Range", self.tag)
        is_current = held == self.tag or not self.files.heeds_if_range
        return (int(found[1]), int(found[2] or len(self.content) - 1)) if found and is_current else None

    def _send(self, body: bytes, pause_s: float) -> None:
        size = 2000 if pause_s else 1 << 16
        for start in range(0, len(body), size):
            self.wfile.write(body[start : start + size])
            if pause_s:
                self.files.ended.wait(pause_s)

    def refuse(self, status: int, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Tests read `requests`."""


def cut(after: int) -> Fault:
    """The connection breaks after so many bytes."""
    return lambda handler: handler.answer(sent=after)


def stall(handler: Handler) -> None:
    """Some bytes, then none."""
    handler.answer(sent=STALLED_BYTES)
    handler.wfile.flush()
    handler.files.ended.wait()


def endless(handler: Handler) -> None:
    """Bytes without end, and without a length."""
    handler.send_response(200)
    handler.end_headers()
    handler.close_connection = True
    while not handler.files.ended.is_set():
        handler.wfile.write(bytes(1 << 16))


def trickle(handler: Handler) -> None:
    """The file that was asked for, in hours: a byte now and then."""
    content = handler.files.by_path[handler.path]
    handler.send_response(HTTPStatus.OK)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    for byte in content:
        handler.wfile.write(bytes([byte]))
        if handler.files.ended.wait(TRICKLE_S):
            return


def trickled_headers(handler: Handler) -> None:
    """Headers without end, a byte now and then."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not handler.files.ended.is_set():
        for byte in b"X-Header: x\r\n":
            handler.wfile.write(bytes([byte]))
            handler.files.ended.wait(TRICKLE_S)


def slow(pause_s: float) -> Fault:
    return lambda handler: handler.answer(pause_s=pause_s)


def held(sent: int, most_s: float | None = None) -> Fault:
    """So many bytes, then none until the client closes the connection, or `most_s` are over: it counts as cut off."""

    def hold(handler: Handler) -> None:
        handler.answer(sent=sent)
        handler.wfile.flush()
        handler.connection.settimeout(most_s)
        with suppress(TimeoutError):
            handler.rfile.read(1)
        raise ConnectionError("closed by the client")

    return hold


def gated(gate: threading.Event) -> Fault:
    """The answer, once the gate is open."""

    def wait(handler: Handler) -> None:
        gate.wait(LONG_S)
        handler.answer()

    return wait


def status(code: int) -> Fault:
    return lambda handler: handler.refuse(code)


def whole(handler: Handler) -> None:
    """Answer as servers without ranges do."""
    handler.answer(knows_ranges=False)


def redirect(address: str) -> Fault:
    return lambda handler: handler.refuse(HTTPStatus.FOUND, ("Location", address))


def other_bytes(handler: Handler) -> None:
    """The right number of bytes, from another place of the file."""
    del handler.headers["Range"]
    handler.headers["Range"] = "bytes=0-999"
    handler.answer()


def changed(content: bytes) -> Fault:
    """The file is replaced, then sent."""

    def replace(handler: Handler) -> None:
        handler.files.by_path[handler.path] = content
        handler.answer()

    return replace


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that disconnect or do not trust the certificate are part of the tests."""


@dataclass(frozen=True)
class Certificate:
    """A certificate for a server of https: addresses; files in PEM."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Address:
    """A server's address and its files."""

    url: str
    files: Files


@contextmanager
def serving(pair: Certificate | None = None, *, port: int = 0) -> Iterator[Address]:
    """A server on this machine; it serves https: if there is a certificate. `port` 0 is any that is free."""
    files = Files()
    server = _Server(("127.0.0.1", port), type("FilesHandler", (Handler,), {"files": files}))
    if pair:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Address(f"{'https' if pair else 'http'}://127.0.0.1:{server.server_address[1]}/", files)
    finally:
        files.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def wait_until(condition: Callable[[], bool], seconds: float = LONG_S) -> bool:
    """Whether the condition holds in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
