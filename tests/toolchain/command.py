"""Starts `mobpack` as a user does: the installed program, in a process of its own."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

MOBPACK = str(Path(sys.executable).with_name("mobpack"))


def run(
    *arguments: str | Path,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    program: Path | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Runs `mobpack` with `arguments` to its end in `folder`, or in this process's, and returns its output.

    `environment`: all its variables; this process's if none are given. `program` is a file of Python to run in place of
    mobpack's own.
    """
    command = [sys.executable, "-P", program] if program else [MOBPACK]
    return subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
