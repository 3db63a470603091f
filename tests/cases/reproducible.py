"""Same input, same bytes: in any folder, with any hash seed, in any time zone, and as on any system."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from packager.files.hashes import sha256_of
from tests.toolchain import command, forks


def run(*arguments: str, folder: Path, environment: Mapping[str, str]) -> None:
    """`mobpack` in a Python that starts with these variables; the command and its programs are forks of it."""
    with forks.served((*forks.LIBRARIES, *command.MODULES, *command.LIBRARIES), environment=environment) as (client, _):
        program = [*client, "-m", "packager.cli", *arguments]
        done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def contents(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}
