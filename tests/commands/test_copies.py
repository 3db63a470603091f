"""Programs of mobpack run in a copy of this process where one is sound, and in a new process elsewhere."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cases.onnx_text import linear, saved
from tests.cases.waiting import HANGS_S, until
from tests.commands.test_children import assert_gone, is_running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")

PROGRAM = """
import json, os, signal, sys, time
from pathlib import Path
import shared

def main():
    shared.value += 1
    what = sys.argv[1]
    if what == "raise":
        raise ValueError("no such shape")
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "wait":
        place = Path(sys.argv[2])
        place.with_suffix(".new").write_text(str(os.getpid()))
        place.with_suffix(".new").rename(place)
        time.sleep(600)
    print(json.dumps({
        "pid": os.getpid(), "parent": os.getppid(), "group": os.getpgid(0), "folder": os.getcwd(),
        "arguments": sys.argv, "value": shared.value, "input": sys.stdin.read(),
        "files": len(os.listdir("/proc/self/fd")), "telemetry": os.environ["ORT_DISABLE_TELEMETRY"],
        "interrupts": signal.getsignal(signal.SIGINT) is signal.SIG_DFL,
        "blocked": [int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
    }))
    print("a warning", file=sys.stderr)

if __name__ == "__main__":
    main()
"""
SHARED = "value = 1\n"
"""A module that the process has before it is copied."""


def in_python(folder: Path, text: str, *arguments: str) -> "subprocess.Popen[str]":
    """A process with one thread that runs `text`, with the program `told` on its module path."""
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "shared.py").write_text(SHARED, encoding="utf-8")
    head = (
        "import json, os, sys\nfrom pathlib import Path\nimport shared\nfrom packager.files.processes import copies\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(text), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer_of(folder: Path, text: str, *arguments: str) -> object:
    """The JSON that the process prints."""
    with in_python(folder, text, *arguments) as process:
        output, complaints = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0, complaints
    return json.loads(output)


RUN = """
    assert copies.are_sound()
    with open(os.devnull) as file:
        done = copies.run("program", sys.argv[1:], Path(sys.argv[2]))
    print(json.dumps([done.returncode, done.stdout, done.stderr, shared.value, os.getpid(), done.args]))
"""


def test_a_process_without_standard_files_has_copies_with_them(tmp_path: Path) -> None:
    text = """
    os.close(0)
    os.close(2)
    sys.stdout = os.fdopen(1, "w")  # the copy must not close it for want of a use
    done = copies.run("program", ["answer"], Path("/"))
    print(json.dumps([done.returncode, json.loads(done.stdout)["input"], done.stderr]))
    """
    assert answer_of(tmp_path, text) == [0, "", "a warning\n"]


def run(folder: Path, *arguments: str) -> Sequence[object]:
    found = answer_of(folder, RUN, *arguments, str(folder))
    assert isinstance(found, list)
    return found


def test_a_copy_is_a_process_of_its_own_that_begins_with_what_this_one_knows(tmp_path: Path) -> None:
    code, output, complaints, value, parent, arguments = run(tmp_path, "answer")
    assert (code, complaints, value) == (0, "a warning\n", 1)
    assert arguments == ["program", "answer", str(tmp_path)]
    told = json.loads(str(output))
    assert told.pop("pid") == told.pop("group") != parent
    assert told == {
        "parent": parent,
        "folder": str(tmp_path),
        "arguments": arguments,
        "value": 2,
        "input": "",
        "files": 4,  # the standard ones, and the folder that is read
        "telemetry": "1",
        "interrupts": True,
        "blocked": [],
    }


@pytest.mark.parametrize(
    ("how", "code", "words"), [("raise", 1, "ValueError: no such shape\n"), ("crash", -signal.SIGSEGV, "")]
)
def test_a_copy_that_fails_does_so_alone(tmp_path: Path, how: str, code: int, words: str) -> None:
    found, output, complaints, value, *_ = run(tmp_path, how)
    assert (found, output, value) == (code, "", 1)
    assert str(complaints).endswith(words)
    assert bool(words) == bool(complaints)


WAIT = """
    try:
        copies.run("program", ["wait", sys.argv[1]], Path("/"))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_copy_ends_with_this_process(tmp_path: Path, number: signal.Signals) -> None:
    told = tmp_path / "number.txt"
    with in_python(tmp_path, WAIT, str(told)) as process:
        until(told.exists)
        copy = int(told.read_text(encoding="utf-8"))
        assert is_running(copy)
        process.send_signal(number)
        output, _ = process.communicate(timeout=HANGS_S)
    assert (process.returncode, output) == ((0, "interrupted\n") if number == signal.SIGINT else (-number, ""))
    assert_gone([copy])


FAIL = """
    import errno, signal
    from packager.files.processes import children
    def fail(copy=None):
        shared.value = copy and copy.pid
        raise OSError(errno.EAGAIN, "too many processes")
    if sys.argv[1] == "fork":
        os.fork = fail
    else:
        children.groups().watch = fail
    try:
        copies.run("program", ["wait", sys.argv[2]], Path("/"))
    except OSError as error:
        blocked = [int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, [])]
        print(json.dumps([error.strerror, blocked, shared.value]))
"""


@pytest.mark.parametrize("what", ["fork", "watch"])
def test_a_copy_that_cannot_be_made_or_watched_is_not_left_and_ctrl_c_still_works(tmp_path: Path, what: str) -> None:
    found = answer_of(tmp_path, FAIL, what, str(tmp_path / "number.txt"))
    assert isinstance(found, list)
    complaint, blocked, number = found
    assert (complaint, blocked) == ("too many processes", [])
    assert (number is None) == (what == "fork")
    assert_gone([number] if number else [])


def test_a_process_with_several_threads_is_not_copied(tmp_path: Path) -> None:
    text = """
    import threading
    before, ended = copies.are_sound(), threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    during = copies.are_sound()
    ended.set()
    thread.join()
    print(json.dumps([before, during]))
    """
    assert answer_of(tmp_path, text) == [True, False]


JOB = """
    from packager.files.processes import commands
    shared.value = 5
    for may_be_copied in (True, False):
        answer = commands.run_job(
            ["-m", "program"], {}, Path(sys.argv[1]), crash="it crashed", hint="", may_be_copied=may_be_copied
        )
        print(answer["value"], answer["group"] == answer["pid"], Path(answer["arguments"][1]).name)
"""


def test_a_job_that_may_be_copied_is(tmp_path: Path) -> None:
    with in_python(tmp_path, JOB, str(tmp_path)) as process:
        output, complaints = process.communicate(timeout=HANGS_S)
    assert output.splitlines() == ["6 True job.json", "2 True job.json"], complaints


CONVERT = """
    from packager import models
    from packager.compile import compile
    from packager.core.values import baseline
    from packager.files.store import Store
    shared.value = 0
    run = copies.run
    def counted(*arguments):
        shared.value += 1
        return run(*arguments)
    copies.run = counted
    path = Path(sys.argv[1])
    variant = baseline(models.hashed(models.load(path, "model")))
    found = []
    for number, limit in enumerate((compile.LARGE_BYTES, 0)):
        compile.LARGE_BYTES = limit
        made = compile.compile_variant(variant, Store(path.with_name(f"store-{number}")))
        found.append([made.sha256, shared.value])
    print(json.dumps(found))
"""


def test_small_models_are_converted_in_a_copy_to_the_same_bytes(tmp_path: Path) -> None:
    found = answer_of(tmp_path, CONVERT, str(saved(tmp_path / "model.onnx", linear())))
    assert isinstance(found, list)
    (copied, first), (started, second) = found
    assert (first, second) == (1, 1)
    assert copied == started
