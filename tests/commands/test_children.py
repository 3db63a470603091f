"""One module starts programs: in folders of their own, without the user's modules, and all end with mobpack."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from packager.files.processes import children
from packager.files.processes.groups import Groups
from tests.cases.waiting import HANGS_S, until

"""Longest time until a killed process is gone; tests poll for it."""


def test_programs_run_in_empty_folders_and_print_what_they_like() -> None:
    done = children.run([*children.python(), "-c", "import os; print(os.getcwd(), os.listdir())"])
    folder, _, content = done.stdout.strip().partition(" ")
    assert content == "[]"
    assert not Path(folder).exists()
    assert children.run(["printf", r"a\377b"]).stdout == "a�b"


def test_what_a_program_has_started_ends_with_it(tmp_path: Path) -> None:
    process = children.start(["sh", "-c", "sleep 600 & echo $!; wait"], tmp_path)
    assert process.stdout
    with process.stdout, process.stderr or process.stdout:
        grandchild = int(process.stdout.readline())
        assert is_running(grandchild)
        children.end(process)
    assert_gone([process.pid, grandchild])


PARENT = """
import sys, time
from pathlib import Path
from packager.files.processes import children
first = children.start(["sh", "-c", "sleep 600 & echo $!; wait"], Path("/"))
second = children.start(["sleep", "600"], Path("/"))
ended = children.start(["sleep", "600"], Path("/"))
children.end(ended)
print(first.pid, first.stdout.readline().strip(), second.pid, children._groups._guard.pid, flush=True)
{then}
print("ready", flush=True)
time.sleep({seconds})
sys.exit(3)
"""


@pytest.mark.parametrize(
    ("then", "code"),
    [
        ("", -signal.SIGKILL),
        ("", 3),
        (
            "guard = children._groups._guard; guard.kill(); guard.wait(); children.start(['true'], Path('/'))",
            -signal.SIGKILL,
        ),
    ],
    ids=["killed", "ended by itself", "killed after its guard was"],
)
def test_programs_end_with_mobpack_however_that_ends(then: str, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT.format(then=then, seconds=600 if code < 0 else 0)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as parent:
        assert parent.stdout
        numbers = [int(word) for word in parent.stdout.readline().split()]
        assert len(numbers) == 4
        if code < 0:
            assert parent.stdout.readline() == "ready\n"
            assert all(map(is_running, numbers[:3]))
            parent.kill()
        assert parent.wait(HANGS_S) == code
    assert_gone(numbers)


COPY = """
import os, time
from pathlib import Path
from packager.files.processes import children
children.run(["true"])  # this process has a guard now
copy = os.fork()
if not copy:
    program = children.start(["sleep", "600"], Path("/"))
    print(os.getpid(), program.pid, children._groups._guard.pid, flush=True)
time.sleep(600)
"""


def test_programs_of_a_copy_of_mobpack_end_with_the_copy() -> None:
    """Not only with the process that was copied."""
    with subprocess.Popen([sys.executable, "-c", COPY], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        copy, *numbers = (int(word) for word in parent.stdout.readline().split())
        try:
            assert all(map(is_running, numbers))
            os.kill(copy, signal.SIGKILL)
            assert_gone(numbers)
            assert parent.poll() is None
        finally:
            parent.kill()


def test_the_guard_runs_before_the_program_that_it_watches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """mobpack may be killed between the two."""
    guards: list[object] = []
    groups = Groups()
    monkeypatch.setattr(children, "_groups", groups)
    monkeypatch.setattr(groups, "watch", lambda process: guards.append(groups._guard))
    nothing = subprocess.DEVNULL
    children.end(children.start(["true"], tmp_path, stdin=nothing, stdout=nothing, stderr=nothing))
    assert len(guards) == 1
    assert isinstance(guards[0], subprocess.Popen)


COMPILE = """
import subprocess
import sys
from pathlib import Path
from packager.targets.kotlin import kotlin
folder = Path(sys.argv[1])
communicate = subprocess.Popen.communicate

def told(process, *arguments, **named):
    print("waiting", flush=True)  # for the compiler, whose group the guard knows by now
    return communicate(process, *arguments, **named)

subprocess.Popen.communicate = told
kotlin.find_compiler = lambda: kotlin.Compiler(java=folder / "java", java_home=folder, jars=(), stdlib=folder)
kotlin.compile_kotlin({"A.kt": "class A"}, module_name="m", work=folder)
"""


def test_a_killed_build_leaves_no_compiler_running(tmp_path: Path) -> None:
    """The compiler here never ends, and starts a program of its own."""
    java, told = tmp_path / "java", tmp_path / "numbers.txt"
    java.write_text(f"#!/bin/sh\nsleep 600 &\necho $$ $! > {told}.new\nmv {told}.new {told}\nwait\n", encoding="utf-8")
    java.chmod(0o755)
    with subprocess.Popen([sys.executable, "-c", COMPILE, str(tmp_path)], stdout=subprocess.PIPE) as build:
        assert build.stdout
        assert build.stdout.readline() == b"waiting\n"
        until(told.exists)
        numbers = [int(word) for word in told.read_text(encoding="utf-8").split()]
        assert all(map(is_running, numbers))
        build.kill()
    assert_gone(numbers)


def is_running(number: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def assert_gone(numbers: list[int]) -> None:
    until(lambda: not any(map(is_running, numbers)))
