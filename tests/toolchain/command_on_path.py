"""The program `mobpack` for shells: each run is a fork of one process, as in `command.py`, which says why. So are the
programs that it starts.

Tests of an installation run what pip has installed.
"""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packager import __main__ as program
from tests.toolchain import command, forks


@contextmanager
def on_path(folder: Path) -> Iterator[Path]:
    """The folder, to put on PATH, with a program `mobpack`."""
    with forks.served((*command.MODULES, *command.LIBRARIES, *forks.LIBRARIES)) as (client, _):
        file = folder / "mobpack"
        line = shlex.join([*client, program.__file__])
        file.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8", newline="\n")
        file.chmod(0o755)
        yield folder
