"""Several commands of mobpack in one process, which imports their modules once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PROGRAM = """
import json, os, sys
from packager.cli import commands

for folder, command in json.loads(sys.argv[1]):
    os.chdir(folder)
    commands(command, standalone_mode=False)
"""


def mobpack(*commands: tuple[Path, Iterable[str | Path]]) -> None:
    """Runs commands in their folders. Raises AssertionError with what one said, when it fails."""
    given = json.dumps([(str(folder), [str(each) for each in command]) for folder, command in commands])
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, given], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
