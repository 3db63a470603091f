"""Files of web servers: what an honest one sends, and no more than is asked for of a hostile one."""

import time
import tracemalloc
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from packager.files import web
from packager.files.web import WebFiles
from tests.cases.waiting import HANGS_S
from tests.cases.web_servers import HOSTILE, Answer, serving

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "a#file").write_bytes(CONTENT)
    (tmp_path / "empty").write_bytes(b"")
    return tmp_path


def in_part(request: BaseHTTPRequestHandler) -> None:
    """As servers with ranges answer; that of tests ignores them."""
    start, end = map(int, request.headers["Range"].removeprefix("bytes=").split("-"))
    request.send_response(206)
    request.send_header("Content-Length", str(end - start + 1))
    request.end_headers()
    request.wfile.write(CONTENT[start : end + 1])


def beyond(request: BaseHTTPRequestHandler) -> None:
    request.send_error(416)


@pytest.mark.parametrize("answers", [{}, {"file": in_part}], ids=["whole", "ranges"])
@pytest.mark.parametrize(("start", "limit"), [(0, 1000), (1000, 7), (255_000, 1000), (0, 1 << 20)])
def test_a_part_is_the_one_asked_for(files: Path, answers: dict[str, Answer], start: int, limit: int) -> None:
    with serving(files, answers) as url:
        read = WebFiles(root=url).read("a folder/a#file", start=start, limit_bytes=limit)
    assert read == CONTENT[start : start + limit]


def test_what_is_not_there_and_what_has_no_such_part(files: Path) -> None:
    with serving(files, {"beyond": beyond}) as url:
        found = WebFiles(root=url)
        assert (found.size_of("a folder/a#file"), found.size_of("absent"), found.size_of("empty")) == (256_000, None, 0)
        with pytest.raises(FileNotFoundError):
            found.read("absent", limit_bytes=1)
        assert found.read("beyond", start=5, limit_bytes=1) == b""
        assert found.read("empty", limit_bytes=10) == b""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_takes_little_memory_and_time(files: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(web, "PATIENCE_S", 1.0)
    with serving(files, {"name": HOSTILE[name]}) as url:
        tracemalloc.start()
        began = time.monotonic()
        try:
            content = WebFiles(root=url).read("name", limit_bytes=100_000)
        except OSError:
            content = b""
        taken_s, (_, peak_bytes) = time.monotonic() - began, tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert content in (b"", bytes(100_000))
    assert taken_s < HANGS_S
    assert peak_bytes < 8 << 20


def test_a_trickle_is_given_up(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte at a time, each before the limit of silence."""

    def trickle(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
        while True:
            request.wfile.write(b"x")
            time.sleep(0.05)

    monkeypatch.setattr(web, "PATIENCE_S", 0.5)
    with serving(files, {"name": trickle}) as url, pytest.raises(TimeoutError, match="less than"):
        WebFiles(root=url).read("name", limit_bytes=100_000)
