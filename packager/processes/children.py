"""Starts every program that mobpack runs, so that nothing in the user's folder is run as code and no program outlives
this process.

A program runs in a scratch folder, where it finds no stray `pip.py`, `.npmrc` or `numpy.py`, and Python programs do not
look for modules there either (`python`). Each has a process group of its own, so that the programs it starts end with
it. A guard, a process that waits for this one to end, then kills the groups that are left, however this one ended.
"""

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

QUIET = {"ORT_DISABLE_TELEMETRY": "1"}
"""Environment that keeps pip's onnxruntime from keeping a database of events in the user's cache folder."""
KEPT = frozenset(
    """
    PYTHONHOME PYTHONPATH PYTHONUSERBASE PYTHONNOUSERSITE PYTHONPLATLIBDIR PYTHONHASHSEED PYTHONDONTWRITEBYTECODE
    PYTHONPYCACHEPREFIX
    """.split()
)
"""The user's variables that remain set for a child Python: where modules are. Others change what a program does or
prints (PYTHONINSPECT, PYTHONOPTIMIZE, PYTHONWARNINGS, PYTHONIOENCODING)."""
GUARD = """
living=" "
while read -r sign group; do
  case $sign in
    +) living="$living$group " ;;
    -) case $living in *" $group "*) living="${living%%" $group "*} ${living#*" $group "}" ;; esac ;;
  esac
done
for group in $living; do kill -KILL "-$group" 2>/dev/null; done
"""
"""A program for sh: reads `+ GROUP` and `- GROUP`, and kills the remaining groups at the end of its input."""


def python() -> tuple[str, ...]:
    """Command that runs a Python program. -P: neither its folder nor the working folder is on the module path."""
    return (sys.executable, "-P")


def start(
    command: Sequence[str | Path],
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: Any = subprocess.PIPE,
    stderr: Any = subprocess.PIPE,
    is_text: bool = True,
) -> "subprocess.Popen[Any]":
    """Starts `command` in `folder`, a scratch folder or the one it works on; pass the process to `end` when done.

    Paths in `command` must be absolute, or relative to `folder`. Raises OSError if it cannot be started.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env=variables(environment or {}),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        encoding="utf-8" if is_text else None,
        errors="replace" if is_text else None,
        process_group=0,
    )
    _guard.watch(process.pid)
    return process


def end(process: "subprocess.Popen[Any]") -> None:
    """Kills a running process with everything it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    _guard.forget(process.pid)


def run(
    command: Sequence[str | Path], *, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs `command` to its end, in an empty folder if none is given, and returns its output.

    Raises OSError if it cannot be started.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as scratch:
            return run(command, folder=Path(scratch), environment=environment)
    process = start(command, folder, environment=environment)
    try:
        output, complaints = process.communicate()
    finally:
        end(process)
        for stream in filter(None, (process.stdout, process.stderr)):
            stream.close()
    return subprocess.CompletedProcess(process.args, process.returncode, output, complaints)


def variables(own: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program: this process's, without variables that change Python's behaviour, then `own`."""
    known = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON") or name in KEPT}
    if "PYTHONPATH" in known:
        # An empty part means the working folder, and a relative one is relative to that of this process.
        parts = [os.path.abspath(part) for part in known["PYTHONPATH"].split(os.pathsep) if part]  # noqa: PTH100
        known["PYTHONPATH"] = os.pathsep.join(parts)
    return {**known, **QUIET, **own}


class _Guard:
    """A process that is told which groups run, and kills them when this process ends."""

    def __init__(self) -> None:
        self._living: set[int] = set()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        with self._lock:
            self._living.add(group)
            if not self._told(f"+ {group}"):
                self._begin()

    def forget(self, group: int) -> None:
        with self._lock:
            self._living.discard(group)
            self._told(f"- {group}")

    def stop(self) -> None:
        """Closes its input: it kills the groups that still run, and ends."""
        with self._lock:
            if self._process and self._process.stdin:
                with suppress(BrokenPipeError):
                    self._process.stdin.close()
                self._process.wait()
            self._process = None

    def _begin(self) -> None:
        """Starts it outside of this process's group and session: a signal to those must not kill it first."""
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", GUARD],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        for group in sorted(self._living):
            self._told(f"+ {group}")

    def _told(self, line: str) -> bool:
        """Whether it took the line: not if it does not run, or was killed."""
        if not self._process or not self._process.stdin:
            return False
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            self._process.wait()
            self._process = None
            return False
        return True


_guard = _Guard()
atexit.register(_guard.stop)
