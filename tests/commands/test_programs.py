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


def test_progress_and_failures_of_programs_are_raised_here(program: Written) -> None:
    folder = program('channel.say({"done": 1}); channel.say({"done": 2}); channel.say({"ok": 3})')
    seen: list[int] = []
    assert run(folder, seen) == {"ok": 3}
    assert seen == [1, 2]
    with pytest.raises(ConfigError, match="sample 3 is torn") as caught:
        run(program('channel.say_failure(ConfigError("sample 3 is torn", hint="mend the sample"))'), [])
    assert caught.value.hint == "mend the sample"
    assert run(program('channel.say({"requests": channel.requests.read()})'), []) == {"requests": ""}


@pytest.mark.parametrize(
    ("name", "hint"), [("SIGSEGV", "mend it"), ("SIGKILL", "memory has probably run out: close other programs")]
)
def test_a_program_that_dies_of_a_signal_is_a_crash_with_its_name(program: Written, name: str, hint: str) -> None:
    with pytest.raises(ModelError, match=rf"it crashed \({name}\)") as caught:
        run(program(f"os.kill(os.getpid(), signal.{name})"), [])
    assert caught.value.hint == hint


def test_programs_that_die_or_answer_nothing_are_told(program: Written) -> None:
    folder = program("channel.requests.readline(); os.kill(os.getpid(), signal.SIGABRT)")
    with ChildProgram(["-m", "told"], {}, folder) as running:
        for _ in range(2):
            with pytest.raises(CrashError) as caught:
                running.ask({})
            assert caught.value.signal == "SIGABRT"
    folder = program("channel.say({}); channel.requests.read()")
    with suppress(KeyboardInterrupt), ChildProgram(["-m", "told"], {}, folder) as running:
        running.answer()
        raise KeyboardInterrupt
    assert running.process.returncode == -9
    with (
        ChildProgram(["-m", "told"], {}, program("pass")) as running,
        pytest.raises(RuntimeError, match="without an answer"),
    ):
        running.answer()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run(program("1 / 0"), [])
    with pytest.raises(OSError, match="No space left") as full:
        run(program('sys.exit("OSError: [Errno 28] No space left on device")'), [])
    assert full.value.errno == errno.ENOSPC


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
