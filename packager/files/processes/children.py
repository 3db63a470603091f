"""Starts every program that mobpack runs, so that nothing in the user's folder is run as code and no program outlives
this process.

A program runs in a scratch folder, where it finds no stray `pip.py`, `.npmrc` or `numpy.py`, and Python programs do not
look for modules there either (`python`). Each is in a group of its own (`groups.py`): the programs that it starts end
with it, and all end with this process, however this one ends.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packager.files.processes import limits
from packager.files.processes.groups import OPTIONS, Groups
from packager.files.processes.inherited import inherited

QUIET = {"ORT_DISABLE_TELEMETRY": "1"}
"""Environment that keeps pip's onnxruntime from keeping a database of events in the user's cache folder."""


def python() -> tuple[str, ...]:
    """Command that runs a Python program. -P: neither its folder nor the working folder is on the module path."""
    return (sys.executable, "-P")


def start(
    command: Sequence[str | Path],
    folder: Path,
    *,
    inherits: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: Any = subprocess.PIPE,
    stderr: Any = subprocess.PIPE,
    is_text: bool = True,
) -> "subprocess.Popen[Any]":
    """Starts `command` in `folder`, a scratch folder or the one it works on; pass the process to `end` when done.

    Its variables are a few of this process's that every program needs, those that `inherits` names (`inherited.py`),
    and `environment`. Paths in `command` must be absolute, or relative to `folder`. Raises OSError if it cannot be
    started.
    """
    _groups.prepare()
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env=variables(environment or {}, inherits),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        encoding="utf-8" if is_text else None,
        errors="replace" if is_text else None,
        **OPTIONS,
    )
    _groups.watch(process)
    return process


def kill(process: "subprocess.Popen[Any]") -> None:
    """Kills a running process with everything it started, without waiting for its end; whoever waits sees it."""
    if process.poll() is None:
        _groups.kill(process)


def end(process: "subprocess.Popen[Any]") -> None:
    """Kills a running process with everything it started."""
    if process.poll() is None:
        _groups.kill(process)
        process.wait()
    _groups.forget(process)


def run(
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    inherits: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    said: str = "",
    longest_s: float | None = None,
    is_limited: bool = False,
) -> "subprocess.CompletedProcess[str]":
    """Runs `command` to its end, in an empty folder if none is given, and returns its output. It reads what is `said`
    from its standard input, which is closed without. `inherits` and `environment` are as for `start`. Its memory
    `is_limited` if it opens a model (`limits.py`).

    Raises OSError if it cannot be started, OverTimeError if it runs for longer than `longest_s`, and is ended.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as scratch:
            return run(
                command,
                folder=Path(scratch),
                inherits=inherits,
                environment=environment,
                said=said,
                longest_s=longest_s,
                is_limited=is_limited,
            )
    stdin = subprocess.PIPE if said else subprocess.DEVNULL
    most_bytes = limits.memory_bytes() if is_limited else 0
    process = start(command, folder, inherits=inherits, environment=environment, stdin=stdin)
    limits.limit(process.pid, most_bytes)
    try:
        output, complaints = process.communicate(said or None, timeout=longest_s)
    except subprocess.TimeoutExpired as error:
        raise limits.OverTimeError(error.timeout) from error
    finally:
        end(process)
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            stream.close()
    return subprocess.CompletedProcess(process.args, process.returncode, output, complaints)


def variables(own: Mapping[str, str], inherits: Sequence[str] = ()) -> dict[str, str]:
    """The environment of a program: what it inherits of this process's, then `own`."""
    known = dict(inherited(inherits))
    if "PYTHONPATH" in known:
        # An empty part means the working folder, and a relative one is relative to that of this process.
        parts = [os.path.abspath(part) for part in known["PYTHONPATH"].split(os.pathsep) if part]  # noqa: PTH100
        known["PYTHONPATH"] = os.pathsep.join(parts)
    return {**known, **QUIET, **own}


def groups() -> Groups:
    """Groups of all programs that run; each is told of there."""
    return _groups


_groups = Groups()
