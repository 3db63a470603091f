"""ONNX Runtime's own archive for iOS is fetched from its address, and only its own bytes are accepted."""

import hashlib
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from packager.cli.runtime_xcframework import xcframework
from packager.core.errors import ToolError
from packager.files.processes import downloads
from packager.runtimes.operators import read_config
from packager.targets.xcframework import pinned
from tests.cases import xcframework_cases as cases
from tests.cases.disks import tiny_disk

LIBRARY = cases.archive(cases.code(kind=cases.OBJECT))


@pytest.fixture
def pinned_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bytes]:
    """Pins an archive of these bytes at the given address; the cache is new, and waits are short."""
    root = tmp_path / "served/onnxruntime.xcframework"
    (root / "ios-arm64").mkdir(parents=True)
    (root / "ios-arm64/libort.a").write_bytes(LIBRARY)
    cases.write_plist(root, cases.entry("ios-arm64", LibraryPath="libort.a", BinaryPath="libort.a"))
    content = cases.zipped(root, tmp_path / "served.zip").read_bytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setitem(downloads.pins()["ios"], "checksum", hashlib.sha256(content).hexdigest())

    def pin(url: str) -> bytes:
        monkeypatch.setitem(downloads.pins()["ios"], "archive", url)
        return content

    return pin


def test_operators_come_with_the_runtime_that_has_them(tmp_path: Path, pinned_zip: Callable[[str], bytes]) -> None:
    by_hand = tmp_path / "by-hand.zip"
    by_hand.write_bytes(pinned_zip(""))
    shown = CliRunner().invoke(xcframework, [str(by_hand), "--out", str(tmp_path / "out.xcframework"), "--json"])
    assert json.loads(shown.stdout)["config"] == str(tmp_path / "out.config")
    text = (tmp_path / "out.config").read_text(encoding="utf-8")
    assert text == "!no_ops_specified_means_all_ops_are_required\n"
    assert read_config(tmp_path / "out.config").has_all_operators
    (tmp_path / "by-hand.zip").write_bytes(pinned_zip(""))
    (tmp_path / "out.config").write_text("ai.onnx;13;Add\n", encoding="utf-8")
    shown = CliRunner().invoke(xcframework, [str(tmp_path / "by-hand.zip"), "--out", str(tmp_path / "out.xcframework")])
    assert "out.config belongs to another runtime" in " ".join(shown.output.split())
    assert (tmp_path / "out.config").read_text(encoding="utf-8") == "ai.onnx;13;Add\n"


Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


@contextmanager
def serving(*answers: Answer) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that gives these answers in turn, the last for ever, and its list of requests."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["User-Agent"])
            answers[min(len(asked), len(answers)) - 1](self)

        def log_message(self, *words: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/runtime.zip", asked
        finally:
            server.shutdown()
            thread.join()


def gives(content: bytes, *, promised: int = 0) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(promised or len(content)))
        request.end_headers()
        request.wfile.write(content)

    return answer


def fails(status: int) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_error(status)

    return answer


def cached(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache/mobpack/files").iterdir())


def run(tmp_path: Path) -> Result:
    return CliRunner().invoke(xcframework, ["--out", str(tmp_path / "out.xcframework")])


def refusal(tmp_path: Path) -> ToolError:
    """The command's error message."""
    error = run(tmp_path).exception
    assert isinstance(error, ToolError)
    return error


def silent(done: int, total: int) -> None:
    pass


def test_without_an_archive_the_pinned_one_is_fetched_once(tmp_path: Path, pinned_zip: Callable[[str], bytes]) -> None:
    with serving(gives(pinned_zip(""))) as (url, asked):
        pinned_zip(url)
        for _ in range(2):
            shown = run(tmp_path)
            assert shown.exit_code == 0, shown.output
    assert (tmp_path / "out.xcframework/ios-arm64/libonnxruntime.a").read_bytes() == LIBRARY
    assert len(asked) == 1
    assert asked[0].startswith("mobpack/")


def test_other_bytes_than_the_pinned_ones_are_refused(tmp_path: Path, pinned_zip: Callable[[str], bytes]) -> None:
    with serving(gives(b"another file")) as (url, _):
        pinned_zip(url)
        with pytest.raises(ToolError, match=r"is not the pinned file: sha256 [0-9a-f]{64}, expected"):
            pinned.archive(silent)
    assert cached(tmp_path) == []


def test_a_damaged_archive_in_the_cache_is_fetched_again(tmp_path: Path, pinned_zip: Callable[[str], bytes]) -> None:
    content = pinned_zip("")
    with serving(gives(content)) as (url, asked):
        pinned_zip(url)
        pinned.archive(silent).write_bytes(b"damaged")
        assert pinned.archive(silent).read_bytes() == content
    assert len(asked) == 2


def test_a_server_that_answers_the_third_time_is_enough(tmp_path: Path, pinned_zip: Callable[[str], bytes]) -> None:
    content = pinned_zip("")
    parts: list[tuple[int, int]] = []
    with serving(fails(503), gives(content[:100], promised=len(content)), gives(content)) as (url, asked):
        pinned_zip(url)
        path = pinned.archive(lambda done, total: parts.append((done, total)))
    assert path.read_bytes() == content
    assert len(asked) == 3
    assert parts[-1] == (len(content), len(content))


@pytest.mark.parametrize(
    ("answer", "words", "times"),
    [
        (fails(404), "the server answers 404 Not Found", 1),
        (fails(500), "the server answers 500", 3),
        (gives(b"half", promised=9), "the connection ended after 4 of 9 bytes", 3),
    ],
)
def test_a_server_that_does_not_serve_is_said_so(
    tmp_path: Path, pinned_zip: Callable[[str], bytes], answer: Answer, words: str, times: int
) -> None:
    with serving(answer) as (url, asked):
        pinned_zip(url)
        error = refusal(tmp_path)
    assert error.message.startswith(f"cannot download {url}: {words}")
    assert error.EXIT_CODE == 4
    assert len(asked) == times
    assert cached(tmp_path) == []


def test_a_host_out_of_reach_is_told_with_a_way_out(tmp_path: Path, pinned_zip: Callable[[str], bytes]) -> None:
    with serving(fails(500)) as (url, _):
        pass  # what it listened on is free, and closed, now
    pinned_zip(url)
    error = refusal(tmp_path)
    assert error.message.startswith(f"cannot download {url}: ")
    assert "refused" in error.message
    assert error.hint.endswith("download it elsewhere and run: mobpack runtime xcframework FILE.zip")
    assert error.EXIT_CODE == 4
    assert not (tmp_path / "out.xcframework").exists()


def test_a_full_cache_is_told(
    tmp_path: Path, pinned_zip: Callable[[str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "disk"))
    with tiny_disk(tmp_path / "disk"), serving(gives(bytes(200_000))) as (url, asked):
        pinned_zip(url)
        with pytest.raises(ToolError, match=r"cannot write to .*: No space left"):
            pinned.archive(silent)
    assert len(asked) == 1
