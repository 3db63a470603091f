"""Web servers for tests and attacks: an honest one for a folder, and ones that answer as a hostile server may."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Answer = Callable[[BaseHTTPRequestHandler], object]
"""Answers a request by hand: writes to `wfile` whatever it likes."""
PIECE = bytes(1 << 16)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


class Lying(Quiet):
    """A folder, and other answers for paths that end in a certain way."""

    answers: Mapping[str, Answer] = {}
    is_over = False

    def do_GET(self) -> None:
        for end, answer in self.answers.items():
            if self.path.endswith(end):
                with suppress(OSError):  # the reader has had enough
                    answer(self)
                self.close_connection = True
                return
        super().do_GET()


@contextmanager
def serving(folder: Path, answers: Mapping[str, Answer] | None = None) -> Iterator[str]:
    """The address of a server of the files in `folder`; `answers` by the end of a path."""
    handler: type[Lying] = type("Handler", (Lying,), {"answers": answers or {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            handler.is_over = True
            server.shutdown()


def for_ever(request: BaseHTTPRequestHandler, piece: bytes) -> None:
    """Sends the same until the reader has had enough, or the server ends."""
    while not getattr(request, "is_over", False):
        request.wfile.write(piece)


def endless(request: BaseHTTPRequestHandler) -> None:
    """A body without end, and without a stated length."""
    request.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
    for_ever(request, PIECE)


def endless_chunks(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for_ever(request, b"10000\r\n" + PIECE + b"\r\n")


def huge(request: BaseHTTPRequestHandler) -> None:
    """A body that is as long as it says: 8 TB."""
    request.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 8796093022208\r\n\r\n")
    for_ever(request, PIECE)


def endless_headers(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"HTTP/1.0 200 OK\r\n")
    for_ever(request, b"X: " + b"x" * 1000 + b"\r\n")


def never_begins(request: BaseHTTPRequestHandler) -> None:
    """Says for ever that it goes on."""
    for_ever(request, b"HTTP/1.1 100 Continue\r\n\r\n")


def no_http(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"SSH-2.0-x\r\n")


def elsewhere(request: BaseHTTPRequestHandler) -> None:
    """A file of the machine that asks."""
    request.wfile.write(b"HTTP/1.0 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n")


def round_and_round(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(f"HTTP/1.0 302 Found\r\nLocation: {request.path}\r\n\r\n".encode())


HOSTILE: Mapping[str, Answer] = {
    "endless": endless,
    "endless chunks": endless_chunks,
    "8 TB": huge,
    "endless headers": endless_headers,
    "never begins": never_begins,
    "no HTTP": no_http,
    "a file of the reader": elsewhere,
    "in circles": round_and_round,
}
"""Answers that must end in bounded memory and time."""
