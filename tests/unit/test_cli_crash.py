"""Crashes of mobpack itself: the user gets one sentence, exit code 70 and a crash file."""

import json
import tempfile
from pathlib import Path

import pytest

from packager.cli import crash
from packager.core.errors import InternalError, ToolError
from tests.cases.cli import Mobpack, mobpack
from tests.cases.cli_crash import plant

__all__ = ["mobpack"]

SECRET = "contents of a model " * 1000


class Panic(BaseException):
    """Simulates errors of compiled libraries, which are not always an Exception."""


@pytest.mark.parametrize(
    "error", [RecursionError, MemoryError, ZeroDivisionError, Panic, KeyError], ids=lambda error: error.__name__
)
def test_a_fault_is_one_sentence_and_a_crash_file(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    plant(monkeypatch, error)
    code, out, err = mobpack("inspect", "m.onnx")
    assert (code, out) == (70, "")
    assert "Traceback" not in err
    said, hint = err.splitlines()[-2:]
    assert said.startswith(f"mobpack: error: internal error in mobpack ({error.__name__}")
    path = Path(hint.removeprefix("hint: report it and attach "))
    assert path.parent == tmp_path / ".cache" / "mobpack" / "crashes"
    text = path.read_text()
    assert "Traceback (most recent call last)" in text
    assert "command: mobpack inspect m.onnx\n" in text
    assert all(name in text for name in ("mobpack ", "Python 3.", "onnxruntime ", "numpy "))


def test_with_json_the_error_is_on_standard_output(mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, MemoryError)
    code, out, _ = mobpack("inspect", "m.onnx", "--json")
    answer = json.loads(out)
    assert code == answer["error"]["exit-code"] == 70
    assert answer["schema-version"] == 1
    assert answer["error"]["message"] == "internal error in mobpack (MemoryError)"
    assert answer["error"]["hint"].startswith("report it and attach ")


@pytest.mark.parametrize("place", ["front", "end"])
def test_debug_prints_the_traceback(mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    plant(monkeypatch, ZeroDivisionError)
    command = ["inspect", "m.onnx"]
    code, _, err = mobpack(*(["--debug", *command] if place == "front" else [*command, "--debug"]))
    assert code == 70
    assert "Traceback (most recent call last)" in err
    assert "ZeroDivisionError" in err


def test_debug_shows_where_an_error_came_from_and_systems_refuse_in_words(mobpack: Mobpack) -> None:
    code, _, err = mobpack("inspect", "absent.onnx", "--debug")
    assert code == 3
    assert "FileNotFoundError" in err
    assert "absent.onnx: no such file or directory" in err
    told = crash.as_error(OSError(28, "No space left on device", "/x/y"), ["mobpack"])
    assert isinstance(told, ToolError)
    assert (told.message, told.hint) == ("/x/y: no space left on device", "free some space, then run again")


def test_a_crash_file_is_bounded_without_secrets(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, SECRET)
    code, _, err = mobpack("inspect", "m.onnx")
    assert code == 70
    assert len(err.splitlines()[-2]) < 300
    (path,) = (tmp_path / ".cache" / "mobpack" / "crashes").iterdir()
    assert path.stat().st_size < 20_000
    assert "characters omitted" in path.read_text()
    error: BaseException = ValueError("first")
    for number in range(1200):
        try:
            raise RuntimeError(f"number {number}") from error
        except RuntimeError as raised:
            error = raised
    text = crash.described(error, ["mobpack"])
    assert len(text) < 70_000
    assert "ValueError: first" in text
    assert "RuntimeError: number 1199" in text
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NPM_TOKEN", "t0ken-of-mine")
    crash.as_error(ZeroDivisionError("t0ken-of-mine"), ["mobpack", "https://me:t0ken-of-mine@example.com"])
    [written] = (tmp_path / "mobpack" / "crashes").iterdir()
    text = written.read_text(encoding="utf-8")
    assert "***" in text
    assert "t0ken-of-mine" not in text


def test_the_same_crash_is_kept_once_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert crash.write("one") == crash.write("one")
    for number in range(30):
        crash.write(f"crash {number}")
    assert len(list((tmp_path / "mobpack" / "crashes").iterdir())) == crash.KEPT


def test_a_temporary_folder_stands_in_for_a_cache_without_access(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = crash.write("text")
    assert path
    assert path.is_relative_to(tmp_path)
    assert path.read_text() == "text"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    told = crash.as_error(ValueError("x"), ["mobpack"])
    assert isinstance(told, InternalError)
    assert (
        told.hint == "the crash file could not be written; run the command again with --debug and report the traceback"
    )


def test_a_message_that_cannot_be_read_is_no_second_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert crash.as_error(OddError(), ["mobpack"]).EXIT_CODE == 70
