"""Requests over HTTP with the standard library: in chunks, through the user's proxy, and failures in words."""

import http.client
import io
import re
import shutil
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib import request as urllib_request
from urllib.error import URLError
from urllib.parse import urljoin, urlsplit

from packager import __version__
from packager.core.errors import ToolError
from packager.core.parsing import whole_number
from packager.distribution.publishing.addresses import host_of, is_safe
from packager.distribution.publishing.credentials import Credentials
from packager.distribution.publishing.registry import ConflictError, PublishingSession, State, TransientError
from packager.distribution.publishing.release import size_of

CHUNK_BYTES = 1 << 16
MAX_ANSWER_BYTES = 16 << 20
SHOWN = 300
"""Maximum number of characters of an answer in a message."""
TIMEOUT_S = 120
ATTEMPTS = 5
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 120.0
REDIRECTS = (301, 302, 303, 307, 308)
MOST_REDIRECTS = 5
CUT = (URLError, ConnectionError, TimeoutError, http.client.HTTPException, ssl.SSLError)
NO_HEADERS: Mapping[str, str] = {}
SAFE = "name an address whose redirects stay encrypted (https://)"
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """An answer that has been read to its end."""

    status: int
    headers: Mapping[str, str]
    """with names in lower case"""
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Http:
    """Talks to one registry, with its credentials."""

    session: PublishingSession
    credentials: Credentials

    def get(self, address: str, *, accept: str = "*/*", method: str = "GET") -> HttpAnswer:
        """The answer to a request that changes nothing, after up to five attempts. Statuses are 200 and 404.

        Raises ToolError in words for any other.
        """

        def ask() -> HttpAnswer:
            with self._opened(method, address, headers={"Accept": accept}) as answer:
                return _whole(answer)

        answer = patiently(ask, self.session)
        if answer.status in (200, 404):
            return answer
        raise self._failure(answer, address)

    def compare(self, address: str, content: bytes | Path) -> State:
        """Whether `address` has this content. Its beginning alone counts as absent: an upload that was cut.

        Raises ToolError, TransientError.
        """

        def ask() -> State:
            with self._opened("GET", address) as answer:
                if answer.status == 404:
                    return State.ABSENT
                if answer.status != 200:
                    raise self._failure(_whole(answer), address)
                with _reader(content) as own:
                    state = _compared(answer, own, size_of(content))
                if state is State.OTHER and answer.headers.get_content_type() == "text/html":
                    raise ToolError(
                        f"{host_of(address)} answers with a web page where the file {address} belongs",
                        hint="check the address; a login page or a proxy may answer in the registry's place",
                    )
                return state

        return patiently(ask, self.session)

    def download(self, address: str, path: Path, *, accept: str = "*/*") -> bool:
        """Writes what is at `address` to `path`; returns whether anything is there. Raises ToolError."""

        def ask() -> bool:
            with self._opened("GET", address, headers={"Accept": accept}) as answer:
                if answer.status not in (200, 404):
                    raise self._failure(_whole(answer), address)
                with path.open("wb") as file:
                    shutil.copyfileobj(answer, file, CHUNK_BYTES)
                _refuse_cut(answer, path.stat().st_size)
                return bool(answer.status == 200)

        return patiently(ask, self.session)

    def send(
        self,
        method: str,
        address: str,
        body: Callable[[], IO[bytes]],
        *,
        size_bytes: int,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> HttpAnswer:
        """Sends a body, once, and returns the answer, with status 2xx or 412.

        Raises TransientError, ConflictError, ToolError.
        """
        with body() as content:
            sized = {"Content-Length": str(size_bytes), "Content-Type": "application/octet-stream", **headers}
            with self._opened(method, address, data=content, headers=sized) as opened:
                answer = _whole(opened)
        if 200 <= answer.status < 300 or answer.status == 412:
            return answer
        if answer.status == 409:
            raise ConflictError(_said(answer))
        raise self._failure(answer, address)

    @contextmanager
    def _opened(
        self, method: str, address: str, *, data: Any = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> Iterator[Any]:
        """The answer, with its body to be read; a reading request follows redirects. Raises TransientError for 429
        and 5xx, and where the connection is cut, ToolError for a redirect that is not followed."""
        first = address
        for _ in range(MOST_REDIRECTS + 1):
            own = {"User-Agent": f"mobpack/{__version__}", **headers}
            header = self.credentials.header(self.session.variables)
            if header and host_of(address) == host_of(first):  # credentials are for the registry alone
                own["Authorization"] = header
            asked = urllib_request.Request(address, data=data, method=method, headers=own)  # noqa: S310
            try:
                with _opener().open(asked, timeout=TIMEOUT_S) as answer:
                    if answer.status in REDIRECTS:
                        address = _followed(answer, address, method)
                        continue
                    _refuse_transient(answer, address)
                    yield answer
                    return
            except CUT as error:
                reason = getattr(error, "reason", error)
                if isinstance(reason, ssl.SSLCertVerificationError):
                    raise ToolError(
                        f"the certificate of {host_of(address)} is not trusted: {reason.verify_message}",
                        hint="check the address; set SSL_CERT_FILE if it is signed by an authority of your own",
                    ) from error
                raise TransientError(f"the connection to {host_of(address)} failed: {_cause(reason)}") from error
        raise ToolError(f"{first} redirects in a circle", hint="check the address")

    def _failure(self, answer: HttpAnswer, address: str) -> ToolError:
        host = host_of(address)
        if answer.status == 401 and (missing := self.credentials.missing(self.session.variables)):
            return ToolError(f"{host} asks for credentials (401)", hint=f"set the environment variable {missing}")
        if answer.status == 401:
            return ToolError(
                f"{host} does not accept the credentials (401): they are wrong or have expired",
                hint=f"make new ones there, set {self.credentials.wanted()}, and run the same command again",
            )
        if answer.status == 403:
            hint = f"it needs credentials that may publish there: {self.credentials.wanted()}"
            return ToolError(f"{host} refuses {address} (403): {_said(answer)}", hint=hint)
        if answer.status == 413:
            return ToolError(f"{address} is larger than {host} takes (413)", hint="raise the limit of the server")
        return ToolError(
            f"{host} refuses {address} ({answer.status}): {_said(answer)}",
            hint="see what the registry says; then run the same command again: it continues",
        )


def patiently(ask: Callable[[], Result], session: PublishingSession) -> Result:
    """The result of `ask`, which is tried up to five times while it raises TransientError, with growing waits or those
    that the registry asks for. Raises ToolError when it does not help, or when the wait is longer than two minutes."""
    for attempt in range(ATTEMPTS):
        try:
            return ask()
        except TransientError as error:
            wait(error, attempt, session)
    raise AssertionError("the last attempt returns or raises")


def wait(error: TransientError, attempt: int, session: PublishingSession) -> None:
    """Waits after the failed attempt with this number, from 0. Raises ToolError if it was the last, or the wait is too
    long."""
    wait_s = FIRST_WAIT_S * 2**attempt if error.wait_s is None else error.wait_s
    if attempt + 1 == ATTEMPTS:
        raise ToolError(f"{error.message}, {ATTEMPTS} times", hint="run the same command again: it continues")
    if wait_s > LONGEST_WAIT_S:
        raise ToolError(
            f"{error.message}, and asks to wait for {wait_s:.0f} s",
            hint="run the same command again after that time: it continues",
        )
    session.say(f"{error.message}; trying again in {wait_s:.0f} s")
    session.sleep(wait_s)


def _opener() -> urllib_request.OpenerDirector:
    """Without the handlers that follow redirects and raise errors for statuses."""
    made = urllib_request.OpenerDirector()
    for handler in (urllib_request.ProxyHandler(), urllib_request.HTTPHandler(), urllib_request.HTTPSHandler()):
        made.add_handler(handler)
    return made


def _followed(answer: Any, address: str, method: str) -> str:
    target = str(urljoin(address, answer.headers.get("Location", "")))
    if method != "GET":
        raise ToolError(
            f"{host_of(address)} redirects {method} to another address: {_without_query(target)}",
            hint="name the address that it redirects to, if you trust it: packages are sent nowhere else by themselves",
        )
    if urlsplit(address).scheme == "https" and urlsplit(target).scheme != "https":
        raise ToolError(f"{host_of(address)} redirects to an unencrypted address: {_without_query(target)}", hint=SAFE)
    if not is_safe(target):
        raise ToolError(f"{host_of(address)} redirects to {_without_query(target)}", hint=SAFE)
    return target


def _without_query(address: str) -> str:
    """Queries of redirects contain signatures."""
    return address.partition("?")[0]


def _refuse_transient(answer: Any, address: str) -> None:
    if answer.status == 429 or answer.status >= 500:
        reason = {429: "too many requests", 503: "not available"}.get(answer.status, answer.reason or "an error")
        wait_s = retry_after(answer.headers.get("Retry-After", ""), time.time())
        raise TransientError(
            f"{host_of(address)} answers {answer.status} ({reason})",
            wait_s=wait_s,
            is_refusal=answer.status in (429, 503),
        )


def retry_after(text: str, now_s: float) -> float | None:
    """The seconds that a header `Retry-After` asks to wait: a number, or a date; None for anything else."""
    if (seconds := whole_number(text.strip())) is not None:
        return float(max(seconds, 0))
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def _whole(answer: Any) -> HttpAnswer:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    body = answer.read(MAX_ANSWER_BYTES)
    if len(body) < MAX_ANSWER_BYTES:
        _refuse_cut(answer, len(body))
    return HttpAnswer(status=answer.status, headers=headers, body=body)


def _refuse_cut(answer: Any, found_bytes: int) -> None:
    """http.client says nothing where a body that is read in chunks ends early."""
    announced = whole_number(answer.headers.get("Content-Length", ""))
    if announced is not None and found_bytes < announced and answer.status != 304:
        raise ConnectionError("the answer ends early")


def _compared(answer: Any, own: IO[bytes], own_bytes: int) -> State:
    """Compares in chunks, up to the first difference."""
    found_bytes = 0
    while chunk := answer.read(CHUNK_BYTES):
        found_bytes += len(chunk)
        if own.read(len(chunk)) != chunk:
            return State.OTHER
    _refuse_cut(answer, found_bytes)
    return State.SAME if found_bytes == own_bytes else State.ABSENT


def _reader(content: bytes | Path) -> IO[bytes]:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def reader_of(content: bytes | Path) -> Callable[[], IO[bytes]]:
    return lambda: _reader(content)


def _said(answer: HttpAnswer) -> str:
    """The beginning of what a registry says, in one line; of a web page its words alone."""
    text = answer.body[: 16 * SHOWN].decode("utf-8", "replace")
    if "html" in answer.headers.get("content-type", ""):
        text = re.sub(r"(?s)<(style|script)\b.*?</\1>|<[^>]*>", " ", text)
    text = " ".join(text.split())
    return text[:SHOWN] or "it gives no reason"


def _cause(reason: object) -> str:
    strerror = getattr(reason, "strerror", None)
    if isinstance(reason, BrokenPipeError):
        return f"{strerror}, as where a server refuses an upload before its end, for its credentials or its size"
    return str(strerror or reason or type(reason).__name__)
