"""Java programs of tests run in processes that stay, and print what they print in one of their own."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from packager.measuring.devices.android_tools import JAVA_FLAGS, PIN, android_tools
from packager.targets.kotlin import kotlin
from tests.toolchain import warm_java
from tests.toolchain.require import fetched

WRONG = "class Sum { fun of(a: Int, b: Int): String = a + b }\n"


@pytest.fixture
def processes(tmp_path: Path, kotlin_compiler: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for processes of this test alone."""
    fetched(PIN)
    folder = tmp_path / "processes"
    folder.mkdir()
    monkeypatch.setattr(kotlin.Compiler, "run", warm_java.kept_in(folder))
    yield folder
    monkeypatch.undo()
    for each in folder.glob("*"):
        each.unlink()
    assert until(lambda: not running(folder)), "the processes end with their folder"


def until(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + 120
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()


def running(folder: Path) -> list[int]:
    """Processes with a socket in the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"warm.ServeKt" in words and any(word.startswith(os.fsencode(folder)) for word in words):
            found.append(int(path.parent.name))
    return found


def d8(*arguments: str) -> "subprocess.CompletedProcess[str]":
    program = kotlin.find_compiler().run([android_tools().bundletool], "com.android.tools.r8.D8", flags=JAVA_FLAGS)
    return subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)


def bundletool(*arguments: str) -> "subprocess.CompletedProcess[str]":
    main_class = "com.android.tools.build.bundletool.BundleToolMain"
    program = kotlin.find_compiler().run([android_tools().bundletool], main_class, flags=JAVA_FLAGS)
    return subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)


def compiling(folder: Path) -> Sequence[str]:
    """A run of Kotlin's compiler in a folder, in which it finds an error."""
    (folder / "Sum.kt").write_text(WRONG, encoding="utf-8")
    compiler = kotlin.find_compiler()
    return [*compiler.program(), "-no-stdlib", "-cp", str(compiler.stdlib), "-d", "classes", "Sum.kt"]


def test_kotlins_compiler_tells_an_error_in_the_same_words(
    kotlin_compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That its classes are the same, `test_android_kotlin` shows."""
    kept = subprocess.run(compiling(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False)
    monkeypatch.setattr(kotlin.Compiler, "run", warm_java.ALONE)
    alone = subprocess.run(compiling(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False)

    assert "Sum.kt:1:46: error: " in kept.stderr
    assert (kept.returncode, kept.stdout, kept.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def test_runs_share_a_process_though_one_fails(processes: Path) -> None:
    printed = [d8("--version").stdout for _ in range(2)]
    [process] = running(processes)
    wrong = d8("--min-api", "none")

    assert printed[0] == printed[1]
    assert printed[0].startswith("D8 ")
    assert wrong.returncode == 1
    assert "Invalid argument to --min-api: none" in wrong.stderr
    assert d8("--version").stdout == printed[0]
    assert running(processes) == [process]


def test_runs_at_the_same_time_wait_for_the_process_that_is_there(processes: Path) -> None:
    program = kotlin.find_compiler().run([android_tools().bundletool], "com.android.tools.r8.D8", flags=JAVA_FLAGS)
    known = d8("--version").stdout
    started = [subprocess.Popen([*program, "--version"], stdout=subprocess.PIPE, text=True) for _ in range(3)]

    assert {each.communicate()[0] for each in started} == {known}
    assert len(running(processes)) == 1


def test_a_run_that_nobody_waits_for_ends(processes: Path, tmp_path: Path) -> None:
    started = subprocess.Popen(compiling(tmp_path), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert until(lambda: (processes / "0.socket").exists())
        time.sleep(0.3)
        started.send_signal(signal.SIGKILL)
    finally:
        started.communicate()

    assert until(lambda: not running(processes))
    assert not (tmp_path / "classes").exists()
