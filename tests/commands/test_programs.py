"""Programs that run beside this one: their messages, their end, and their libraries' output."""

import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest

from packager.core.errors import ConfigError, ModelError
from packager.core.parsing import Json
from packager.files.processes.channel import ChildProgram, CrashError, run_with_progress

Written = Callable[[str], Path]
HEAD = """\
import os, signal, sys, subprocess
from packager.core.errors import ConfigError
from packager.files.processes.channel import Channel
channel = Channel.taken_over()
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Makes a program that is sent `told`; gives a folder for its files."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "code"))
    (tmp_path / "code").mkdir()
    (tmp_path / "files").mkdir()

    def written(lines: str) -> Path:
        (tmp_path / "code" / "told.py").write_text(HEAD + dedent(lines), encoding="utf-8")
        return tmp_path / "files"

    return written


def run(folder: Path, seen: list[int]) -> Json:
    return run_with_progress("told", {"count": 2}, folder, seen.append, crash="it crashed", hint="mend it")


def test_progress_is_told_as_it_comes_and_the_last_answer_is_returned(program: Written) -> None:
    folder = program('channel.say({"done": 1}); channel.say({"done": 2}); channel.say({"ok": 3})')
    seen: list[int] = []
    assert run(folder, seen) == {"ok": 3}
    assert seen == [1, 2]


def test_what_a_program_says_has_failed_is_raised_here(program: Written) -> None:
    with pytest.raises(ConfigError, match="sample 3 is torn") as caught:
        run(program('channel.say_failure(ConfigError("sample 3 is torn", hint="mend the sample"))'), [])
    assert caught.value.hint == "mend the sample"


@pytest.mark.parametrize(
    ("name", "hint"), [("SIGSEGV", "mend it"), ("SIGKILL", "memory has probably run out: close other programs")]
)
def test_a_program_that_dies_of_a_signal_is_a_crash_with_its_name(program: Written, name: str, hint: str) -> None:
    with pytest.raises(ModelError, match=rf"it crashed \({name}\)") as caught:
        run(program(f"os.kill(os.getpid(), signal.{name})"), [])
    assert caught.value.hint == hint


def test_a_bug_of_a_program_comes_with_its_last_words_and_a_full_disk_as_such(program: Written) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run(program("1 / 0"), [])
    with pytest.raises(OSError, match="No space left") as caught:
        run(program('sys.exit("OSError: [Errno 28] No space left on device")'), [])
    assert caught.value.errno == errno.ENOSPC


def test_what_reads_requests_without_being_asked_finds_their_end(program: Written) -> None:
    assert run(program('channel.say({"requests": channel.requests.read()})'), []) == {"requests": ""}


def test_prints_are_no_answers_and_requests_are_read_by_nobody_else(program: Written) -> None:
    folder = program("""
        import json
        for line in channel.requests:
            print("library says hello")
            subprocess.run(["echo", "so does a program"])
            taken = sys.stdin.read() + subprocess.run(["cat"], capture_output=True, text=True).stdout
            channel.say({"asked": json.loads(line)["number"], "taken": taken})
    """)
    with ChildProgram(["-m", "told"], {}, folder) as running:
        assert [running.ask({"number": number}) for number in (1, 2)] == [
            {"asked": 1, "taken": ""},
            {"asked": 2, "taken": ""},
        ]
    assert (folder / "stderr.txt").read_text().count("library says hello") == 2
    assert running.process.returncode == 0


def test_a_request_to_a_program_that_died_names_the_signal(program: Written) -> None:
    folder = program("channel.requests.readline(); os.kill(os.getpid(), signal.SIGABRT)")
    with ChildProgram(["-m", "told"], {}, folder) as running:
        for _ in range(2):
            with pytest.raises(CrashError) as caught:
                running.ask({})
            assert caught.value.signal == "SIGABRT"


def test_a_program_is_gone_with_whatever_ends_its_use(program: Written) -> None:
    folder = program("channel.say({}); channel.requests.read()")
    with suppress(KeyboardInterrupt), ChildProgram(["-m", "told"], {}, folder) as running:
        running.answer()
        raise KeyboardInterrupt
    assert running.process.returncode == -9


def test_a_program_that_ends_without_an_answer_is_a_bug(program: Written) -> None:
    with (
        ChildProgram(["-m", "told"], {}, program("pass")) as running,
        pytest.raises(RuntimeError, match="without an answer"),
    ):
        running.answer()
