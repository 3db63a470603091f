"""Commands of mobpack in the process of the tests, for tests of what they say and make.

`tests/toolchain/command.py` starts the program, as users do.
"""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from packager.cli import commands, main
from tests.cases.caches import empty_cache


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Mobpack = Callable[..., Answer]


@pytest.fixture
def mobpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mobpack:
    """Run the command in `tmp_path` with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / ".cache")))

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["mobpack", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        code = exited.value.code
        assert isinstance(code, int)
        return Answer(code, *capfd.readouterr())

    return run


def in_process(
    *arguments: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """As `command.run`, in this process: in `folder`, with all variables of `environment`."""
    out, err = io.StringIO(), io.StringIO()
    given = ["mobpack", *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder or Path.cwd())
        variables = os.environ.copy() if environment is None else environment
        for name in os.environ.keys() - variables.keys():
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", given)
        with pytest.raises(SystemExit) as exited:
            main()
    code = exited.value.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess(given, code, out.getvalue(), err.getvalue())


def options_of(*name: str) -> set[str]:
    """The options of the command `name`, and of those below it; of all commands without a name."""
    command: click.Command | None = commands
    for part in name:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), part)
    assert command
    found = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    below = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else ()
    return found.union(*(options_of(*name, each) for each in below))
