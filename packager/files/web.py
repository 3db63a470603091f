"""Reads files of a web server that nobody has to trust: as many bytes as the caller asks for, in a limited time."""

import contextlib
import io
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import IO, TYPE_CHECKING, TypeVar
from urllib.parse import quote

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

    from _typeshed import WriteableBuffer

T = TypeVar("T")
SCHEMES = ("http", "https")
SILENCE_S = 20.0
"""longest time without a byte"""
PATIENCE_S = 30.0
"""time for an answer to begin, redirects included, and beyond what its bytes may take"""
SLOWEST_BYTES_PER_S = 50_000
"""rate below which reading is given up"""
PIECE_BYTES = 1 << 20
ABSENT, FORBIDDEN, BEYOND_THE_END, PARTIAL = (404, 410), (401, 403, 407), 416, 206


@dataclass(frozen=True, kw_only=True)
class WebFiles:
    """The files below an address. Methods raise FileNotFoundError for a file that is not there, PermissionError where
    access is denied, and OSError for everything else."""

    root: str
    """without a slash at its end"""

    def read(self, name: str, *, start: int = 0, limit_bytes: int) -> bytes:
        """The bytes from `start` on, at most `limit_bytes`."""
        if limit_bytes <= 0:
            return b""
        try:
            file = self.opened(name, start=start, end=start + limit_bytes)
        except EOFError:
            return b""
        with file:
            return file.read(limit_bytes)

    def opened(self, name: str, *, start: int = 0, end: int | None = None) -> IO[bytes]:
        """The file from `start` on. Servers may ignore `end`: callers read as much as they want. Raises EOFError if
        the file ends before `start`."""
        headers = {}
        if end is not None:
            headers["Range"] = f"bytes={start}-{end - 1}"
        response = self._answer(name, headers)
        file = io.BufferedReader(_Timed(response), PIECE_BYTES)
        if response.status != PARTIAL:
            _skip(file, start)
        return file

    def size_of(self, name: str) -> int | None:
        """Size in bytes, 0 if the server does not say it; None if there is no such file."""
        try:
            with contextlib.closing(self._answer(name, {})) as response:
                stated = response.getheader("Content-Length", "")
        except FileNotFoundError:
            return None
        return int(stated) if stated.isascii() and stated.isdecimal() and len(stated) < 20 else 0

    def _answer(self, name: str, headers: dict[str, str]) -> HTTPResponse:
        from urllib.error import HTTPError

        opener = _opener()
        opener.addheaders = [("User-Agent", "mobpack"), *headers.items()]
        try:
            with _as_os_errors():
                response: HTTPResponse = within(
                    PATIENCE_S, lambda: opener.open(f"{self.root}/{quote(name)}", timeout=SILENCE_S)
                )
                return response
        except HTTPError as error:
            error.close()
            words = f"{error.code} {error.reason}"
            if error.code in ABSENT:
                raise FileNotFoundError(words) from error
            if error.code in FORBIDDEN:
                raise PermissionError(words) from error
            if error.code == BEYOND_THE_END:
                raise EOFError(words) from error
            raise OSError(words) from error


def post(address: str, content: bytes, *, kind: str, limit_bytes: int) -> bytes:
    """The answer to `content` of a media type, at most `limit_bytes`. Raises OSError if there is none, or a longer
    one."""
    from urllib.error import HTTPError
    from urllib.request import Request

    headers = {"User-Agent": "mobpack", "Content-Type": kind}
    request = Request(address, data=content, headers=headers, method="POST")  # noqa: S310 (_opener: http and https)
    try:
        with _as_os_errors():
            response: HTTPResponse = within(PATIENCE_S, lambda: _opener().open(request, timeout=SILENCE_S))
    except HTTPError as error:
        error.close()
        raise OSError(f"{error.code} {error.reason}") from error
    with contextlib.closing(response), io.BufferedReader(_Timed(response), PIECE_BYTES) as file:
        answer = file.read(limit_bytes + 1)
    if len(answer) > limit_bytes:
        raise OSError(f"it sends more than {limit_bytes} bytes")
    return answer


def within(seconds: float, function: Callable[[], T]) -> T:
    """The result of `function`. Raises TimeoutError if it takes longer; it then goes on in a thread that ends with the
    process."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # whoever waits for the future gets it
            future.set_exception(error)

    threading.Thread(target=work, name="mobpack-web", daemon=True).start()
    try:
        return future.result(timeout=seconds)
    except FutureTimeoutError as error:
        raise TimeoutError(f"no answer in {seconds:.0f} s") from error


def _opener() -> "OpenerDirector":
    """Only http and https, wherever a server redirects to."""
    from urllib import request

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPRedirectHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


class _Timed(io.RawIOBase):
    """The content of an answer. Raises TimeoutError if it comes slower than SLOWEST_BYTES_PER_S."""

    def __init__(self, response: HTTPResponse) -> None:
        self.response, self.began, self.count = response, time.monotonic(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        if time.monotonic() - self.began > PATIENCE_S + self.count / SLOWEST_BYTES_PER_S:
            raise TimeoutError(f"it sends less than {SLOWEST_BYTES_PER_S:,} bytes a second")
        room = memoryview(buffer)
        with _as_os_errors():
            piece = self.response.read1(len(room))  # of one packet: a trickle comes back here
        room[: len(piece)] = piece
        self.count += len(piece)
        return len(piece)

    def close(self) -> None:
        self.response.close()
        super().close()


def _skip(file: IO[bytes], count: int) -> None:
    """Passes over bytes: the server sent all of a file that was asked for a part of it."""
    while count > 0 and (piece := file.read(min(count, PIECE_BYTES))):
        count -= len(piece)


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Turns what the library says of an answer that is not HTTP, or of a redirect to no address, into OSError."""
    try:
        yield
    except (HTTPException, ValueError) as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
