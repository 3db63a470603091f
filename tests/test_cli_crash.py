"""Crashes of mobpack itself: the user gets one sentence, exit code 70 and a crash file."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

from packager import models
from packager.cli import crash
from packager.core.errors import InternalError, ToolError
from packager.distribution import release
from tests.caches import empty_cache
from tests.onnx_text import linear, saved
from tests.test_cli import Mobpack, mobpack

__all__ = ["mobpack"]

SECRET = "contents of a model " * 1000


def nested(depth: int) -> int:
    return nested(depth + 1) + 1


def plant(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | str, module: ModuleType = models, name: str = "load"
) -> None:
    """Plant a fault in the function `name`."""

    def fail(*_args: object, **_names: object) -> None:
        if isinstance(error, str):
            raise RuntimeError(error)
        if error is RecursionError:
            nested(0)
        raise error

    monkeypatch.setattr(module, name, fail)


class Panic(BaseException):
    """Stands for errors of compiled libraries, which are not always an Exception."""


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


@pytest.mark.processes
def test_a_fault_at_the_end_of_a_build_leaves_nothing_half_written(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, MemoryError, release, "manifest")
    saved(tmp_path / "m.onnx", linear())
    code, _, err = mobpack("build", "m.onnx", "-t", "ios", "--set", "target.ios.providers=[]")
    assert (code, "internal error in mobpack (MemoryError)" in err) == (70, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".cache", "m.onnx"]
    assert list((tmp_path / ".cache" / "mobpack" / "store" / "scratch").iterdir()) == []


def test_with_json_the_error_is_on_standard_output_as_other_errors_are(
    mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_debug_shows_where_an_error_in_words_came_from(mobpack: Mobpack) -> None:
    code, _, err = mobpack("inspect", "absent.onnx", "--debug")
    assert code == 3
    assert "FileNotFoundError" in err
    assert "absent.onnx: no such file or directory" in err


def test_a_crash_file_is_bounded_and_without_what_a_message_quotes_of_a_model(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, SECRET)
    code, _, err = mobpack("inspect", "m.onnx")
    assert code == 70
    assert len(err.splitlines()[-2]) < 300
    (path,) = (tmp_path / ".cache" / "mobpack" / "crashes").iterdir()
    assert path.stat().st_size < 20_000
    assert "characters omitted" in path.read_text()


def test_a_traceback_of_thousands_of_functions_is_cut_in_the_middle() -> None:
    error: BaseException = ValueError("first")
    for number in range(3000):
        try:
            raise RuntimeError(f"number {number}") from error
        except RuntimeError as raised:
            error = raised
    text = crash.described(error, ["mobpack"])
    assert len(text) < 70_000
    assert "ValueError: first" in text
    assert "RuntimeError: number 2999" in text


def test_the_same_crash_is_kept_once_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert crash.write("one") == crash.write("one")
    for number in range(30):
        crash.write(f"crash {number}")
    assert len(list((tmp_path / "mobpack" / "crashes").iterdir())) == crash.KEPT


def test_where_the_cache_cannot_be_written_a_temporary_folder_takes_the_file(
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


def test_what_the_operating_system_refuses_is_no_fault_of_mobpacks() -> None:
    told = crash.as_error(OSError(28, "No space left on device", "/x/y"), ["mobpack"])
    assert isinstance(told, ToolError)
    assert (told.message, told.hint) == ("/x/y: no space left on device", "free some space, then run again")


def started(folder: Path, *arguments: str, stdout: int) -> subprocess.CompletedProcess[str]:
    saved(folder / "m.onnx", linear())
    return subprocess.run(
        [sys.executable, "-m", "packager.cli", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(empty_cache(folder / "cache"))},
        check=False,
    )


@pytest.mark.programs
@pytest.mark.parametrize("arguments", [("inspect", "m.onnx"), ("inspect", "m.onnx", "--json"), ("--help",)])
def test_output_that_nobody_reads_ends_the_command_without_a_word(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = started(tmp_path, *arguments, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.programs
def test_output_that_cannot_be_written_is_an_error_in_words(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    done = started(tmp_path, "inspect", "m.onnx", stdout=full)
    os.close(full)
    assert done.returncode == 4
    assert done.stderr == "mobpack: error: no space left on device\nhint: free some space, then run again\n"


@pytest.mark.programs
def test_a_file_name_that_is_no_text_is_shown_all_the_same(tmp_path: Path) -> None:
    done = started(tmp_path, "inspect", os.fsdecode(b"\xff.onnx"), "--json", stdout=subprocess.PIPE)
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"]["message"].startswith("\udcff.onnx: no such file")


INTERRUPTED = "mobpack: interrupted; no output was changed\n"
INTERRUPTED_ON_IMPORT = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)
except KeyboardInterrupt:
    raise {error} from None
"""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("module", "error", "code", "said"),
    [
        ("click", "SystemExit('the interrupt was raised')", -signal.SIGINT, ""),
        ("onnxruntime", "ImportError('import numpy failed')", 130, INTERRUPTED),
    ],
    ids=["before-it-begins", "in-a-compiled-module"],
)
def test_an_interrupt_while_modules_are_imported_is_no_crash(
    module: str, error: str, code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / f"{module}.py").write_text(INTERRUPTED_ON_IMPORT.format(error=error), encoding="utf-8", newline="\n")
    done = subprocess.run(
        [sys.executable, "-m", "packager", "doctor"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, said)
