"""`tests/toolchain/forks.py`: a fork does, says and ends as the program that it stands for."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from packager.compile.compile import compile_variant
from packager.core.errors import InternalError, ModelError
from packager.core.values import baseline
from packager.files.processes import channel, children, commands
from packager.files.store import Store
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, loaded, saved
from tests.toolchain import command, forks
from tests.toolchain.forks import forked

__all__ = ["forked"]


PATIENCE_S = 60
"""Time that a fork has to say something, or to end."""

PROGRAM = """
import json, os, sys
print(json.dumps([os.getcwd(), sys.argv, os.environ["TOLD"], "onnxruntime" in sys.modules]))
sys.stderr.write("complaint")
sys.exit(7)
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


@contextmanager
def patience() -> Iterator[None]:
    """Fails where a fork lets the test wait: some of them run for 600 s if nothing ends them."""

    def fail(number: int, frame: object) -> None:
        pytest.fail(f"a fork has neither said anything nor ended for {PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_a_fork_has_folder_arguments_variables_streams_and_code(tmp_path: Path) -> None:
    program = write(tmp_path, PROGRAM)
    with patience():
        done = children.run([*forks.shared(), program, "one"], folder=tmp_path, environment={"TOLD": "yes"})
    assert done.stdout == f'["{tmp_path}", ["{program}", "one"], "yes", true]\n'
    assert (done.stderr, done.returncode) == ("complaint", 7)
    assert "TOLD" not in os.environ


def test_a_fork_finds_modules_where_its_own_variable_says(tmp_path: Path) -> None:
    program = ["-m", write(tmp_path, "print('found')").stem]
    with patience():
        done = children.run([*forks.shared(), *program], environment={"PYTHONPATH": str(tmp_path)})
        lost = children.run([*forks.shared(), *program])
    assert (done.stdout, done.returncode) == ("found\n", 0), done.stderr
    assert "No module named" in lost.stderr


def test_a_server_that_has_ended_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is one for all tests of a process: with the next one, they pass again."""
    with (
        subprocess.Popen(["false"], stdin=subprocess.PIPE) as first,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE) as second,
    ):
        first.wait()
        servers = iter([first, second])
        monkeypatch.setattr(forks, "_shared", cache(lambda: (("client",), next(servers))))
        with pytest.raises(AssertionError, match="has ended, with 1"):
            forks.shared()
        assert forks.shared() == ("client",)


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL"])
def test_a_signal_that_ends_a_fork_is_seen_as_ever(tmp_path: Path, name: str) -> None:
    program = write(tmp_path, f"import os, signal\nos.kill(os.getpid(), signal.{name})\n")
    with pytest.raises(ModelError, match=rf"it crashed \({name}\)"):
        commands.run_job([program], {}, tmp_path, crash="it crashed", hint="")


STARTING = """
import json, os, signal, subprocess, time

started = subprocess.Popen(["sleep", "600"])
signals = [signal.getsignal(each).name for each in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM)]
print(json.dumps([os.getpid(), started.pid, os.getpgid(0), os.getpgid(started.pid), signals]), flush=True)
time.sleep(600)
"""


def test_a_fork_ends_with_its_client_and_what_it_started(tmp_path: Path) -> None:
    with children.start([*forks.shared(), write(tmp_path, STARTING)], tmp_path, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        try:
            with patience():
                own, started, *groups, signals = json.loads(process.stdout.readline())
        finally:
            children.end(process)
    assert process.returncode == -signal.SIGKILL
    assert left_of([own, started]) == []
    assert process.pid not in (own, os.getpid())
    assert groups == [process.pid] * 2
    assert signals == ["SIG_DFL"] * 3


TESTS = """
import sys, time
from pathlib import Path
from packager.files.processes import children
from tests.toolchain import forks

with forks.served() as (client, server):
    running = children.start([*client, sys.argv[1]], Path("/"))
    print(server.pid, running.stdout.readline().strip(), flush=True)
    time.sleep(600)
