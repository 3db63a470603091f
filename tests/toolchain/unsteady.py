"""A server before another one that forwards requests, or fails: every tenth, all that write, or each after a while."""

import contextlib
import http.client
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.cases.waiting import HANGS_S

DENIED = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
DROPPED = ("connection", "transfer-encoding", "keep-alive", "content-length")
"""Headers that belong to one connection."""


@dataclass
class Behaviour:
    """How the server treats requests; it may be changed while it runs."""

    fails_every: int = 0
    """0: never; in turn with status 500, with status 503, and by closing the connection"""
    denies_writing: bool = False
    delay_s: float = 0.0
    holds_from: int = 0
    """The first request that is not answered until `gate` is open, like all that follow; 0: none."""
    gate: threading.Event = field(default_factory=threading.Event)
    delays_writing_s: float = 0.0
    """more, before each request that writes"""
    requests: int = 0
    failures: int = 0
    names: list[str] = field(default_factory=list)
    """method and path of each request"""


@contextlib.contextmanager
def before(address: str, behaviour: Behaviour) -> Iterator[str]:
    """The address of a server that forwards to the one at `address`."""
    target = urlsplit(address)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size)
            if len(body) < size:  # the client was killed amid a request, of which a store keeps nothing
                self.close_connection = True
                return
            with lock:
                behaviour.requests += 1
                behaviour.names.append(f"{self.command} {self.path}")
                fails = behaviour.fails_every and behaviour.requests % behaviour.fails_every == 0
                behaviour.failures += bool(fails)
                kind = behaviour.failures % 3
                is_held = 0 < behaviour.holds_from <= behaviour.requests
            if is_held:
                behaviour.gate.wait(HANGS_S)
            is_writing = self.command in ("PUT", "POST", "DELETE")
            time.sleep(behaviour.delay_s + is_writing * behaviour.delays_writing_s)
            if fails and kind == 0:
                self.close_connection = True
            elif fails:
                self.answer(500 if kind == 1 else 503, {}, b"")
            elif behaviour.denies_writing and is_writing:
                self.answer(403, {"Content-Type": "application/xml"}, DENIED)
            else:
                self.pass_on(body)

        def pass_on(self, body: bytes) -> None:
            connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=HANGS_S)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in DROPPED}
            connection.request(self.command, self.path, body, headers)
            with connection.getresponse() as found:
                self.answer(found.status, dict(found.getheaders()), found.read())
            connection.close()

        def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() not in DROPPED or (self.command == "HEAD" and name.lower() == "content-length"):
                    self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = forward  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Clients that are killed break connections."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