"""
"""A process of tests with a fork, which runs for 600 s."""


def test_the_server_ends_with_the_tests_however_they_end(tmp_path: Path) -> None:
    program = write(tmp_path, "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    tests = subprocess.Popen(
        [sys.executable, "-c", TESTS, program], cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True
    )
    assert tests.stdout
    pids = [int(each) for each in tests.stdout.readline().split()]
    tests.kill()
    tests.wait()
    tests.stdout.close()
    assert len(pids) == 2
    assert left_of(pids) == []


LATE = """
import os, time
from pathlib import Path

os.setsid()
print("left", flush=True)
time.sleep(1)
Path("late").touch()
"""


def test_the_server_ends_after_its_forks(tmp_path: Path) -> None:
    """Also after one that nobody waits for any more: it has left the group with which its client ends."""
    program = write(tmp_path, LATE)
    with (
        forks.served() as (client, server),
        children.start([*client, program], tmp_path, stderr=subprocess.DEVNULL) as process,
    ):
        assert process.stdout
        assert process.stdout.readline() == "left\n"
        children.end(process)
    assert server.returncode == 0
    assert (tmp_path / "late").exists()


def left_of(pids: Sequence[int]) -> Sequence[int]:
    """The processes that still run after PATIENCE_S, without those that nobody has waited for."""
    deadline = time.monotonic() + PATIENCE_S
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def is_running(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_fork_converts_to_the_bytes_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for name in ("fork", "program"):
        variant = baseline(loaded(tmp_path, linear()))
        made.append(compile_variant(variant, Store(tmp_path / name)).path.read_bytes())
        monkeypatch.setattr(commands, "python", children.python)
    assert made[0] == made[1]


ASKING = """
import json, os, sys
from packager.files.processes import children, commands
print(json.dumps([os.getpid(), "onnxruntime" in sys.modules, hash("a")]), flush=True)
if len(sys.argv) > 1:
    done = children.run([*commands.python(), sys.argv[1]])
    print(done.stdout, end="")
"""
"""Tells of itself, and has another program tell the same."""


def test_programs_of_a_fork_are_forks_of_a_server_with_its_own_variables(tmp_path: Path) -> None:
    program, told = write(tmp_path, ASKING), []
    for seed in ("1", "2"):
        with forks.served(environment={"PYTHONHASHSEED": seed}) as (client, _):
            done = children.run([*client, program, program])
        told.append([json.loads(line) for line in done.stdout.splitlines()])
    (one, other), (third, fourth) = told
    assert len({pid for pid, *_ in (one, other, third, fourth)}) == 4
    assert one[1:] == other[1:]
    assert third[1:] == fourth[1:]
    assert one[1]
    assert one[2] != third[2]


def test_programs_of_a_command_are_forks_where_those_of_the_tests_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command whose programs ask a server that is not there cannot compare a model with its quantized form."""
    saved(tmp_path / "model.onnx", linear())
    variables = {**os.environ, "XDG_CACHE_HOME": str(empty_cache(tmp_path / "cache"))}
    nowhere = (*forks.shared()[:-1], str(tmp_path / "nowhere"))
    monkeypatch.setattr(channel, "python", lambda: nowhere)
    arguments = ("quantize", "model.onnx", "--quantizer", "dynamic")
    done = command.run(*arguments, folder=tmp_path, environment=variables)
    assert (done.returncode, "_child.py failed" in done.stderr) == (InternalError.EXIT_CODE, True), done.stderr
    monkeypatch.setattr(channel, "python", forks.shared)
    assert command.run(*arguments, folder=tmp_path, environment=variables).returncode == 0


def test_a_command_fails_whose_server_has_ended_and_the_next_has_another_one(tmp_path: Path) -> None:
    assert command.run("--version", folder=tmp_path).returncode == 0
    command._server().process.kill()
    command._server().process.wait()
    with pytest.raises(AssertionError, match=r"the server of commands has ended, with -9"):
        command.run("--version", folder=tmp_path)
    assert command.run("--version", folder=tmp_path).returncode == 0
